"""Bit counting, which the machine lacks: calls of routines for words."""

from ..ir.builder import Builder, rewrite
from ..ir.module import Function, Instruction, Op
from ..ir.values import WORD_BITS, Constant, Value
from .narrow import extended, truncated

__all__ = ["expand_bit_counting"]

_COUNTS = ("llvm.ctpop.", "llvm.ctlz.", "llvm.cttz.")


def expand_bit_counting(function: Function) -> None:
    """Rewrite ctpop, ctlz and cttz of words and less."""
    rewrite(function, _expand, lambda i: i.callee.startswith(_COUNTS) and i.type.bits <= WORD_BITS)


def _expand(b: Builder, call: Instruction) -> Value:
    name, bits = call.callee.split(".")[1], call.type.bits
    word = extended(b, call.operands[0], call.type, is_signed=False)
    if name == "cttz" and bits < WORD_BITS:         # a one above the top ends the count
        word = b.add(Op.OR, word, Constant(1 << bits))
    result = b.call(f"fgpu_{name}32", word)
    if name == "ctlz" and bits < WORD_BITS:
        result = b.add(Op.SUB, result, Constant(WORD_BITS - bits))
    return truncated(b, result, call.type)
