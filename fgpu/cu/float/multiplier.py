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
        zero, infinite = s.later("zero", zero, 5), s.later("infinite", infinite, 6)
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
            # Below -1, no rounding reaches the normal numbers.
            zero |= base < -1
            product = s.later_unless("value", product, zero)
        guard, last = product[0], product[1]
        infinite |= s.later("overflow", base >= number.special_exponent - 1)
        m.d.comb += self.result.eq(packed(
            s, number, sign=sign, base=s.later_unless("base", base, zero), significand=product[1:],
            up=guard & (sticky | last), nan=nan, infinite=infinite))
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
        # 5: how far it must move.
        base = s.now("wide_base", precision - places - count)
        is_limited = base[-1]
        bits = bits_for(2 * precision + 1)
        far = places[bits:-1].any()
        move = s.now("move", Mux(is_limited, places[:bits] | far.replicate(bits), (precision - count)[:bits]))
        base = s.later("limited_base", Mux(is_limited, 0, base)[:number.exponent_bits + 1])
        move = s.later("move_later", move)
        # 6: and it does.
        value = Cat(Const(0, 1), s.later("product_last", product))
        sticky: Value = Const(0, 1)
        for step in steps(bits):
            sticky |= s.later(f"sticky_{step[0]}", lost(value, move, step))
            value = s.now(f"value_{step[0]}", moved_right(value, move, step)[:precision + (1 << step[0])])
        return base, s.later("value", value), sticky

    def _normal(self, s: Stages, product: Value, places: Value) -> tuple[Value, Value, Value]:
        """The same for a product of normal numbers, whose leading one is at one of two places; bits a stage early."""
        precision = self._number.precision
        top = product[-1]
        base = s.later("base_early", precision - places - ~top, 2)
        value = s.later("value_early", Mux(top, product[precision - 1:], product[precision - 2:-1]), 2)
        sticky = product[:precision - 2].any() | (product[precision - 2] & top)
        return base, value, s.later("sticky", sticky, 3)
