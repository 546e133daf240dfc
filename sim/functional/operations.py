"""What the register-to-register instructions compute, on arrays of unsigned 32-bit words."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CONDITIONS", "OPERATIONS", "Operand", "Operation", "Words"]

Words = np.ndarray
"""One unsigned 32-bit word for each work-item."""

Operand = np.ndarray | np.uint32
"""The same, or one word for all."""

Operation = Callable[[Words, Operand, Words], Operand]
Condition = Callable[[Words, Words], np.ndarray]

_SHIFT_MASK = np.uint32(31)
_LOW_HALF = np.uint32(0xFFFF)


def _signed(words: Operand) -> Any:
    return words.view(np.int32)


def _truth(condition: np.ndarray) -> Words:
    return condition.astype(np.uint32)


def _sra(a: Words, b: Operand, d: Words) -> Words:
    return (_signed(a) >> _signed(b & _SHIFT_MASK)).view(np.uint32)


def _add(a: Words, b: Operand, d: Words) -> Words:
    return a + b


def _sll(a: Words, b: Operand, d: Words) -> Words:
    return a << (b & _SHIFT_MASK)


def _srl(a: Words, b: Operand, d: Words) -> Words:
    return a >> (b & _SHIFT_MASK)


def _and(a: Words, b: Operand, d: Words) -> Words:
    return a & b


def _or(a: Words, b: Operand, d: Words) -> Words:
    return a | b


def _xor(a: Words, b: Operand, d: Words) -> Words:
    return a ^ b


def _slt(a: Words, b: Operand, d: Words) -> Words:
    return _truth(_signed(a) < _signed(b))


def _sltu(a: Words, b: Operand, d: Words) -> Words:
    return _truth(a < b)


OPERATIONS: dict[str, Operation] = {
    "add": _add,
    "addi": _add,
    "sub": lambda a, b, d: a - b,
    "li": lambda a, b, d: b,
    "lui": lambda a, b, d: (d & _LOW_HALF) | (b << np.uint32(16)),
    "sll": _sll,
    "slli": _sll,
    "srl": _srl,
    "srli": _srl,
    "sra": _sra,
    "srai": _sra,
    "and": _and,
    "andi": _and,
    "or": _or,
    "ori": _or,
    "xor": _xor,
    "xori": _xor,
    "nor": lambda a, b, d: ~(a | b),
    "movn": lambda a, b, d: np.where(b != 0, a, d),
    "movz": lambda a, b, d: np.where(b == 0, a, d),
    "mul": lambda a, b, d: a * b,
    "macc": lambda a, b, d: d + a * b,
    "slt": _slt,
    "slti": _slt,
    "sltu": _sltu,
    "sltiu": _sltu,
}
"""By mnemonic: the new rd from the operands rs, rt or immediate, and the old rd."""

CONDITIONS: dict[str, Condition] = {
    "beq": lambda d, a: d == a,
    "bne": lambda d, a: d != a,
}
"""By mnemonic: whether a branch is taken, from rd and rs."""
