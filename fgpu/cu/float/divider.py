"""Division, a bit of the quotient in each stage."""

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .format import Format
from .normalizer import Normalized
from .stages import Stages, lost, moved_right, packed, steps

__all__ = ["Divider"]

_LAST = 3
"""Stages behind the digits."""


class Divider(wiring.Component):
    """``first`` / ``second``, one result a cycle, in ``cycles``: 5 more than a significand has bits, or more.

    Non-restoring: each stage adds the divisor to the remainder or subtracts it, so that a bit takes one LUT.
    """

    def __init__(self, number: Format, cycles: int) -> None:
        self._number = number
        self._spare = cycles - _LAST - (number.precision + 2)
        super().__init__({
            "first": In(Normalized(number)),
            "second": In(Normalized(number)),
            "result": Out(number.width),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        number, first, second = self._number, self.first, self.second
        precision = number.precision
        digits = precision + 2
        behind = digits + self._spare

        # The quotient is above 1/2: its first or its second digit is its leading one.
        divisor = s.later("divisor", second.significand)
        rest = s.later("rest", (first.significand - second.significand)[:precision + 1])
        quotient = [s.later("digit_0", ~rest[-1], behind - 1)]
        is_above_1 = ~rest[-1]
        for digit in range(1, digits):
            # Twice the remainder less the divisor, or less the divisor's complement less one. The lowest bit of twice
            # the remainder is zero, so this one is only about the borrow.
            negative = rest[-1]
            change = Cat(divisor[0] | negative, divisor[1:] ^ negative.replicate(precision - 1), negative)
            difference = s.now(f"difference_{digit}", (Cat(Const(0, 1), rest[:-1]) - change)[:precision + 1])
            rest = s.later(f"rest_{digit}", Cat(divisor[0], difference[1:]))
            divisor = s.later(f"divisor_{digit}", divisor)
            quotient.append(s.later(f"digit_{digit}", ~rest[-1], behind - 1 - digit))

        # The exponent without a leading one, and by how many places the quotient's digits move right.
        exponent = s.later("exponent", first.exponent - second.exponent)
        base = s.later("wide_base", exponent + Mux(is_above_1, number.bias - 1, number.bias - 2))
        is_above_1 = s.later("is_above_1", is_above_1)
        nan = first.nan | second.nan | (first.zero & second.zero) | (first.infinite & second.infinite)
        infinite, zero = first.infinite | second.zero, first.zero | second.infinite
        nan, infinite, zero = (s.later(name, flag, 2) for name, flag in (
            ("nan_early", nan), ("infinite_early", infinite), ("zero_early", zero)))
        infinite |= base >= number.special_exponent - 1
        bits = 1
        move: Value = is_above_1
        if number.subnormals:
            is_limited = base[-1]
            bits = bits_for(digits)
            wide = s.now("wide_move", is_above_1 - base)
            far = wide[bits:-1].any()
            move = Mux(is_limited, wide[:bits] | far.replicate(bits), is_above_1)
            base = Mux(is_limited, 0, base)
        else:
            # Below -1, no rounding reaches the normal numbers.
            zero |= base < -1
        move = s.later("move", move, behind - 2)
        # A zero has no leading one, and no other digits.
        base = s.later("base", s.later_unless("base_first", base[:number.exponent_bits], zero), behind - 1)
        nan, infinite = (s.later(name, flag, behind) for name, flag in (("nan", nan), ("infinite", infinite)))
        zero = s.later("zero", zero, behind - 1)
        sign = s.later("sign", first.sign ^ second.sign, behind + 2)

        value: Value = Cat(*reversed(quotient))
        if number.subnormals:
            # The remainder is zero if it is so, or would be with the divisor that made it negative.
            back = divisor & rest[-1].replicate(precision)
            is_inexact = ((rest ^ back) ^ Cat(Const(0, 1), rest | back)[:precision + 1]).any()
            sticky: Value = s.later("is_inexact", is_inexact, 1 + self._spare)
            *coarse, fine = steps(bits)
            below: Value = Const(0, 1)
            for step in coarse:
                below |= lost(value, move, step)
                value = s.now(f"value_{step[0]}", moved_right(value, move, step)[:precision + (1 << step[0])])
            value, below = s.later("value_coarse", value), s.later("below_coarse", below)
            move = s.later("move_fine", move[:fine[1]])
            sticky = s.later("sticky", sticky | below | lost(value, move, fine))
            value = s.later_unless("value", moved_right(value, move, fine)[:precision + 1], zero)
            up = value[0] & (sticky | value[1])
        else:
            # A quotient that is normal never lies half way between two numbers.
            value = s.later_unless("value", s.later("value_early", Mux(move, value[1:], value[:-1])), zero)
            up = value[0]
        m.d.comb += self.result.eq(packed(
            s, number, sign=sign, base=base, significand=value[1:], up=up, nan=nan, infinite=infinite))
        return m
