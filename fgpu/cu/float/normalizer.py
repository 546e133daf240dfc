"""Subnormal operands as normal numbers with exponents of a wider range."""

from typing import Any

from amaranth.hdl import Module, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .format import Format, Operand, effective_exponent, significand
from .stages import Stages, moved_left, steps

__all__ = ["Normalized", "Normalizer"]


class Normalized(data.StructLayout):
    """A number whose significand has its leading one (unless it is a zero)."""

    def __init__(self, number: Format) -> None:
        super().__init__({
            "significand": number.precision,
            "exponent": signed(number.exponent_bits + 1),
            "sign": 1,
            "zero": 1,
            "infinite": 1,
            "nan": 1,
        })


class Normalizer(wiring.Component):
    """Moves the leading one of a subnormal number to its place, in ``cycles``: 2, or 0 where there are none."""

    def __init__(self, number: Format) -> None:
        self._number = number
        self.cycles = 2 if number.subnormals else 0
        super().__init__({"operand": In(Operand(number)), "normalized": Out(Normalized(number))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        operand, out = self.operand, self.normalized
        for flag in ("sign", "zero", "infinite", "nan"):
            m.d.comb += out[flag].eq(s.later(flag, operand[flag], self.cycles))
        value: Any = significand(operand)
        exponent: Any = effective_exponent(operand)
        if self._number.subnormals:
            count = s.later("count", s.leading_zeros("zeros", value)[0])
            value, exponent = s.later("value", value), s.later("exponent_early", exponent)
            for step in steps(len(count)):
                value = s.now(f"value_{step[0]}", moved_left(value, count, step))
            value, exponent = s.later("significand", value), s.later("exponent", exponent - count)
        m.d.comb += [out.significand.eq(value), out.exponent.eq(exponent)]
        return m
