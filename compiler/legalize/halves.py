"""Numbers of type half, which are integers of 16 bits by now: operations on floats between conversions.

Floats have more than twice the bits of halves and two, so sums, products, quotients and roots of halves that are
rounded to floats first are the same rounded to halves. Every NaN is 0x7E00.
"""

from dataclasses import replace

from ..ir.builder import Builder, rewrite
from ..ir.module import Function, Instruction, Op
from ..ir.values import WORD, Constant, Type, Value, integer
from ..runtime_library.routines import PREFIX
from .narrow import extended

__all__ = ["promote_halves"]

_HALF = integer(16)
_SIGN = -1 << 15
_BINARY = (Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV)
_TO_INTEGER = (Op.FPTOSI, Op.FPTOUI)
_FROM_INTEGER = (Op.SITOFP, Op.UITOFP)
_CALLS = ("sqrt", "trunc", "floor", "ceil", "round", "rint", "roundeven", "nearbyint", "minnum", "maxnum",
          "minimumnum", "maximumnum", "fmuladd")
"""Intrinsics whose result as a float is that of halves, or is to be rounded twice anyway."""
_OPS = (*_BINARY, *_TO_INTEGER, *_FROM_INTEGER, Op.FNEG, Op.FCMP, Op.FPEXT, Op.FPTRUNC)


def promote_halves(function: Function) -> None:
    """Rewrite the operations on halves as operations on floats and calls of routines that convert."""
    rewrite(function, _expand, lambda i: _HALF in (i.type, *i.types)
            and (i.op in _OPS or i.callee.startswith("llvm.")))


def _to_float(b: Builder, value: Value) -> Value:
    return b.call(f"{PREFIX}half_to_float", extended(b, value, _HALF, is_signed=False))


def _to_half(b: Builder, value: Value) -> Value:
    return b.convert(Op.TRUNC, b.call(f"{PREFIX}half_from_float", value), WORD, _HALF)


def _as_floats(b: Builder, old: Instruction, result: Type) -> Value:
    """The same operation on floats."""
    return b.append(replace(old, name="", type=result, operands=[_to_float(b, operand) for operand in old.operands],
                            types=[WORD] * len(old.operands)))


def _bits(b: Builder, op: Op, value: Value, mask: int) -> Value:
    return b.add(op, value, Constant(mask), type=_HALF)


def _expand(b: Builder, old: Instruction) -> Value | None:
    source, *others = old.operands
    if old.op in _BINARY:
        return _to_half(b, _as_floats(b, old, WORD))
    if old.op is Op.FNEG:
        return _bits(b, Op.XOR, source, _SIGN)
    if (old.op is Op.FCMP or old.op in _TO_INTEGER) and old.types[0] == _HALF:
        return _as_floats(b, old, old.type)
    if old.op in _FROM_INTEGER and old.type == _HALF:
        # What a float has no room for is infinite.
        return _to_half(b, b.append(replace(old, name="", type=WORD)))
    if (old.op, old.type, old.types[0]) == (Op.FPEXT, WORD, _HALF):
        return _to_float(b, source)
    if (old.op, old.type, old.types[0]) == (Op.FPTRUNC, _HALF, WORD):
        return _to_half(b, source)
    name = old.callee.split(".")[1] if old.op is Op.CALL else ""
    if name in _CALLS:
        result = _as_floats(b, old, WORD)
        return _to_half(b, result)
    if name == "fabs":
        return _bits(b, Op.AND, source, ~_SIGN)
    if name == "copysign":
        return b.add(Op.OR, _bits(b, Op.AND, source, ~_SIGN), _bits(b, Op.AND, others[0], _SIGN), type=_HALF)
    return None
