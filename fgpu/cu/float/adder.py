"""Addition and subtraction."""

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .format import Format, Operand, effective_exponent, significand
from .stages import Stages, lost, moved_left, moved_right, packed, steps

__all__ = ["Adder"]

_BELOW = 3
"""Bits below a significand that rounding needs: two of the smaller operand, and whether there is anything below."""


class Adder(wiring.Component):
    """``first`` + ``second`` or, with ``subtract``, their difference; 7 cycles, one result a cycle.

    ``smaller`` says that ``first`` is of smaller magnitude than ``second``.
    """

    def __init__(self, number: Format) -> None:
        self._number = number
        super().__init__({
            "first": In(Operand(number)),
            "second": In(Operand(number)),
            "smaller": In(1),
            "subtract": In(1),
            "result": Out(number.width),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        number, first, second = self._number, self.first, self.second
        precision = number.precision

        # 1: the operand of larger magnitude, and by how many places the other one is below it.
        second_sign = s.now("second_sign", second.sign ^ self.subtract)
        opposite = s.now("opposite", first.sign ^ second_sign)
        a, b = self._significand(first), self._significand(second)
        ae, be = effective_exponent(first), effective_exponent(second)
        large = s.later("large", Mux(self.smaller, b, a))
        small = s.later("small", Mux(self.smaller, a, b))
        large_exponent = s.now("large_exponent", Mux(self.smaller, be, ae))
        small_exponent = s.now("small_exponent", Mux(self.smaller, ae, be))
        exponent = s.later("exponent", large_exponent)
        distance = s.later("distance", (large_exponent - small_exponent)[:number.exponent_bits])
        nan = s.later("nan", first.nan | second.nan | (first.infinite & second.infinite & opposite), 6)
        infinite = s.later("infinite", first.infinite | second.infinite, 6)
        sign = s.later("sign", Mux(self.smaller, second_sign, first.sign), 6)
        opposite = s.later("opposite_later", opposite)

        # 2 and 3: the smaller one moves right; the lowest bit stands for all that leaves.
        places = min(bits_for(precision + 2), number.exponent_bits)
        *coarse, fine = steps(places)
        far = s.now("far", distance[places:].any())
        part, sticky = Cat(Const(0, 2), small), Const(0)
        for step in coarse:
            sticky |= lost(part, distance, step)
            part = s.now(f"part_{step[0]}", moved_right(part, distance, step))
        sticky = s.later("sticky_coarse", Mux(far, small.any(), sticky))
        part = s.later("part_coarse", Mux(far, 0, part))
        distance = s.later("distance_fine", distance[:fine[1]])
        sticky = s.later("sticky", sticky | lost(part, distance, fine))
        part = s.later("part", moved_right(part, distance, fine))
        large = s.later("large_later", large, 2)
        opposite = s.later("opposite_last", opposite, 2)

        # 4: the sum; it is not negative. Its second highest bit is where the larger operand has its leading one. The
        # bits below that operand are zero, so the lowest one takes the carry that a difference needs.
        below = Cat(sticky, part) ^ opposite.replicate(precision + _BELOW)
        total = s.later("sum", (Cat(opposite, Const(0, _BELOW - 1), large, Const(0, 1))
                                + Cat(below, opposite))[:precision + _BELOW + 1])

        # 5: how far it must move left, and 6: may; with the exponent that an absent leading one would have.
        count, is_any = s.leading_zeros("zeros", total)
        count, is_any = s.later("count", count), s.later("is_any", is_any)
        total = s.later("sum_later", total)
        exponent = s.later("exponent_later", exponent, 4)
        base = s.now("difference", exponent - count)
        if number.subnormals:
            is_limited = base[-1]
            count = s.now("limited", Mux(is_limited, exponent[:len(count)], count))
            is_zero: Value = ~is_any
        else:
            # Below -1, no rounding reaches the normal numbers.
            is_zero = ~is_any | (base < -1)
        for step in steps(len(count)):
            total = s.now(f"sum_{step[0]}", moved_left(total, count, step))
        total = s.later("normal", total)
        base = s.later("base", Mux(base[-1], 0, base)[:number.exponent_bits] if number.subnormals else base)
        zero = s.later("zero", is_zero)
        cancelled = s.later("cancelled", ~is_any)
        opposite = s.later("opposite_zero", opposite, 3)

        # 7: rounding.
        guard, rest = total[_BELOW], total[:_BELOW].any()
        overflow = base == number.special_exponent - 1
        m.d.comb += self.result.eq(s.later("packed", packed(
            s, number, sign=sign & ~(cancelled & opposite), base=base, significand=total[_BELOW + 1:],
            up=guard & (rest | total[_BELOW + 1]), nan=nan, infinite=infinite | overflow, zero=zero)))
        return m

    def _significand(self, operand: Value) -> Value:
        value = significand(operand)
        return value if self._number.subnormals else value & operand.normal.replicate(len(value))
