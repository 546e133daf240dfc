"""Fair choice among requesters."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["RoundRobin"]


class RoundRobin(wiring.Component):
    """Chooses the lowest requester above the one chosen last, or else the lowest; combinational.

    ``valid`` tells that there is one. With ``accept``, ``choice`` becomes the last one at the next edge.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        super().__init__({
            "requests": In(count), "accept": In(1), "valid": Out(1), "choice": Out(range(max(count, 2))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        above = Signal(self._count)     # the requesters above the last one
        candidates = Signal(self._count)
        m.d.comb += [
            self.valid.eq(self.requests.any()),
            candidates.eq(Mux((self.requests & above).any(), self.requests & above, self.requests)),
        ]
        for number in reversed(range(self._count)):
            with m.If(candidates[number]):
                m.d.comb += self.choice.eq(number)
        with m.If(self.accept & self.valid):
            for number in range(self._count):
                m.d.sync += above[number].eq(self.choice < number)
        return m
