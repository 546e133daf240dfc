"""Integers to numbers and back."""

from collections.abc import Callable

from amaranth.hdl import Cat, Const, Module, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .format import Format, Operand, significand
from .stages import Stages, moved_left, moved_right, packed, steps

__all__ = ["FromInteger", "ToInteger"]

_SHIFT_STAGES = 3
_Move = Callable[[Value, Value, tuple[int, int]], Value]


def _shifted(s: Stages, value: Value, places: Value, moved: _Move) -> Value:
    """Three stages that shift by two bits of ``places`` each."""
    spare = _SHIFT_STAGES
    for step in steps(len(places)):
        value = s.later(f"value_{step[0]}", moved(value, places, step))
        places = s.later(f"places_{step[0]}", places[:step[0]])
        spare -= 1
    return s.later("shifted", value, spare)


class FromInteger(wiring.Component):
    """The number nearest to ``integer``, which has a sign if ``is_signed``; 7 cycles, one result a cycle."""

    def __init__(self, number: Format) -> None:
        self._number = number
        super().__init__({"integer": In(number.width), "is_signed": In(1), "result": Out(number.width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        number = self._number
        width = number.width

        # 1: the magnitude, 2: where its leading one is, 3 to 5: to the highest bit with it.
        negative = s.now("negative", self.integer[-1] & self.is_signed)
        sign = s.later("sign", negative, 6)
        value = s.later("magnitude", ((self.integer ^ negative.replicate(width)) + negative)[:width])
        count, is_any = s.leading_zeros("zeros", value)
        count, zero = s.later("count", count), s.later("zero", ~is_any, 5)
        base = s.later("base", (number.bias + width - 2 - count)[:number.exponent_bits], 4)
        value = _shifted(s, s.later("value", value), count, moved_left)
        # 6: whether it rounds up, 7: the number.
        below = width - number.precision
        up = s.later("up", value[below - 1] & (value[:below - 1].any() | value[below]))
        m.d.comb += self.result.eq(s.later("packed", packed(
            s, number, sign=sign, base=base, significand=s.later("significand", value[below:]), up=up,
            nan=Const(0, 1), infinite=Const(0, 1), zero=zero)))
        return m


class ToInteger(wiring.Component):
    """``operand`` as an integer, which has a sign if ``is_signed``; 7 cycles, one result a cycle.

    Rounds towards zero. Out of range, the nearest integer there is; zero for a NaN.
    """

    def __init__(self, number: Format) -> None:
        self._number = number
        super().__init__({"operand": In(Operand(number)), "is_signed": In(1), "result": Out(number.width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        number, operand = self._number, self.operand
        width = number.width

        # 1: by how many places an integer with the leading one at its highest bit moves right.
        greatest = Const(number.bias + width - 1, signed(number.exponent_bits + 2))
        places = s.later("places", greatest - operand.exponent)
        value = s.later("value_early", significand(operand), 2)
        nan = s.later("nan", operand.nan)
        is_signed = s.later("is_signed", self.is_signed)
        sign = s.later("sign", operand.sign)
        # 2: what is out of range. Signed integers have one bit less; the lowest one is exact nevertheless.
        bits = bits_for(width - 1)
        is_large = places < is_signed
        is_small = nan | (places >= width) | (sign & ~is_signed)
        large = s.later("large", is_large & ~is_small, 4)
        small = s.later("small", is_small, 4)
        negative = s.later("negative", sign & is_signed, 4)
        top = s.later("top", ~is_signed, 4)
        # 3 to 5: to its place, 6: in range, 7: the negative number.
        count = s.later("count", places[:bits])
        value = _shifted(s, Cat(Const(0, width - number.precision), value), count, moved_right)
        value = (value | large.replicate(width)) & Cat((~small).replicate(width - 1), ~small & top)
        value = s.later("value", value ^ negative.replicate(width))
        carry = s.later("carry", negative & ~large)
        m.d.comb += self.result.eq(s.later("integer", (value + carry)[:width]))
        return m
