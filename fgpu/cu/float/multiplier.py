"""Multiplication."""

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .format import Format, Operand, effective_exponent, significand
from .stages import Stages, lost, moved_right, packed, steps

__all__ = ["Multiplier"]

_DSP_BITS = 17
"""Bits of an unsigned factor that one DSP block takes beside a whole significand of binary32."""


class Multiplier(wiring.Component):
    """``first`` * ``second``; 7 cycles, one result a cycle. Two DSP blocks for binary32 (7 series)."""

    def __init__(self, number: Format) -> None:
        self._number = number
        super().__init__({
            "first": In(Operand(number)),
            "second": In(Operand(number)),
            "result": Out(number.width),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        number, first, second = self._number, self.first, self.second
        precision = number.precision

        zero, infinite = first.zero | second.zero, first.infinite | second.infinite
        nan = s.later("nan", first.nan | second.nan | (zero & infinite), 6)
        zero, infinite = s.later("zero", zero, 6), s.later("infinite", infinite, 6)
        sign = s.later("sign", first.sign ^ second.sign, 6)

        # 1 to 3: the product, and the exponent that it has if its leading one is at its second highest bit.
        product = self._product(s, significand(first), significand(second))
        exponents = s.later("exponents", effective_exponent(first) + effective_exponent(second))
        # As places by which twice the product would move right to be subnormal, if positive.
        places = s.later("places", precision + number.bias - exponents, 2)

        if number.subnormals:
            base, product, sticky = self._aligned(s, product, places)
        else:
            base, product, sticky = self._normal(s, product, places)
        guard, last = product[0], product[1]
        infinite |= s.later("overflow", base >= number.special_exponent - 1)
        if not number.subnormals:
            zero |= s.later("underflow", base < -1)
        m.d.comb += self.result.eq(s.later("packed", packed(
            s, number, sign=sign, base=s.later("base", base), significand=product[1:], up=guard & (sticky | last),
            nan=nan, infinite=infinite, zero=zero)))
        return m

    def _product(self, s: Stages, a: Value, b: Value) -> Value:
        """Three stages, all of which are registers of DSP blocks; the second block adds the first one's product."""
        low = s.later("low_product", a * b[:_DSP_BITS])
        low = s.later("low_sum", low)
        if len(b) <= _DSP_BITS:
            return s.later("product", low)
        a, b = s.later("a", a), s.later("b", b[_DSP_BITS:])
        high = s.later("high_product", a * b)
        high = s.later("high_sum", (high + low[_DSP_BITS:])[:len(a) + len(b)])
        return Cat(s.later("low_bits", low[:_DSP_BITS]), high)

    def _aligned(self, s: Stages, product: Value, places: Value) -> tuple[Value, Value, Value]:
        """A product moved so that its leading one is at the highest bit or its exponent is the smallest one.

        Returns the exponent that it has without a leading one (a stage early), its upper bits, one more than a
        significand has, and whether there are ones below.
        """
        number = self._number
        precision = number.precision
        # 4: its highest one. A product of two subnormals has that far down, and is zero when rounded.
        count, _ = s.leading_zeros("zeros", product[precision - 1:])
        count = s.later("count", count)
        product = s.later("product_later", product)
        places = s.later("places_later", places)
        # 5: how far it must move, and the first part of that.
        base = s.now("wide_base", precision - places - count)
        is_limited = base[-1]
        bits = bits_for(2 * precision + 1)
        far = places[bits:-1].any()
        move = s.now("move", Mux(is_limited, places[:bits] | far.replicate(bits), (precision - count)[:bits]))
        *coarse, fine = steps(bits)
        first, *coarse = coarse
        value = Cat(Const(0, 1), product)
        sticky = s.later("sticky_first", lost(value, move, first))
        value = s.later("value_first", moved_right(value, move, first)[:precision + (1 << first[0])])
        base = s.later("limited_base", Mux(is_limited, 0, base)[:number.exponent_bits + 1])
        move = s.later("move_later", move[:first[0]])
        # 6: the rest.
        for step in [*coarse, fine]:
            sticky |= lost(value, move, step)
            value = s.now(f"value_{step[0]}", moved_right(value, move, step)[:precision + (1 << step[0])])
        return base, s.later("value", value), s.later("sticky", sticky)

    def _normal(self, s: Stages, product: Value, places: Value) -> tuple[Value, Value, Value]:
        """The same for a product of normal numbers, whose leading one is at one of two places."""
        precision = self._number.precision
        top = product[-1]
        base = s.later("base_early", precision - places - ~top, 2)
        value = s.later("value", Mux(top, product[precision - 1:], product[precision - 2:-1]), 3)
        sticky = product[:precision - 2].any() | (product[precision - 2] & top)
        return base, value, s.later("sticky", sticky, 3)
