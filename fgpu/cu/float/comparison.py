"""The comparison that all others are made of."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .format import Format, Operand
from .stages import Stages

__all__ = ["Comparison"]


class Comparison(wiring.Component):
    """Whether ``first`` < ``second``, false if either is a NaN; 7 cycles, one result a cycle.

    ``smaller`` says that ``first`` is of smaller magnitude than ``second``.
    """

    def __init__(self, number: Format) -> None:
        super().__init__({
            "first": In(Operand(number)),
            "second": In(Operand(number)),
            "smaller": In(1),
            "result": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        first, second = self.first, self.second
        # Of numbers with the same sign, the magnitudes decide.
        equal = s.later("equal", (first.exponent == second.exponent) & (first.fraction == second.fraction))
        comparable = s.later("comparable", ~(first.nan | second.nan | (first.zero & second.zero)))
        opposite, sign = s.later("opposite", first.sign ^ second.sign), s.later("sign", first.sign)
        smaller = s.later("smaller_later", self.smaller)
        less = comparable & Mux(opposite, sign, Mux(sign, ~smaller & ~equal, smaller))
        m.d.comb += self.result.eq(s.later("less", less, 6))
        return m
