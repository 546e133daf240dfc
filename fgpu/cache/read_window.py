"""How many lines the slices of an AXI port have on their way from memory at a time."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config

__all__ = ["ReadWindow", "has_read_window"]

_LEAST = 4
"""Of a port: so many keep a memory busy that answers at once."""


def _least(config: Config) -> int:
    return max(_LEAST // config.port_slices, 1)


def has_read_window(config: Config) -> bool:
    """Whether slices have more tag managers than a memory wants that answers at once."""
    return config.slice_tag_managers > _least(config)


class ReadWindow(wiring.Component):
    """Says how many reads a slice may have under way: as many as keep the port busy.

    Requests are served in order, so each line that is on its way makes those behind it wait: stores, too, and the
    early write-backs of what they complete. Lines beyond what the memory's latency wants only make them wait longer.
    So a kernel begins with a window of four lines a port (but one for each slice), unless the one before it did not
    clean the cache. When the port gave nothing, though a slice was full, for as long as a burst of each slice takes,
    each may have a line more: with a memory that is far away the window grows while the first lines come.

    ``arrives``: the port gives a beat; ``are_full``: which slices have the ``most_reads``; ``restart`` (a pulse): the
    kernel has ended.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "most_reads": Out(range(config.slice_tag_managers + 1), init=_least(config)),
            "are_full": In(config.port_slices),
            "arrives": In(1),
            "restart": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        most = self.most_reads
        arrived = Signal()
        m.d.sync += arrived.eq(self.arrives)
        idle = Signal(exact_log2(self._config.burst_beats * self._config.port_slices))
        with m.If(self.restart):
            m.d.sync += [most.eq(most.init), idle.eq(0)]
        with m.Elif(self.are_full.any() & ~arrived):
            m.d.sync += idle.eq(idle + 1)
            with m.If(idle.all() & (most != self._config.slice_tag_managers)):
                m.d.sync += most.eq(most + 1)
        return m
