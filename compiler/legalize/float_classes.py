"""Tests for classes of numbers (zero, subnormal, infinite, NaN), which clang makes of comparisons: of words."""

from ..ir.builder import Builder, rewrite
from ..ir.module import Function, Instruction, Op
from ..ir.values import BOOL, Constant, Value

__all__ = ["expand_float_classes"]

_FORMATS = {16: (0x7C00, 0x0400), 32: (0x7F80_0000, 0x0080_0000), 64: (0x7FF0_0000_0000_0000, 0x0010_0000_0000_0000)}
"""By their bits: the integers that infinity and the least normal number are."""


def expand_float_classes(function: Function) -> None:
    """Rewrite the calls of llvm.is.fpclass."""
    rewrite(function, _expand, lambda i: i.callee.startswith("llvm.is.fpclass."))


def _expand(b: Builder, call: Instruction) -> Value | None:
    x, mask = call.operands
    type = call.types[0]
    if not isinstance(mask, Constant) or mask.value is None or type.bits not in _FORMATS:
        return None
    sign = 1 << type.bits - 1

    def number(value: int) -> Constant:
        return Constant(value - 2 * sign if value >= sign else value)

    ranges = _numbers(mask.value, type.bits)
    if ranges == _numbers(mask.value, type.bits, mirrored=True):
        x = b.add(Op.AND, x, number(sign - 1), type=type)
        ranges = [(low, high) for low, high in ranges if high < sign]
    result: Value = Constant(0)
    for low, high in ranges:
        inside = b.icmp("ule", b.add(Op.SUB, x, number(low), type=type), number(high - low), type)
        result = b.add(Op.OR, result, inside, type=BOOL)
    return result if ranges else b.add(Op.OR, Constant(0), Constant(0), type=BOOL)


def _numbers(mask: int, bits: int, mirrored: bool = False) -> list[tuple[int, int]]:
    """The numbers of the classes in ``mask`` as ranges, first and last, of integers; ``mirrored``: with the other
    sign."""
    infinity, normal = _FORMATS[bits]
    quiet, top = infinity + normal // 2, 1 << bits - 1
    classes = {     # by the bits of the mask: for both signs, or one for both
        (0,): (infinity + 1, quiet - 1), (1,): (quiet, top - 1), (9, 2): (infinity, infinity),
        (8, 3): (normal, infinity - 1), (7, 4): (1, normal - 1), (6, 5): (0, 0),
    }
    found = []
    for flags, (low, high) in classes.items():
        for sign, flag in zip((0, top), flags * (3 - len(flags)), strict=False):
            if mask >> flag & 1:
                sign = sign ^ top if mirrored else sign
                found.append((low | sign, high | sign))
    merged: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if merged and merged[-1][1] + 1 == low and low != top:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged
