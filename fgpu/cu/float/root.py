"""Square root, a bit in each stage."""

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .format import Format
from .normalizer import Normalized
from .stages import Stages, packed

__all__ = ["SquareRoot"]


class SquareRoot(wiring.Component):
    """The square root of ``first``, one result a cycle, in ``cycles``: one more than a significand has bits, or more.

    Non-restoring: a bit of the remainder takes one LUT in each stage, and remainders are as long as the root so far.
    """

    def __init__(self, number: Format, cycles: int) -> None:
        self._number = number
        self._spare = cycles - 1 - number.precision
        super().__init__({"first": In(Normalized(number)), "result": Out(number.width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        number, first = self._number, self.first
        precision = number.precision
        before = precision + self._spare

        # 1.0 to 2.0, or with an even exponent 2.0 to 4.0, for the bias is odd: two digits before the point.
        radicand = Cat(Const(0, (precision + 1) % 2), Mux(
            first.exponent[0], Cat(first.significand, Const(0, 1)), Cat(Const(0, 1), first.significand)))
        pairs = [radicand[place:place + 2] for place in range(len(radicand) - 2, -1, -2)]
        # The first digit is a one, and the remainder the first pair less one.
        root: Value = Const(1, 1)
        rest: Value = Cat(~pairs[0][0], pairs[0].all(), Const(0, 1))
        for digit in range(1, precision + 1):
            pair = s.later(f"pair_{digit}", pairs[digit], digit - 1) if digit < len(pairs) else Const(0, 2)
            # Less 4 root + 1, or less -(4 root + 3).
            negative = rest[-1]
            change = Cat(Const(1, 2), root ^ negative.replicate(digit), negative)
            rest = s.later(f"rest_{digit}", (Cat(pair, rest) - change)[:digit + 3])
            root = Cat(~rest[-1], root if digit == 1 else s.later(f"root_{digit}", root))
        root = s.later("root", root, self._spare)

        # A zero has no leading one, and no other digits.
        base = s.later("base", s.later_unless(
            "base_first", ((first.exponent + (number.bias - 2)) >> 1)[:number.exponent_bits], first.zero), before - 1)
        nan = s.later("nan", first.nan | (first.sign & ~first.zero), before)
        infinite, zero = s.later("infinite", first.infinite, before), s.later("zero", first.zero, before)
        root = root & ~zero.replicate(len(root))
        # The root of a number never lies half way between two others.
        m.d.comb += self.result.eq(packed(
            s, number, sign=s.later("sign", first.sign, before), base=base, significand=root[1:], up=root[0],
            nan=nan, infinite=infinite))
        return m
