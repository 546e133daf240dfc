"""Fair choice among requesters."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .choose import above_lowest, first_above, number_of

__all__ = ["RoundRobin"]


class RoundRobin(wiring.Component):
    """Chooses the lowest requester above the one chosen last, or else the lowest; combinational.

    ``valid`` tells that there is one, ``chosen`` has its bit. ``offered`` has a bit for each who would be chosen if
    it asked, whether it does or not: a ready that does not follow its own valid. With ``accept``, ``choice`` becomes
    the last one at the next edge.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        super().__init__({
            "requests": In(count), "accept": In(1), "valid": Out(1), "choice": Out(range(max(count, 2))),
            "chosen": Out(count), "offered": Out(count),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        above = Signal(self._count)     # the requesters above the last one
        m.d.comb += [
            self.valid.eq(self.requests.any()),
            self.chosen.eq(first_above(self.requests, above)),
            self.choice.eq(number_of(self.chosen)),
        ]
        first = self.requests & above
        for number in range(self._count):
            below = first[:number].any()
            m.d.comb += self.offered[number].eq(
                ~Mux(above[number], below, below | first[number + 1:].any() | self.requests[:number].any()))
        with m.If(self.accept & self.valid):
            m.d.sync += above.eq(above_lowest(self.chosen))
        return m
