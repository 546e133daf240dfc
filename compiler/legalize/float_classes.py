"""Tests for classes of numbers (zero, subnormal, infinite, NaN), which clang makes of comparisons: of words."""

import itertools
from collections.abc import Iterator

from ..ir.module import Constant, Function, Instruction, Local, Value, integer

__all__ = ["expand_float_classes"]

_WORD = integer(32)
_BOOL = integer(1)
_SIGN = 1 << 31
_RANGES = {     # by the bits of the mask: words of the class, without the sign; bits for both signs, or one for both
    (0,): (0x7F80_0001, 0x7FBF_FFFF), (1,): (0x7FC0_0000, 0x7FFF_FFFF), (9, 2): (0x7F80_0000, 0x7F80_0000),
    (8, 3): (0x0080_0000, 0x7F7F_FFFF), (7, 4): (0x0000_0001, 0x007F_FFFF), (6, 5): (0, 0),
}
_serial = itertools.count()


def expand_float_classes(function: Function) -> None:
    """Rewrite the calls of llvm.is.fpclass on words."""
    for block in function.blocks.values():
        block.instructions = [new for old in block.instructions for new in _expanded(old)]


def _expanded(old: Instruction) -> Iterator[Instruction]:
    mask = old.operands[1] if old.op == "call" and old.detail.startswith("llvm.is.fpclass.") else None
    if not isinstance(mask, Constant) or mask.value is None:
        yield old
        return
    made: list[Instruction] = []

    def add(op: str, *operands: Value, detail: str = "", is_bool: bool = False) -> Value:
        types = [_BOOL if is_bool else _WORD] * len(operands)
        made.append(Instruction(op, _BOOL if is_bool or detail else _WORD, f"{old.name}.class{next(_serial)}",
                                list(operands), types, detail=detail, location=old.location))
        return Local(made[-1].name)

    def word(value: int) -> Constant:
        return Constant(value - (1 << 32) if value >> 31 else value)

    x, ranges = old.operands[0], _words(mask.value)
    if ranges == _words(mask.value, mirrored=True):
        x, ranges = add("and", x, word(_SIGN - 1)), [(low, high) for low, high in ranges if high < _SIGN]
    result: Value = Constant(0)
    for low, high in ranges:
        inside = add("icmp", add("sub", x, word(low)), word(high - low), detail="ule")
        result = add("or", result, inside, is_bool=True)
    if not made or result == Constant(0):
        result = add("or", Constant(0), Constant(0), is_bool=True)
    made[-1].name = old.name
    yield from made


def _words(mask: int, mirrored: bool = False) -> list[tuple[int, int]]:
    """The words of the classes in ``mask`` as ranges, first and last, of words; ``mirrored``: with the other sign."""
    found = []
    for bits, (low, high) in _RANGES.items():
        for sign, bit in zip((0, _SIGN), bits * (3 - len(bits)), strict=False):
            if mask >> bit & 1:
                sign = sign ^ _SIGN if mirrored else sign
                found.append((low | sign, high | sign))
    merged: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if merged and merged[-1][1] + 1 == low and low != _SIGN:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged
