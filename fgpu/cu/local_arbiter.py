"""Which lanes of a phase the banks of local memory serve in a cycle."""

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT
from fgpu.gateware.choose import lowest

__all__ = ["LANE_PAIRS", "LocalArbiter", "pairs_of"]

LANE_PAIRS = [(lane, other) for other in range(PE_COUNT) for lane in range(other)]
"""Of lanes that may meet in a bank."""


def pairs_of(related: Callable[[int, int], Any]) -> Cat:
    """A bit for each of :data:`LANE_PAIRS`."""
    return Cat(related(lane, other) for lane, other in LANE_PAIRS)


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
