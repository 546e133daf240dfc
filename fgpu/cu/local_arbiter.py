"""Which lanes of a phase meet in a bank of local memory, and which of them it serves in a cycle."""

from collections.abc import Callable
from functools import reduce
from operator import and_
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, Config
from fgpu.gateware.choose import lowest

from .local_access import LocalAddress

__all__ = ["LANE_PAIRS", "LanePairs", "LocalArbiter", "pairs_of"]

LANE_PAIRS = [(lane, other) for other in range(PE_COUNT) for lane in range(other)]
"""Of lanes that may meet in a bank."""


def pairs_of(related: Callable[[int, int], Any]) -> Cat:
    """A bit for each of :data:`LANE_PAIRS`."""
    return Cat(related(lane, other) for lane, other in LANE_PAIRS)


_PART = 3
"""Bits of two lanes that one LUT compares."""


class LanePairs(wiring.Component):
    """Compares the ``addresses`` of all lanes; combinational. Bits belong to :data:`LANE_PAIRS`.

    ``parts``: whether two lanes have the same bank, and in each further part, whether they have the same few bits of
    row and byte. They are joined outside (:attr:`same_word`), because Yosys otherwise makes more LUTs of it all.
    """

    def __init__(self, config: Config) -> None:
        address = LocalAddress(config)
        bits = address.size - address["bank"].width
        super().__init__({
            "addresses": In(data.ArrayLayout(address, PE_COUNT)),
            "parts": Out(data.ArrayLayout(len(LANE_PAIRS), 1 + -(-bits // _PART))),
        })

    @property
    def same_bank(self) -> Value:
        """Whether they meet in a bank."""
        return Value.cast(self.parts[0])

    @property
    def same_word(self) -> Value:
        """Whether they have one word, of narrow stores one byte or half."""
        return reduce(and_, (Value.cast(part) for part in self.parts))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        addresses: Any = self.addresses
        others = [Cat(address.byte, address.row) for address in addresses]
        m.d.comb += self.parts[0].eq(pairs_of(lambda one, other: addresses[one].bank == addresses[other].bank))
        for number in range(1, len(self.parts)):
            some = [other[_PART * (number - 1):_PART * number] for other in others]
            m.d.comb += self.parts[number].eq(Cat(some[one] == some[other] for one, other in LANE_PAIRS))
        return m


class LocalArbiter(wiring.Component):
    """Chooses of the lanes that ``wait`` those that are ``served`` together; combinational.

    Each bank serves the highest lane that waits for it (``leaders``), and with it those of the same word: what they
    would store is overwritten by the highest. Bits of ``same_bank`` and ``same_word`` belong to :data:`LANE_PAIRS`;
    lanes that store different bytes of a word have different words here. Atomic operations (``atomic``) are served
    one by one, the lowest lane first.
    """

    wait: In(PE_COUNT)
    same_bank: In(len(LANE_PAIRS))
    same_word: In(len(LANE_PAIRS))
    atomic: In(1)
    leaders: Out(PE_COUNT)
    served: Out(PE_COUNT)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        number = {pair: index for index, pair in enumerate(LANE_PAIRS)}
        highest = Signal(PE_COUNT)
        for lane in range(PE_COUNT):
            above = range(lane + 1, PE_COUNT)
            blocked = Cat(self.wait[other] & self.same_bank[number[lane, other]] for other in above).any()
            joins = Cat(highest[other] & self.same_word[number[lane, other]] for other in above).any()
            m.d.comb += [
                highest[lane].eq(self.wait[lane] & ~blocked),
                self.served[lane].eq(self.leaders[lane] | (self.wait[lane] & joins & ~self.atomic)),
            ]
        m.d.comb += self.leaders.eq(Mux(self.atomic, lowest(self.wait), highest))
        return m
