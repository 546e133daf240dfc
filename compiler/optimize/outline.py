"""What a function does several times becomes a subroutine: for programs that the code RAM has no room for.

A *unit* is a run of instructions of a block, from loads to the stores before the next loads, such as a statement that
makes a vector. Units that differ by the values from elsewhere only, or by where their addresses start, are one
subroutine: these are its parameters.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..ir.builder import Builder
from ..ir.module import Block, Function, Instruction, Location, Op
from ..ir.values import BOOL, VOID, Local, Type, Value
from .addresses import Addresses

__all__ = ["outline_repeats"]

_OUTLINED = frozenset({
    Op.ADD, Op.SUB, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.LSHR, Op.ASHR, Op.ICMP, Op.SELECT, Op.ZEXT, Op.SEXT,
    Op.TRUNC, Op.LOAD, Op.STORE, Op.GETELEMENTPTR, Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.SITOFP, Op.UITOFP,
    Op.FPTOSI, Op.FPTOUI, Op.FSLT, Op.ITOFP, Op.FSQRT})
_SHARED_SPACES = (1, 2, 3)
_LEAST = 12
"""Instructions of a unit that is worth a call."""
_CALL_WORDS, _ARGUMENT_WORDS = 2, 2


@dataclass
class _Unit:
    """A run of instructions. ``key`` says what it does; ``arguments`` is where it starts from: values from elsewhere,
    with their types, and the bytes to add to addresses; ``results`` are those that are read elsewhere, by number."""

    instructions: list[Instruction]
    key: tuple[object, ...] = ()
    arguments: list[tuple[Value, Type, int]] = field(default_factory=list)
    results: set[int] = field(default_factory=set)


def outline_repeats(function: Function, functions: dict[str, Function], most: int) -> bool:
    """Let ``function``, which is legal, call subroutines for what it does several times, which are added to
    ``functions``; returns whether there are any. They have ``most`` parameters at most."""
    addresses = Addresses(function)
    groups: dict[tuple[object, ...], list[_Unit]] = {}
    users = _users(function)
    for block in function.blocks.values():
        for unit in _units(block, addresses):
            if _describe(unit, addresses, users, most):
                groups.setdefault(unit.key, []).append(unit)
    calls: dict[int, Sequence[Instruction]] = {}    # by the instructions in whose place they are
    builder = Builder(function)
    for number, group in enumerate(group for group in groups.values() if len(group) > 1):
        name = f"{function.name}.repeated{number}"
        if _saves(group):
            functions[name] = _subroutine(name, group, addresses, function.location)
            for unit in group:
                calls.update(dict.fromkeys(map(id, unit.instructions), ()))
                calls[id(unit.instructions[-1])] = _call(builder, functions[name], unit, _results(group))
    if calls:
        for block in function.blocks.values():
            block.instructions = [new for old in block.instructions for new in calls.get(id(old), (old,))]
        _drop_unread_addresses(function, addresses)
    return bool(calls)


def _users(function: Function) -> dict[str, list[Instruction]]:
    users: dict[str, list[Instruction]] = {}
    for i in function.instructions():
        for operand in i.operands:
            if isinstance(operand, Local):
                users.setdefault(operand.name, []).append(i)
    return users


def _units(block: Block, addresses: Addresses) -> Iterator[_Unit]:
    """The units of ``block``. Addresses that are a constant away from others belong to none."""
    here: list[Instruction] = []
    end = 0     # behind the last store
    for i in block.instructions:
        if i.name in addresses.pointers:
            continue
        is_plain = i.op in _OUTLINED and all(type.is_word for type in (i.type, *i.types) if type != VOID) \
            and all(type.kind != "ptr" or type.space in _SHARED_SPACES for type in (i.type, *i.types))
        if end and (not is_plain or i.op is Op.LOAD):
            yield _Unit(here[:end])
            here, end = here[end:], 0
        if is_plain:
            here.append(i)
            end = len(here) if i.op is Op.STORE else end
        else:
            here = []


def _describe(unit: _Unit, addresses: Addresses, users: dict[str, list[Instruction]], most: int) -> bool:
    """Fill in the key of ``unit`` and the rest; returns whether it may be a subroutine."""
    inside = {i.name: number for number, i in enumerate(unit.instructions) if i.name}
    numbers: dict[Value, int] = {}
    key: list[object] = []
    for i in unit.instructions:
        operands: list[object] = []
        for operand, type in zip(i.operands, i.types, strict=True):
            root, offset = addresses.root(operand)
            if not isinstance(root, Local):
                operands.append((root, type, offset))
            elif root.name in inside:
                operands.append(("result", inside[root.name], offset))
            else:
                if root not in numbers:
                    numbers[root] = len(unit.arguments)
                    unit.arguments.append((root, type, offset))
                operands.append(("argument", numbers[root], offset - unit.arguments[numbers[root]][2]))
        key.append((i.op, i.type, *i.types, i.predicate, i.source, i.index, i.align, i.is_disjoint, *operands))
    unit.key = (*key, *(type for _, type, _ in unit.arguments))
    own = set(map(id, unit.instructions))
    todo = list(inside)
    while todo:
        name = todo.pop()
        for user in users.get(name, ()):
            if user.name in addresses.pointers:
                todo.append(user.name)
            elif id(user) not in own:
                if name not in inside:
                    return False        # an address that would have to be computed behind the call
                unit.results.add(inside[name])
    return len(unit.arguments) <= most and len(unit.results) <= 1 and len(unit.instructions) >= _LEAST \
        and BOOL not in [*(type for _, type, _ in unit.arguments),
                         *(unit.instructions[number].type for number in unit.results)]


def _saves(group: Sequence[_Unit]) -> bool:
    """Whether a subroutine is shorter than all of the ``group``, and each needs the same result."""
    first = group[0]
    call = _CALL_WORDS + _ARGUMENT_WORDS * len(first.arguments)
    return len(_results(group)) <= 1 and len(group) * (len(first.instructions) - call) > len(first.instructions)


def _results(group: Sequence[_Unit]) -> set[int]:
    return set().union(*(unit.results for unit in group))


def _subroutine(name: str, group: Sequence[_Unit], addresses: Addresses, location: Location) -> Function:
    """What the units of ``group`` do, of a function at ``location``."""
    first = group[0]
    parameters = [(f"argument{number}", type) for number, (_, type, _) in enumerate(first.arguments)]
    result = next(iter(_results(group)), None)
    type = VOID if result is None else first.instructions[result].type
    function = Function(name, type, parameters, {"entry": Block("entry")}, False, {},
                        first.instructions[0].location or location)
    builder = Builder(function)
    values: dict[Value, tuple[Value, int]] = {
        root: (Local(parameter), offset)
        for (root, _, offset), (parameter, _) in zip(first.arguments, parameters, strict=True)}
    known: dict[tuple[Value, int], Value] = {}

    def moved(operand: Value, type: Type) -> Value:
        root, offset = addresses.root(operand)
        base, before = values.get(root, (root, 0))
        if offset == before:
            return base
        if (base, offset - before) not in known:
            known[base, offset - before] = builder.offset(base, type, offset - before)
        return known[base, offset - before]

    for number, i in enumerate(first.instructions):
        builder.like = i
        operands = [moved(operand, type) for operand, type in zip(i.operands, i.types, strict=True)]
        builder.append(replace(i, operands=operands, types=list(i.types), blocks=[],
                               name=f"value{number}" if i.name else ""))
        if i.name:
            values[Local(i.name)] = Local(f"value{number}"), 0
    back: list[Value] = [] if result is None else [Local(f"value{result}")]
    builder.append(Instruction(Op.RET, operands=back, types=[type] * len(back)))
    function.blocks["entry"].instructions = builder.made
    return function


def _call(builder: Builder, subroutine: Function, unit: _Unit, results: Collection[int]) -> list[Instruction]:
    """What stands for ``unit``: a call of ``subroutine``."""
    builder.start(unit.instructions[0])
    arguments = [builder.offset(root, type, offset) if offset else root for root, type, offset in unit.arguments]
    name = next((unit.instructions[number].name for number in results), "")
    builder.append(Instruction(Op.CALL, subroutine.result, name, arguments, [type for _, type, _ in unit.arguments],
                               callee=subroutine.name))
    return builder.made


def _drop_unread_addresses(function: Function, addresses: Addresses) -> None:
    read = {operand.name for i in function.instructions() if i.name not in addresses.pointers
            for operand in i.operands if isinstance(operand, Local)}
    todo = list(read)
    while todo:
        name = todo.pop()
        base = addresses.pointers[name][0] if name in addresses.pointers else None
        if isinstance(base, Local) and base.name not in read:
            read.add(base.name)
            todo.append(base.name)
    for block in function.blocks.values():
        block.instructions = [i for i in block.instructions if i.name not in addresses.pointers or i.name in read]
