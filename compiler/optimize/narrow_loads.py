"""Loads of neighbouring bytes, or halves, become loads of words, whatever the alignment of the first.

The words that have the bytes are loaded, each once, and two that follow each other are shifted into one: by how much,
the address says. No word is touched that has none of the bytes. For less than two words of bytes that is no shorter.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..ir.builder import Builder
from ..ir.inline import substitute
from ..ir.module import Function, Instruction, Op
from ..ir.values import WORD, Constant, Local, Type, Value
from .addresses import Addresses

__all__ = ["combine_bytes", "has_narrow_loads", "merge_narrow_loads"]

_SPACES = (1, 2)
_WORD_BYTES, _BYTE_BITS = 4, 8
_LEAST = 2
"""Words of bytes that are worth it."""
_WRITES = frozenset({Op.STORE, Op.CALL, Op.FENCE, Op.ATOMIC_STORE, Op.ATOMIC_LOAD, Op.CMPXCHG, Op.ATOMICRMW})


def has_narrow_loads(function: Function) -> bool:
    """Whether ``function`` has any load of bytes or halves that :func:`merge_narrow_loads` looks at."""
    return any(_is_narrow_load(i) for block in function.blocks.values() for i in block.instructions)


def _is_narrow_load(i: Instruction) -> bool:
    return i.op is Op.LOAD and i.type.kind == "int" and i.type.size < _WORD_BYTES and i.types[0].space in _SPACES


def merge_narrow_loads(function: Function) -> None:
    """Rewrite the loads of ``function`` that are next to each other in memory, if nothing is written between them."""
    addresses, builder = Addresses(function), Builder(function)
    for block in function.blocks.values():
        made: dict[int, list[Instruction]] = {}
        places = {id(i): place for place, i in enumerate(block.instructions)}
        for root, first, loads in _runs(block.instructions, addresses):
            earliest = min((load for load, _ in loads), key=lambda load: places[id(load)])
            builder.start(earliest)
            words = _words(builder, root, earliest.types[0], first, _size(loads) // _WORD_BYTES)
            before = builder.made
            for load, offset in loads:
                number, byte = divmod(offset - first, _WORD_BYTES)
                made[id(load)] = _part(builder, load, words[number], byte) if number < len(words) else [load]
            made[id(earliest)] = before + made[id(earliest)]
        if made:
            block.instructions = [new for old in block.instructions for new in made.get(id(old), (old,))]


def _size(loads: Sequence[tuple[Instruction, int]]) -> int:
    """Bytes from the first of the sorted ``loads`` to behind the last."""
    return loads[-1][1] + loads[-1][0].type.size - loads[0][1]


def _runs(instructions: Sequence[Instruction],
          addresses: Addresses) -> Iterator[tuple[Value, int, list[tuple[Instruction, int]]]]:
    """Loads of neighbours, with their root and where the first begins: each load with its place."""
    groups: dict[tuple[Value, Type, Type], list[tuple[Instruction, int]]] = {}
    for i in [*instructions, Instruction(Op.FENCE)]:
        if _is_narrow_load(i):
            root, offset = addresses.root(i.operands[0])
            groups.setdefault((root, i.types[0], i.type), []).append((i, offset))
        elif i.op in _WRITES:
            for (root, _, _), loads in groups.items():
                if all(i.type.size <= i.align < _WORD_BYTES for i, _ in loads):
                    yield from ((root, run[0][1], run) for run in _neighbours(loads))
            groups.clear()


def _neighbours(loads: Sequence[tuple[Instruction, int]]) -> Iterator[list[tuple[Instruction, int]]]:
    run: list[tuple[Instruction, int]] = []
    for load, offset in [*sorted(loads, key=lambda item: item[1]), (loads[0][0], None)]:
        if run and (offset is None or offset > run[-1][1] + load.type.size):
            if _size(run) >= _LEAST * _WORD_BYTES:
                yield run
            run = []
        if offset is not None:
            run.append((load, offset))


def _words(builder: Builder, root: Value, type: Type, first: int, count: int) -> list[Value]:
    """So many words from byte ``first`` on behind ``root``."""
    b = builder
    address = b.convert(Op.PTRTOINT, b.offset(root, type, first) if first else root, type, WORD)

    def aligned(address: Value) -> Value:
        return b.add(Op.INTTOPTR, b.add(Op.AND, address, Constant(-_WORD_BYTES)), type=type, types=[WORD])

    start = aligned(address)
    last = aligned(b.add(Op.ADD, address, Constant(count * _WORD_BYTES - 1)))
    bits = b.add(Op.SHL, address, Constant(3))
    down = b.add(Op.AND, bits, Constant(31))
    # Up by 32 less that: a product, which is added at once; by 32 if the words are aligned, which leaves nothing.
    up = b.add(Op.SHL, Constant(2), b.add(Op.AND, b.add(Op.XOR, bits, Constant(-1)), Constant(31)))
    loaded = [b.load(WORD, b.offset(start, type, number * _WORD_BYTES) if number else start, type, _WORD_BYTES)
              for number in range(count)]
    loaded.append(b.load(WORD, last, type, _WORD_BYTES))
    words = []
    for low, high in pairwise(loaded):
        word = b.add(Op.OR, b.add(Op.LSHR, low, down), b.add(Op.MUL, high, up))
        b.made[-1].is_disjoint = True
        words.append(word)
    return words


def _part(builder: Builder, load: Instruction, word: Value, byte: int) -> list[Instruction]:
    """What stands for ``load`` of what begins at a ``byte`` of ``word``."""
    b = builder
    b.start(load)
    moved = b.add(Op.LSHR, word, Constant(byte * _BYTE_BITS)) if byte else word
    b.convert(Op.TRUNC, moved, WORD, load.type)
    b.made[-1].name = load.name
    return b.made


_Bytes = tuple[tuple[str, int] | None, ...]
"""Whose byte each one is, and which; None if it is zero."""


def combine_bytes(function: Function) -> None:
    """Words of ``function`` that are put together of all bytes of another one, each at its place, are that one."""
    known: dict[str, _Bytes] = {}
    same: dict[str, Value] = {}
    for name in function.flow().order:
        for i in function.blocks[name].instructions:
            if i.type.kind == "int" and i.type.bits in (8, 16, 32):
                own = _own(i.name, i.type)
                known[i.name] = found = _bytes(i, known) or own
                source = found[0][0] if found[0] is not None else i.name
                if i.type == WORD and source != i.name and found == _own(source, WORD):
                    same[i.name] = Local(source)
    if same:
        substitute(function.instructions(), same)


def _own(name: str, type: Type) -> _Bytes:
    return tuple((name, byte) for byte in range(type.size))


def _bytes(i: Instruction, known: dict[str, _Bytes]) -> _Bytes | None:
    """What the bytes of a result are, if they are others'."""
    if not i.types or i.types[0].kind != "int" or i.types[0].bits not in (8, 16, 32):
        return None

    def of(operand: Value) -> _Bytes | None:
        if isinstance(operand, Local):
            return known.get(operand.name) or _own(operand.name, i.types[0])
        return (None,) * i.types[0].size if operand == Constant(0) else None

    amount = i.operands[1].value if len(i.operands) == 2 and isinstance(i.operands[1], Constant) else None
    first, size = of(i.operands[0]), i.type.size
    if first is None:
        return None
    match i.op:
        case Op.TRUNC:
            return first[:size]
        case Op.ZEXT:
            return first + (None,) * (size - len(first))
        case Op.LSHR | Op.SHL if amount is not None and amount % _BYTE_BITS == 0 and 0 <= amount < i.type.bits:
            by = amount // _BYTE_BITS
            return first[by:] + (None,) * by if i.op is Op.LSHR else (None,) * by + first[:size - by]
        case Op.OR if (second := of(i.operands[1])) is not None:
            if all(a is None or b is None or a == b for a, b in zip(first, second, strict=True)):
                return tuple(a or b for a, b in zip(first, second, strict=True))
    return None
