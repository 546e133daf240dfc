"""IEEE 754 in exact arithmetic on integers and fractions, for any small format. Words are Python integers."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from fgpu.cu.float.format import Format
from fgpu.cu.float.operations import FloatOp

_ROOT_BITS = 64


@dataclass(frozen=True)
class Number:
    """What a word stands for. ``value`` is the magnitude of a finite number."""

    sign: int
    value: Fraction
    is_nan: bool = False
    is_infinite: bool = False


class Reference:
    """The operations on words of a format, by :class:`FloatOp`."""

    def __init__(self, number: Format):
        self.number = number
        self.numbers = [self._decoded(word) for word in range(1 << number.width)]
        self.infinite = number.special_exponent << number.fraction_bits
        self.operations = {
            FloatOp.FADD: self.add,
            FloatOp.FSUB: lambda a, b: self.add(a, b ^ 1 << number.width - 1),
            FloatOp.FMUL: self.multiply,
            FloatOp.FDIV: self.divide,
            FloatOp.FSQRT: lambda a, b: self.root(a),
            FloatOp.FSLT: self.less,
            FloatOp.UITOFP: lambda a, b: self.word(0, a, 1),
            FloatOp.ITOFP: lambda a, b: self.from_integer(a),
            FloatOp.FPTOSI: lambda a, b: self.to_integer(a, -1 << number.width - 1, (1 << number.width - 1) - 1),
            FloatOp.FPTOUI: lambda a, b: self.to_integer(a, 0, (1 << number.width) - 1),
        }

    def _decoded(self, word):
        n = self.number
        sign, exponent = word >> n.width - 1, word >> n.fraction_bits & n.special_exponent
        fraction = word & (1 << n.fraction_bits) - 1
        if exponent == n.special_exponent:
            return Number(sign, Fraction(0), fraction != 0, fraction == 0)
        if exponent == 0:
            value = Fraction(fraction if n.subnormals else 0, 1 << n.bias - 1 + n.fraction_bits)
        else:
            value = (1 + Fraction(fraction, 1 << n.fraction_bits)) * Fraction(2) ** (exponent - n.bias)
        return Number(sign, value)

    def word(self, sign, numerator, denominator):
        """The number nearest to a positive fraction."""
        n = self.number
        sign <<= n.width - 1
        if numerator == 0:
            return sign
        exponent = numerator.bit_length() - denominator.bit_length()
        if numerator < denominator << exponent if exponent >= 0 else numerator << -exponent < denominator:
            exponent -= 1
        field = exponent + n.bias
        if n.subnormals:
            field = max(field, 1)
        shift = n.fraction_bits - field + n.bias
        units, rest = divmod(numerator << max(shift, 0), denominator << max(-shift, 0))
        half = 2 * rest - (denominator << max(-shift, 0))
        units += half > 0 or (half == 0 and units % 2 == 1)
        if units == 2 << n.fraction_bits:
            units, field = units // 2, field + 1
        if not n.subnormals and field < 1:
            return sign
        if field >= n.special_exponent:
            return sign | self.infinite
        return sign | (field - 1 << n.fraction_bits) + units

    def add(self, a, b):
        x, y = self.numbers[a], self.numbers[b]
        if x.is_nan or y.is_nan or (x.is_infinite and y.is_infinite and x.sign != y.sign):
            return self.number.quiet_nan
        if x.is_infinite or y.is_infinite:
            return self.infinite | (x if x.is_infinite else y).sign << self.number.width - 1
        total = (-x.value if x.sign else x.value) + (-y.value if y.sign else y.value)
        sign = x.sign & y.sign if total == 0 else total < 0
        return self.word(sign, abs(total.numerator), total.denominator)

    def multiply(self, a, b):
        x, y = self.numbers[a], self.numbers[b]
        sign = x.sign ^ y.sign
        if x.is_nan or y.is_nan:
            return self.number.quiet_nan
        if x.is_infinite or y.is_infinite:
            is_zero = not (x.is_infinite or x.value) or not (y.is_infinite or y.value)
            return self.number.quiet_nan if is_zero else self.infinite | sign << self.number.width - 1
        return self.word(sign, x.value.numerator * y.value.numerator, x.value.denominator * y.value.denominator)

    def divide(self, a, b):
        x, y = self.numbers[a], self.numbers[b]
        sign = x.sign ^ y.sign
        if x.is_nan or y.is_nan or (x.is_infinite and y.is_infinite):
            return self.number.quiet_nan
        if x.is_infinite:
            return self.infinite | sign << self.number.width - 1
        if y.is_infinite:
            return sign << self.number.width - 1
        if y.value == 0:
            return self.number.quiet_nan if x.value == 0 else self.infinite | sign << self.number.width - 1
        return self.word(sign, x.value.numerator * y.value.denominator, x.value.denominator * y.value.numerator)

    def root(self, a):
        x = self.numbers[a]
        if x.is_nan or (x.sign and (x.is_infinite or x.value)):
            return self.number.quiet_nan
        if x.is_infinite:
            return self.infinite
        # Far more bits than any format here has; the lowest one stands for all that are below.
        square = (x.value.numerator << 2 * _ROOT_BITS) // x.value.denominator
        root = isqrt(square)
        return self.word(x.sign, 2 * root + (root * root != square), 2 << _ROOT_BITS)

    def less(self, a, b):
        x, y = ((Fraction(0) if n.is_nan else (-1) ** n.sign * (Fraction(1 << 99) if n.is_infinite else n.value))
                for n in (self.numbers[a], self.numbers[b]))
        return int(x < y and not self.numbers[a].is_nan and not self.numbers[b].is_nan)

    def from_integer(self, a):
        sign = a >> self.number.width - 1
        return self.word(sign, (1 << self.number.width) - a if sign else a, 1)

    def to_integer(self, a, least, greatest):
        x = self.numbers[a]
        if x.is_nan:
            return 0
        whole = greatest + 1 if x.is_infinite else int(x.value)
        return min(max(-whole if x.sign else whole, least), greatest) & (1 << self.number.width) - 1
