"""The central cache: between the compute units and global memory."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.axi.signatures import AXI4Signature
from fgpu.config import Config
from fgpu.gateware.sharing import add_shared
from fgpu.interfaces.memory_bus import MemoryRequest, Row

from .cache_slice import CacheSlice
from .probe import CacheProbe, CacheProbes

__all__ = ["Cache"]


class Cache(wiring.Component):
    """``axi_ports`` independent slices, each with an AXI port; line after line belongs to one after the other.

    A compute unit has one stream of requests, in order, and a stream of responses from each slice: it
    knows which slice it asked. There is nothing between the requests and the arbiters of the slices, so that a
    request is accepted when the arbiter of its slice accepts it. Thus an access that was accepted
    before another one, of any compute unit and to any slice, comes first.

    ``clean_start`` (a pulse) cleans all slices, then ``clean_done`` is high for a cycle. ``idle``: all slices are.
    ``error``: one of them has one. With one port this is the slice itself. (Dissertation, section 3.5.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "requests": In(stream.Signature(MemoryRequest(config))).array(config.compute_units),
            "responses": Out(stream.Signature(Row(config))).array(config.compute_units, config.axi_ports),
            "axi": Out(AXI4Signature(data_width=config.axi_data_width)).array(config.axi_ports),
            "clean_start": In(1),
            "clean_done": Out(1),
            "idle": Out(1),
            "error": Out(1),
        }
        if config.statistics:
            members["probe"] = Out(CacheProbes(config.axi_ports))
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        slices: list[Any] = [add_shared(m, f"slice{number}", platform, "cache_slice", lambda: CacheSlice(config))
                             for number in range(config.axi_ports)]
        for number, part in enumerate(slices):
            self._connect_memory(m, part, number)
            m.d.comb += part.clean_start.eq(self.clean_start)
        for cu in range(config.compute_units):
            self._connect_compute_unit(m, cu, slices)
        m.d.comb += [
            self.clean_done.eq(self._all_done(m, [part.clean_done for part in slices])),
            self.idle.eq(Cat(part.idle for part in slices).all()),
            self.error.eq(Cat(part.error for part in slices).any()),
        ]
        if config.statistics:
            for number, part in enumerate(slices):
                for name, _ in CacheProbe.as_shape():
                    m.d.comb += self.probe[name][number].eq(part.probe[name])
        return m

    def _connect_compute_unit(self, m: Module, cu: int, slices: list[Any]) -> None:
        """Requests go to the slice that the lowest bits of their line name; the slice sees the other bits."""
        bits = self._config.slice_bits
        request = self.requests[cu]
        line = request.payload.line
        ready = Signal(len(slices), name=f"ready{cu}")
        for number, part in enumerate(slices):
            mine = line[:bits] == number if bits else Const(1)
            m.d.comb += [
                part.requests[cu].valid.eq(request.valid & mine),
                part.requests[cu].payload.eq(request.payload),
                part.requests[cu].payload.line.eq(line >> bits),
                ready[number].eq(part.requests[cu].ready & mine),
            ]
            connect(m, part.responses[cu], flipped(self.responses[cu][number]))
        m.d.comb += request.ready.eq(ready.any())

    def _connect_memory(self, m: Module, part: Any, number: int) -> None:
        """The slice's number goes back into the addresses."""
        config, axi = self._config, self.axi[number]
        connect(m, part.axi, flipped(axi))
        if config.slice_bits:
            offset = config.line_offset_bits
            for mine, its in ((axi.araddr, part.axi.araddr), (axi.awaddr, part.axi.awaddr)):
                m.d.comb += mine.eq(Cat(its[:offset], Const(number, config.slice_bits), its[offset:]))

    @staticmethod
    def _all_done(m: Module, done: list[Signal]) -> Value:
        """High when the last of them had its pulse."""
        if len(done) == 1:
            return done[0]
        before = Signal(len(done))
        finished = Cat(done) | before
        with m.If(finished.all()):
            m.d.sync += before.eq(0)
        with m.Else():
            m.d.sync += before.eq(finished)
        return finished.all()
