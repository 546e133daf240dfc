"""Multiplexers as synthesis tools like them."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Mux, Value

__all__ = ["choose"]


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
