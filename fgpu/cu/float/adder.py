"""Addition, subtraction, and the conversions, which need the same shifters and the same adder."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .format import Format, Operand, effective_exponent, significand
from .operations import FloatOp
from .stages import Stages, lost, moved_left, moved_right, packed, steps

__all__ = ["Adder"]

_BELOW = 3
"""Bits below a significand that a sum needs at least; the lowest one is set if there is anything below it."""
_ADD = frozenset({FloatOp.FADD, FloatOp.FSUB})
_FROM_INTEGER = frozenset({FloatOp.UITOFP, FloatOp.ITOFP})
_TO_INTEGER = frozenset({FloatOp.FPTOSI, FloatOp.FPTOUI})
_SIGNED = frozenset({FloatOp.ITOFP, FloatOp.FPTOSI})


class Adder(wiring.Component):
    """Executes those of its ``OPERATIONS`` that are in ``operations``; 7 cycles, one result a cycle.

    ``smaller`` says that ``first`` is of smaller magnitude than ``second``. Conversions to integers truncate; out of
    range they give the nearest integer there is, and zero for a NaN.

    A sum aligns the smaller operand, adds and normalizes. An integer becomes a number as the sum of itself and zero
    that is normalized, and a number an integer as one that is aligned and not normalized.
    """

    OPERATIONS = _ADD | _FROM_INTEGER | _TO_INTEGER

    def __init__(self, number: Format, operations: frozenset[FloatOp]) -> None:
        self._number = number
        self._operations = operations & self.OPERATIONS
        super().__init__({
            "operation": In(FloatOp),
            "first": In(Operand(number)),
            "second": In(Operand(number)),
            "smaller": In(1),
            "result": Out(number.width),
        })

    def _is_of(self, operations: frozenset[FloatOp]) -> Value:
        """Whether the operation is one of these; constant where it must or cannot be."""
        present = self._operations & operations
        if not present or present == self._operations:
            return Const(bool(present), 1)
        return Value.cast(self.operation).matches(*sorted(op.value for op in present))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        number, first, second = self._number, self.first, self.second
        precision = number.precision
        add, from_integer = s.now("add", self._is_of(_ADD)), s.now("from_integer", self._is_of(_FROM_INTEGER))
        to_integer = s.now("to_integer", self._is_of(_TO_INTEGER))
        is_signed = s.now("is_signed", self._is_of(_SIGNED))
        # A sum has a bit above the larger operand. Integers come at the upper end and leave below that bit.
        width = precision + _BELOW + 1
        if self._operations & _FROM_INTEGER:
            width = max(width, number.width)
        if self._operations & _TO_INTEGER:
            width = max(width, number.width + 1)

        # 1: the operand of larger magnitude, and by how many places the other one is below it.
        swap = s.now("swap", self.smaller | to_integer)
        first_sign = s.now("first_sign", first.sign & (add | is_signed))
        second_sign = s.now("second_sign", second.sign ^ self._is_of(frozenset({FloatOp.FSUB})))
        opposite = s.now("differ", Mux(add, first_sign ^ second_sign, first_sign))
        a, b = self._significand(first), self._significand(second)
        large = s.later("large", Mux(swap, b, a) & add.replicate(precision), 2)
        small = s.later("small", Mux(swap, a, b))
        ae, be = effective_exponent(first), effective_exponent(second)
        one = number.bias + number.width - 1
        large_exponent = s.now("large_exponent", Mux(
            to_integer, one, Mux(from_integer, one - 1, Mux(swap, be, ae))))
        exponent = s.later("exponent", large_exponent, 4)
        distance = s.later("distance", large_exponent - Mux(swap, ae, be))
        nan = s.later("nan", add & (first.nan | second.nan | (first.infinite & second.infinite & opposite)), 6)
        infinite = s.later("infinite", add & (first.infinite | second.infinite), 6)
        sign = s.later("sign", Mux(add & self.smaller, second_sign, first_sign), 6)
        opposite = s.later("opposite", opposite, 2)
        sticky = s.later("sticky_far", add & ~Mux(swap, first.zero, second.zero))
        none = s.now("none_1", to_integer & (first.nan | (first.sign & ~is_signed)))
        none, is_other = s.later("none", none), s.later("is_other", none | from_integer)
        integer = s.later("integer", Cat(first.fraction, first.exponent, first.sign))
        add, from_integer = s.later("add_2", add), s.later("from_integer_2", from_integer)
        to_integer, is_signed = s.later("to_integer_2", to_integer), s.later("is_signed_2", is_signed)

        # 2: the smaller one, or an integer for it, moves right; the lowest bit stands for all that leaves.
        top = s.later("top", integer[-1] & from_integer)
        places = min(bits_for(width - 2), number.exponent_bits)
        far = s.now("far", distance[places:-1].any() | is_other)
        move: Value = s.now("move", distance[:places] & ~from_integer.replicate(places))
        part: Value = Cat(Const(0, width - 1 - precision), small)
        below: Value = Const(0, 1)
        for step in steps(places, 1):
            below |= lost(part, move, step)
            part = s.now(f"part_{step[0]}", moved_right(part, move, step))
        coming = Cat(Const(0, max(width - number.width, 0)), integer[:-1])
        if self._operations <= _FROM_INTEGER:
            part, move = s.later("part", coming), Const(0, 1)
        elif self._operations & _FROM_INTEGER:
            part = s.now("part_or_integer", Mux(from_integer, coming, part))
            part = s.later_unless("part", part, far & ~from_integer)
        else:
            part = s.later_unless("part", part, far)
        sticky = s.later("sticky", Mux(far, sticky, below & add))
        add, move = s.later("add_3", add), s.later("move_last", move[0])
        is_large = to_integer & ~none & (distance[-1] | (is_signed & ~distance.any()))
        is_large, is_signed = s.later("is_large", is_large, 5), s.later("is_signed", is_signed, 5)
        to_integer = s.later("to_integer_5", to_integer, 3)

        # 3: the last place, and the sum, not negative: a difference, with the complement and a borrow for operands of
        # like sign. A bit takes one LUT.
        sticky = s.now("sticky_all", sticky | (part[0] & move & add))
        part = Mux(move, part[1:], part)
        alike = s.now("alike", ~opposite)
        total = s.later("sum", (
            Cat(Const(0, width - precision), large)
            - Cat(alike, Cat(part | sticky, top) ^ alike.replicate(width)))[1:width + 1])
        opposite = s.later("opposite_zero", opposite, 4)

        # 4: how far it must move left, 5: may, with the exponent that an absent leading one would have, 6: and does.
        count, is_any = s.leading_zeros("zeros", total[max(width - number.width, 0):])
        count, is_any, total = s.later("count", count), s.later("is_any", is_any), s.later("sum_later", total, 2)
        base = s.now("difference", exponent - count)
        if number.subnormals:
            count = s.now("limited", Mux(base[-1], exponent[:len(count)], count))
            is_zero: Value = ~is_any
        else:
            # Below -1, no rounding reaches the normal numbers.
            is_zero = ~is_any | (base < -1)
        count = s.later("move_left", count & ~to_integer.replicate(len(count)))
        for step in steps(len(count)):
            total = s.now(f"sum_{step[0]}", moved_left(total, count, step))
        to_integer = s.later("to_integer_6", to_integer)
        base = s.later("base_early", Mux(base[-1], 0, base)[:number.exponent_bits] if number.subnormals else base)
        zero, cancelled = s.later("zero", is_zero), s.later("cancelled", ~is_any, 2)
        base = s.later_unless("base", base, zero)
        total = s.later("normal", total) if number.subnormals else s.later_unless("normal", total, zero & ~to_integer)
        to_integer = s.later("to_integer_7", to_integer)

        # 7: rounding.
        value, guard, rest = total[-precision:], total[-precision - 1], total[:-precision - 1].any()
        overflow = base == number.special_exponent - 1
        converted: Value | None = None
        if self._operations & _TO_INTEGER:
            greatest = Cat((~sign).replicate(number.width - 1), sign | ~is_signed)
            converted = Mux(is_large, greatest, total[:number.width])
        m.d.comb += self.result.eq(packed(
            s, number, sign=sign & ~(cancelled & opposite), base=base, significand=value,
            up=guard & (rest | value[0]), nan=nan, infinite=infinite | overflow, integer=converted,
            is_integer=Const(1, 1) if self._operations <= _TO_INTEGER else to_integer))
        return m

    def _significand(self, operand: Any) -> Value:
        value = significand(operand)
        return value if self._number.subnormals else value & operand.normal.replicate(len(value))
