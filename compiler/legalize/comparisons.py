"""Comparisons in three ways: -1, 0 or 1.

clang makes them of ``(a > b) - (a < b)`` and of what compares for a sort.
"""

from ..ir.builder import Builder, rewrite
from ..ir.module import Function, Instruction, Op
from ..ir.values import Value, integers_like

__all__ = ["expand_comparisons"]

_SIGNS = {"llvm.scmp": "s", "llvm.ucmp": "u"}


def expand_comparisons(function: Function) -> None:
    """Replace each by the difference of two comparisons, of scalars or of vectors."""

    def expand(builder: Builder, i: Instruction) -> Value | None:
        sign = _SIGNS.get(i.callee[:9])
        if sign is None:
            return None
        (a, b), compared = i.operands, i.types[0]
        flag = integers_like(compared, 1)
        greater, less = (
            builder.add(Op.ZEXT, builder.icmp(sign + way, a, b, compared, flag), type=i.type, types=[flag])
            for way in ("gt", "lt"))
        return builder.add(Op.SUB, greater, less, type=i.type)

    rewrite(function, expand, lambda i: i.op is Op.CALL)
