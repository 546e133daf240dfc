"""Unrolled loops of few rounds: the loop for the rounds that four do not make up does them all."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..frontend.clang import UNROLLED
from ..ir.cfg import Flow
from ..ir.inline import substitute
from ..ir.module import Block, Definitions, Function, Instruction, Op
from ..ir.values import Constant, Local, Value

__all__ = ["enter_unrolled_loops_late"]

_LONG = 8
"""Rounds from which on an unrolled loop is worth what comes before and behind it."""


@dataclass(frozen=True)
class _Unrolled:
    """What LLVM makes of a loop: ``guard`` goes to ``rest`` at once if ``rounds`` are less than four, which ``test``
    tells, and else through the unrolled loop to ``check``, and from there to ``rest`` unless ``left``, those that are
    left, is zero. The loop for them follows ``rest``."""

    guard: Block
    test: Instruction
    check: Block
    rest: Block
    left: Instruction
    rounds: Value
    limit: int


def enter_unrolled_loops_late(function: Function) -> None:
    """Let all work-items come to the check behind unrolled loops, those with few rounds at once.

    So they meet there, and go through the loop for the rest together.
    """
    flow = function.flow()
    definitions = function.definitions()
    operands = (operand for i in function.instructions() for operand in i.operands)
    uses = Counter(operand.name for operand in operands if isinstance(operand, Local))
    users = _Users(function)
    for name in flow.order:
        found = _unrolled(function, function.blocks[name], flow, definitions, uses)
        if found is not None:
            _enter_late(found, function, flow, users)


class _Users:
    """Who reads which value, and in which block: to replace values in some places without a look at all others."""

    def __init__(self, function: Function) -> None:
        self.of: dict[str, list[tuple[Instruction, str]]] = {}
        for block in function.blocks.values():
            for instruction in block.instructions:
                self.add(instruction, block.name)

    def add(self, instruction: Instruction, block: str) -> None:
        for operand in instruction.operands:
            if isinstance(operand, Local):
                self.of.setdefault(operand.name, []).append((instruction, block))

    def substitute(self, values: dict[str, Value], within: Callable[[str], bool] = lambda block: True) -> None:
        """Replace what ``values`` names where it is read in blocks ``within``."""
        reading = {instruction: block for name in values for instruction, block in self.of.get(name, ())
                   if within(block)}
        substitute(reading, values)
        for instruction, block in reading.items():
            self.add(instruction, block)


def _unrolled(function: Function, rest: Block, flow: Flow, definitions: Definitions,
              uses: Mapping[str, int]) -> _Unrolled | None:
    left = _left(rest, definitions)
    before = [function.blocks[name] for name in flow.predecessors[rest.name]]
    if left is None or len(before) != 2:
        return None
    for guard, check in (before, before[::-1]):
        test, zero = (definitions.of_condition(block.terminator) for block in (guard, check))
        # Another loop of as many rounds may share the tests.
        if test is not None and zero is not None and uses[test.name] == uses[zero.name] == 1 \
                and guard.terminator.blocks[0] == rest.name \
                and (test.op, test.predicate) == (Op.ICMP, "ult") and test in guard.instructions \
                and zero.op is Op.ICMP and zero.operands == [Local(left.name), Constant(0)] \
                and check.instructions == [*check.phis, zero, check.terminator] \
                and len(flow.predecessors[check.name]) == 1:
            counts = [(test.operands[0], UNROLLED)]
            less = definitions.of(test.operands[0])
            if less is not None and less.op is Op.ADD and less.operands[1] == Constant(-1):
                counts.append((less.operands[0], UNROLLED - 1))
            for rounds, limit in counts:
                if test.operands[1] == Constant(limit) and _is_left_of(rounds, left.operands[0], definitions):
                    return _Unrolled(guard, test, check, rest, left, rounds, limit)
    return None


def _left(block: Block, definitions: Definitions) -> Instruction | None:
    """``rounds & 3``, of which LLVM assumes that it isn't zero where the loop for the rest begins."""
    for call in block.instructions:
        assumed = definitions.of(call.operands[0]) if call.callee == "llvm.assume" else None
        if assumed is not None and (assumed.op, assumed.predicate) == (Op.ICMP, "ne"):
            left = definitions.of(assumed.operands[0])
            if left is not None and left.op is Op.AND and left.operands[1] == Constant(UNROLLED - 1):
                return left
    return None


def _is_left_of(rounds: Value, value: Value, definitions: Definitions) -> bool:
    """Whether ``value`` ends with the bits of ``rounds`` that tell how many are left: LLVM drops masks of others."""
    mask = definitions.of(rounds)
    return rounds == value or (
        mask is not None and mask.op is Op.AND and mask.operands[0] == value
        and isinstance(mask.operands[1], Constant) and mask.operands[1].value is not None
        and mask.operands[1].value % UNROLLED == UNROLLED - 1)


def _block_between(function: Function, before: Block, block: Block) -> Block:
    """A new one on the way from ``before``, the only predecessor, to ``block``."""
    new = Block(f"{block.name}.done", [Instruction(Op.BR, blocks=[block.name])])
    before.terminator.blocks = [new.name if name == block.name else name for name in before.terminator.blocks]
    for phi in block.phis:
        phi.blocks = [new.name]
    blocks = list(function.blocks.values())
    blocks.insert(blocks.index(block), new)
    function.blocks = {each.name: each for each in blocks}
    return new


def _enter_late(found: _Unrolled, function: Function, flow: Flow, users: _Users) -> None:
    guard, check, rest = found.guard, found.check, found.rest
    found.test.operands[1] = Constant(found.limit + _LONG - UNROLLED)
    guard.terminator.blocks[0] = check.name
    # What is told to the check is told there, and not in each round.
    done = _block_between(function, function.blocks[flow.predecessors[check.name][0]], check)
    joined: list[Instruction] = []

    def join(few: Value, many: Value, type_of: Instruction, number: str) -> Value:
        """A value in ``check``: ``few`` from the guard, ``many`` from the unrolled loop."""
        joined.append(Instruction(Op.PHI, type_of.type, f"{check.name}.{number}", [few, many], [type_of.type] * 2,
                                  [guard.name, done.name]))
        return Local(joined[-1].name)

    rounds = join(found.rounds, Local(found.left.name), found.left, "rounds")
    users.substitute({found.left.name: rounds}, lambda name: name == check.name or (
        name in flow.number and flow.dominates(rest.name, name)))
    values: dict[str, Value] = {}
    met: dict[Value, Value] = {}
    for number, phi in enumerate(rest.phis):
        sources = dict(zip(phi.blocks, phi.operands, strict=True))
        many = sources[check.name]
        values[phi.name] = met[many] = join(sources[guard.name], many, phi, f"rest{number}")
    rest.instructions = [i for i in rest.instructions if i.op is not Op.PHI]
    for successor in check.successors:
        for number, phi in enumerate(function.blocks[successor].phis):
            for at, (name, value) in enumerate(zip(phi.blocks, phi.operands, strict=True)):
                if name == check.name and isinstance(value, Local):
                    if value not in met:    # nobody goes there from the guard
                        met[value] = join(Constant(0), value, phi, f"end{number}")
                    phi.operands[at] = met[value]
                    users.add(phi, successor)
    check.instructions[:0] = joined
    for phi in joined:
        users.add(phi, check.name)
    users.substitute(values)
