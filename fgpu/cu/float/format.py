"""Binary floating-point formats, and operands taken apart."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Value
from amaranth.lib import data

__all__ = ["BINARY32", "Format", "Operand", "effective_exponent", "significand"]


@dataclass(frozen=True)
class Format:
    """An interchange format of IEEE 754: sign, exponent, fraction. Integers have as many bits as its numbers.

    Without ``subnormals``, an operand that is subnormal counts as a zero of its sign, and a result that is below the
    normal numbers once rounded is a zero of its sign.
    """

    exponent_bits: int = 8
    fraction_bits: int = 23
    subnormals: bool = True

    @property
    def width(self) -> int:
        """Bits of a number."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def precision(self) -> int:
        """Bits of a significand, with its leading one."""
        return self.fraction_bits + 1

    @property
    def special_exponent(self) -> int:
        """The exponent field of infinities and NaNs."""
        return (1 << self.exponent_bits) - 1

    @property
    def bias(self) -> int:
        """The exponent field of 1.0."""
        return self.special_exponent >> 1

    @property
    def quiet_nan(self) -> int:
        """The one NaN that results are (0x7FC00000 for binary32)."""
        return self.special_exponent << self.fraction_bits | 1 << self.fraction_bits - 1


BINARY32 = Format()


class Operand(data.StructLayout):
    """A number with what its fields say: ``normal`` is false for zeros and subnormals."""

    def __init__(self, number: Format) -> None:
        super().__init__({
            "fraction": number.fraction_bits,
            "exponent": number.exponent_bits,
            "sign": 1,
            "normal": 1,
            "zero": 1,
            "infinite": 1,
            "nan": 1,
        })


def significand(operand: Any) -> Value:
    """The significand of an operand, ``precision`` bits; the leading one is absent in a subnormal number."""
    return Cat(operand.fraction, operand.normal)


def effective_exponent(operand: Any) -> Value:
    """The exponent field; that of the smallest normal number for subnormals and zeros."""
    return Cat(operand.exponent[0] | ~operand.normal, operand.exponent[1:])
