"""What the register-to-register instructions compute, on arrays of unsigned 32-bit words."""

from collections.abc import Callable

import numpy as np

from fgpu.isa import Opcode

__all__ = ["CONDITIONS", "OPERATIONS", "Words"]

Words = np.ndarray
"""One unsigned 32-bit word for each work-item."""

_SHIFT_MASK = np.uint32(31)
_LOW_HALF = np.uint32(0xFFFF)


def _signed(words: Words) -> np.ndarray:
    return words.view(np.int32)


def _truth(condition: np.ndarray) -> Words:
    return condition.astype(np.uint32)


def _sra(a: Words, b: Words, d: Words) -> Words:
    return (_signed(a) >> _signed(b & _SHIFT_MASK)).view(np.uint32)


def _add(a: Words, b: Words, d: Words) -> Words:
    return a + b


def _sll(a: Words, b: Words, d: Words) -> Words:
    return a << (b & _SHIFT_MASK)


def _srl(a: Words, b: Words, d: Words) -> Words:
    return a >> (b & _SHIFT_MASK)


def _and(a: Words, b: Words, d: Words) -> Words:
    return a & b


def _or(a: Words, b: Words, d: Words) -> Words:
    return a | b


def _xor(a: Words, b: Words, d: Words) -> Words:
    return a ^ b


def _slt(a: Words, b: Words, d: Words) -> Words:
    return _truth(_signed(a) < _signed(b))


def _sltu(a: Words, b: Words, d: Words) -> Words:
    return _truth(a < b)


OPERATIONS: dict[Opcode, Callable[[Words, Words, Words], Words]] = {
    Opcode.ADD: _add,
    Opcode.ADDI: _add,
    Opcode.SUB: lambda a, b, d: a - b,
    Opcode.LI: lambda a, b, d: b,
    Opcode.LUI: lambda a, b, d: (d & _LOW_HALF) | (b << np.uint32(16)),
    Opcode.SLL: _sll,
    Opcode.SLLI: _sll,
    Opcode.SRL: _srl,
    Opcode.SRLI: _srl,
    Opcode.SRA: _sra,
    Opcode.SRAI: _sra,
    Opcode.AND: _and,
    Opcode.ANDI: _and,
    Opcode.OR: _or,
    Opcode.ORI: _or,
    Opcode.XOR: _xor,
    Opcode.XORI: _xor,
    Opcode.NOR: lambda a, b, d: ~(a | b),
    Opcode.MOVN: lambda a, b, d: np.where(b != 0, a, d),
    Opcode.MOVZ: lambda a, b, d: np.where(b == 0, a, d),
    Opcode.MUL: lambda a, b, d: a * b,
    Opcode.MACC: lambda a, b, d: d + a * b,
    Opcode.SLT: _slt,
    Opcode.SLTI: _slt,
    Opcode.SLTU: _sltu,
    Opcode.SLTIU: _sltu,
}
"""The new rd from the operands rs, rt or immediate, and the old rd."""

CONDITIONS: dict[Opcode, Callable[[Words, Words], np.ndarray]] = {
    Opcode.BEQ: lambda d, a: d == a,
    Opcode.BNE: lambda d, a: d != a,
}
"""Whether a branch is taken, from rd and rs."""
