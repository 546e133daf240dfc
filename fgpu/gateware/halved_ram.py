"""LUT RAM for wide payloads that are read in order."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .lut_ram import LutRam

__all__ = ["HalvedRam"]


class HalvedRam(wiring.Component):
    """Shows the current payload, or with ``look`` the following one, in the same cycle; ``step`` makes that current.

    ``given`` is written in each cycle with ``write``, at an entry that is free, and stays with ``push``, which comes
    in the same cycle, or in the next if ``late``. Who uses it knows what is there.

    Each half of a payload has a memory with counters and a ``look`` of its own: nets from one register to all of it
    are long. Synthesis tools would join the counters if they did not begin at different entries.

    Parameters
    ----------
    shape : ShapeLike
        Payload.
    depth : int
        Entries, a power of two.
    begun : bool
        Whether the first payload is the current one, and not the following one.
    late : bool
        Whether ``push`` is of the cycle before.
    """

    def __init__(self, shape: ShapeLike, depth: int, *, begun: bool, late: bool = False) -> None:
        self._depth = depth
        self._begun = begun
        self._late = late
        super().__init__({
            "given": In(shape), "write": In(1), "push": In(1), "look": In(2), "step": In(1), "shown": Out(shape),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, shown = Value.cast(self.given), Value.cast(self.shown)
        middle = len(given) // 2
        for number, bits in enumerate([slice(middle), slice(middle, None)]):
            m.submodules[f"storage{number}"] = storage = LutRam(len(given[bits]), self._depth)
            write, read = storage.write_port(), storage.read_port()
            free, current, following = (
                Signal.like(read.addr, name=f"{name}{number}", init=(number + later) % self._depth)
                for name, later in [("free", 0), ("current", 0), ("following", self._begun)])
            if self._late:
                next_free = Signal.like(free, name=f"next_free{number}", init=(number + 1) % self._depth)
                with m.If(self.push):
                    m.d.sync += [free.eq(next_free), next_free.eq(next_free + 1)]
                m.d.comb += write.addr.eq(Mux(self.push, next_free, free))
            else:
                with m.If(self.push):
                    m.d.sync += free.eq(free + 1)
                m.d.comb += write.addr.eq(free)
            m.d.comb += [
                write.data.eq(given[bits]), write.en.eq(self.write),
                read.addr.eq(Mux(self.look[number], following, current)), shown[bits].eq(read.data),
            ]
            with m.If(self.step):
                m.d.sync += [current.eq(following), following.eq(following + 1)]
        return m
