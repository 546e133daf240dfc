"""Where lines live in the cache: which slice has them, and which set of it."""

from functools import reduce
from operator import xor
from typing import Any

from amaranth.hdl import Cat, Value
from amaranth.utils import exact_log2

from fgpu.config import Config

__all__ = ["LineMap"]

_HASHED_BITS = 12
"""Bits of a line address above those of slice and set that choose these, too."""

_IRREDUCIBLE = (0b1, 0b11, 0b111, 0b1011, 0b10011, 0b100101, 0b1000011, 0b10000011, 0b100011011, 0b1000010001,
                0b10000001001, 0b100000000101)
"""Of each degree a polynomial over GF(2) without factors, and with few terms."""


class LineMap:
    """A line address becomes the number of a *slice* and the line's *place* there, whose low bits are the set.

    With ``address_hash="identity"`` these are the low bits, one after the other. With "xor" they are the same bits,
    each with some higher ones added modulo 2, so that what is a power of two apart does not meet in one place: as if
    the address, a polynomial over GF(2), were divided by two that have no factor in common, one for the slice and
    one for the set. Of lines that are 2**n apart, as many as there are places, each then has its own, and of
    successive ones among them as many as there are slices have different slices.
    (B. R. Rau, *Pseudo-randomly interleaved memory*, ISCA 1991.)

    Numbers may be integers or values of hardware; these then are two levels of LUTs.
    """

    def __init__(self, config: Config) -> None:
        self._slice_bits = low = config.slice_bits
        # To each bit of the result the bits of the line that are added, and the other way round.
        self._there = [1 << bit for bit in range(config.line_address_bits)]
        if config.address_hash == "xor":
            self._add(low, low + exact_log2(config.cache_sets))
        self._back = list(self._there)
        for bit in reversed(range(len(self._there))):       # each has itself and higher ones
            above = self._there[bit] & ~(1 << bit)
            self._back[bit] = reduce(xor, (row for n, row in enumerate(self._back) if above >> n & 1), 1 << bit)

    def _add(self, low: int, middle: int) -> None:
        """What is added to the bits of the slice, those below ``low``, and of the set, below ``middle``."""
        slices, sets = _IRREDUCIBLE[low], _IRREDUCIBLE[middle - low]
        bits = range(low, min(middle + _HASHED_BITS, len(self._there)))
        for bit in bits:
            for number in range(low):
                self._there[number] |= (_remainder(bit, slices) >> number & 1) << bit
        # In a slice, lines meet whose remainders are the same, and also if that of the slice is added to them. But
        # then bits below ``low`` leave nothing, and those below ``middle`` are a basis for those above.
        basis: dict[int, tuple[int, int]] = {}      # by leading bit: a sum of their remainders, and of which
        for bit in bits:
            rest, of = _remainder(bit, sets) ^ _remainder(bit, slices), 0
            while rest and rest.bit_length() in basis:
                value, which = basis[rest.bit_length()]
                rest, of = rest ^ value, of ^ which
            if bit < middle:
                basis[rest.bit_length()] = rest, of ^ 1 << bit
            else:
                for number in range(low, middle):
                    self._there[number] |= (of >> number & 1) << bit

    def slice(self, line: Any) -> Any:
        """The number of the slice."""
        return _sums(self._there[:self._slice_bits], line)

    def place(self, line: Any) -> Any:
        """The place in the slice."""
        return _sums(self._there[self._slice_bits:], line)

    def line(self, slice: Any, place: Any) -> Any:
        """The line of a place in a slice."""
        if isinstance(slice, Value) or isinstance(place, Value):
            bits = self._slice_bits
            return _sums(self._back, Cat(slice[:bits], place[:len(self._back) - bits]))
        return _sums(self._back, slice | place << self._slice_bits)


def _remainder(bit: int, polynomial: int) -> int:
    """x to the power of ``bit``, modulo a polynomial; its bits are coefficients."""
    rest = 1 << bit
    while rest.bit_length() >= polynomial.bit_length():
        rest ^= polynomial << rest.bit_length() - polynomial.bit_length()
    return rest


def _sums(rows: list[int], number: Any) -> Any:
    """For each row the sum, modulo 2, of the bits of a number that it names."""
    if isinstance(number, Value):
        return Cat(Cat(bit for n, bit in enumerate(number) if row >> n & 1).xor() for row in rows)
    return sum(((number & row).bit_count() & 1) << n for n, row in enumerate(rows))
