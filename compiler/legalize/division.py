"""Division, which the machine lacks: shifts, multiplications with reciprocals, and calls of routines."""

from ..ir.builder import Builder
from ..ir.module import Function, Instruction, Op
from ..ir.values import WORD_BITS, Constant, Value
from .narrow import extended, truncated

__all__ = ["expand_divisions"]

_DIVISIONS = (Op.UDIV, Op.SDIV, Op.UREM, Op.SREM)
_QUOTIENTS = (Op.UDIV, Op.SDIV)
_Key = tuple[object, ...]


def expand_divisions(function: Function) -> None:
    """Rewrite quotients and remainders of words and less."""
    builder = Builder(function)
    for block in function.blocks.values():
        expansion = _Expansion(builder, block.instructions)
        new: list[Instruction] = []
        for old in block.instructions:
            if old.op in _DIVISIONS and old.type.kind == "int" and old.type.bits <= WORD_BITS:
                builder.start(old)
                expansion.division(old)
                builder.made[-1].name = old.name
                new += builder.made
            else:
                new.append(old)
        block.instructions = new


def _is_signed(i: Instruction) -> bool:
    return i.op in (Op.SDIV, Op.SREM)


class _Expansion:
    """Rewrites the divisions of one block."""

    def __init__(self, builder: Builder, instructions: list[Instruction]) -> None:
        self.builder = builder
        self.quotients: dict[_Key, Value] = {}
        self.divided = {(_is_signed(i), *i.operands) for i in instructions if i.op in _QUOTIENTS}

    def division(self, i: Instruction) -> Value:
        is_signed = _is_signed(i)
        key = (is_signed, *i.operands)
        n, d = (extended(self.builder, operand, i.type, is_signed) for operand in i.operands)
        constant = d.value if isinstance(d, Constant) else None
        if i.op in _QUOTIENTS:
            # Its own value, as the quotient may be asked for again.
            result = self.builder.add(Op.OR, self.quotient(key, n, d, constant), Constant(0))
        elif key in self.divided or constant is not None:
            # With the quotient at hand (or cheap), the remainder is a multiplication away.
            product = self.builder.add(Op.MUL, self.quotient(key, n, d, constant), d)
            result = self.builder.add(Op.SUB, n, product)
        else:
            result = self.builder.call(f"fgpu_{i.op}", n, d)
        return truncated(self.builder, result, i.type)

    def quotient(self, key: _Key, n: Value, d: Value, constant: int | None) -> Value:
        """n / d of words, remembered for the same division later in the block."""
        if key not in self.quotients:
            is_signed = key[0]
            if constant is None or constant == 0:
                quotient = self.builder.call("fgpu_sdiv" if is_signed else "fgpu_udiv", n, d)
            elif is_signed:
                quotient = self.divide_signed_by(n, constant)
            else:
                quotient = self.divide_by(n, constant & 0xFFFF_FFFF)
            self.quotients[key] = quotient
        return self.quotients[key]

    def divide_by(self, n: Value, d: int) -> Value:
        """n / d unsigned: a shift, or a multiplication with the reciprocal (Granlund and Montgomery)."""
        if d & (d - 1) == 0:
            return self.builder.add(Op.LSHR, n, Constant(d.bit_length() - 1))
        shift = d.bit_length()
        reciprocal = (1 << 32 + shift) // d + 1
        # One bit less is enough if the error then still vanishes below the quotient.
        shorter = (1 << 31 + shift) // d + 1
        if shorter * d - (1 << 31 + shift) <= 1 << shift - 1:
            return self.builder.call("fgpu_divide_by_32", n, Constant(shorter), Constant(shift - 1))
        return self.builder.call("fgpu_divide_by_33", n, Constant(reciprocal - (1 << 32)), Constant(shift))

    def divide_signed_by(self, n: Value, d: int) -> Value:
        """n / d signed, rounded towards zero."""
        b = self.builder
        sign = b.add(Op.ASHR, n, Constant(WORD_BITS - 1))
        if abs(d) & (abs(d) - 1) == 0:
            bits = abs(d).bit_length() - 1
            rounding = b.add(Op.LSHR, sign, Constant(WORD_BITS - bits)) if bits else Constant(0)
            quotient = b.add(Op.ASHR, b.add(Op.ADD, n, rounding), Constant(bits))
        else:
            magnitude = b.add(Op.SUB, b.add(Op.XOR, n, sign), sign)
            quotient = b.add(Op.SUB, b.add(Op.XOR, self.divide_by(magnitude, abs(d)), sign), sign)
        return b.add(Op.SUB, Constant(0), quotient) if d < 0 else quotient
