"""Multiplexers and priorities as synthesis tools like them."""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value

__all__ = ["above_lowest", "choose", "either", "encode_lowest", "first_above", "look_up", "lowest", "number_of",
           "only"]


def choose(values: Sequence[Any], index: Any) -> Value:
    """``values[index]`` as a tree of two-way multiplexers, each steered by one bit of ``index``.

    An :class:`~amaranth.hdl.Array` becomes a decoder and a tree steered by its outputs, from which Yosys makes half
    as many LUTs again. There must be a value for every number that ``index`` can be.
    """
    values = [Value.cast(value) for value in values]
    index = Value.cast(index)
    if len(values) != 1 << len(index):
        raise ValueError(f"{len(values)} values need an index of another width than {len(index)}")
    for bit in index:
        values = [Mux(bit, odd, even) for even, odd in zip(values[::2], values[1::2], strict=True)]
    return values[0]


def either(parts: Any) -> Value:
    """The OR of several words, of which all but one are 0."""
    return reduce(or_, map(Value.cast, parts))


def look_up(table: Sequence[bool], index: Any) -> Value:
    """A bit of a constant table: :func:`choose`, without what is the same for several indices.

    Synthesis tools make fewer levels of it than of the comparisons of a ``Switch``.
    """
    if all(table) or not any(table):
        return C(bool(table[0]), 1)
    half = len(table) // 2
    bit, rest = index[-1], index[:-1]
    low, high = table[:half], table[half:]
    if list(low) == list(high):
        return look_up(low, rest)
    return Mux(bit, look_up(high, rest), look_up(low, rest))


def above_lowest(requests: Value) -> Value:
    """All bits above the lowest that is set; with no bit set, none."""
    return Cat(requests[:number].any() for number in range(len(requests)))


def lowest(requests: Value) -> Value:
    """The lowest set bit alone; with no bit set, none."""
    return Cat(requests[number] & ~requests[:number].any() for number in range(len(requests)))


def first_above(requests: Value, above: Value) -> Value:
    """The lowest set bit of those ``above`` alone, or else the lowest; with no bit set, none."""
    first = requests & above
    return Mux(first.any(), lowest(first), lowest(requests))


def encode_lowest(m: Module, number: Signal, requests: Value, *, first: int = 0, domain: str = "comb") -> None:
    """Priority encoder: assign the number of the lowest set bit, counted from ``first``. With none, nothing is."""
    for bit in reversed(range(len(requests))):
        with m.If(requests[bit]):
            m.d[domain] += number.eq(first + bit)


def number_of(one_hot: Value) -> Value:
    """The number of the one bit that is set; with none, 0."""
    count = len(one_hot)
    return Cat(Cat(one_hot[number] for number in range(count) if number >> bit & 1).any()
               for bit in range(max(count - 1, 1).bit_length()))


def only(values: Sequence[Any], one_hot: Value) -> Value:
    """The one of ``values`` whose bit is set, or 0: faster than :func:`choose` where the bit is known first."""
    total: Value = C(0, 1)
    for number, value in enumerate(values):
        bits = Value.cast(value)
        total = total | (bits & one_hot[number].replicate(len(bits)))
    return total
