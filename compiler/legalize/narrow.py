"""Narrow integers in words, for what the machine, or a routine, does on words only."""

from ..ir.builder import Builder
from ..ir.module import Op
from ..ir.values import WORD, WORD_BITS, Constant, Type, Value

__all__ = ["extended", "truncated"]


def extended(builder: Builder, value: Value, type: Type, is_signed: bool) -> Value:
    """``value``, of ``type``, as a word."""
    if type.bits == WORD_BITS:
        return value
    if isinstance(value, Constant) and value.value is not None:
        return Constant(value.value if is_signed else value.value & ((1 << type.bits) - 1))
    return builder.convert(Op.SEXT if is_signed else Op.ZEXT, value, type, WORD)


def truncated(builder: Builder, word: Value, type: Type) -> Value:
    """The low bits of ``word`` as ``type``."""
    return builder.convert(Op.TRUNC, word, WORD, type)
