"""Tests for classes of numbers (zero, subnormal, infinite, NaN), which clang makes of comparisons: of words."""

from ..ir.builder import Builder, rewrite
from ..ir.module import BOOL, Constant, Function, Instruction, Op, Value

__all__ = ["expand_float_classes"]

_SIGN = 1 << 31
_RANGES = {     # by the bits of the mask: words of the class, without the sign; bits for both signs, or one for both
    (0,): (0x7F80_0001, 0x7FBF_FFFF), (1,): (0x7FC0_0000, 0x7FFF_FFFF), (9, 2): (0x7F80_0000, 0x7F80_0000),
    (8, 3): (0x0080_0000, 0x7F7F_FFFF), (7, 4): (0x0000_0001, 0x007F_FFFF), (6, 5): (0, 0),
}


def expand_float_classes(function: Function) -> None:
    """Rewrite the calls of llvm.is.fpclass on words."""
    rewrite(function, _expand, lambda i: i.callee.startswith("llvm.is.fpclass."))


def _expand(b: Builder, call: Instruction) -> Value | None:
    x, mask = call.operands
    if not isinstance(mask, Constant) or mask.value is None:
        return None

    def word(value: int) -> Constant:
        return Constant(value - (1 << 32) if value >> 31 else value)

    ranges = _words(mask.value)
    if ranges == _words(mask.value, mirrored=True):
        x, ranges = b.add(Op.AND, x, word(_SIGN - 1)), [(low, high) for low, high in ranges if high < _SIGN]
    result: Value = Constant(0)
    for low, high in ranges:
        inside = b.icmp("ule", b.add(Op.SUB, x, word(low)), word(high - low))
        result = b.add(Op.OR, result, inside, type=BOOL)
    return result if ranges else b.add(Op.OR, Constant(0), Constant(0), type=BOOL)


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
