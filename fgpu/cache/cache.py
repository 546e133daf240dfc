"""The central cache: between the compute units and global memory."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.axi.signatures import AXI4Signature
from fgpu.config import Config
from fgpu.gateware.sharing import add_shared
from fgpu.interfaces.line_map import LineMap
from fgpu.interfaces.memory_bus import Loading, LoadTurn, MemoryRequest, Responses

from .cache_slice import CacheSlice
from .log import LineLog
from .port_mux import PortMux
from .probe import CacheProbe, CacheProbes
from .read_window import ReadWindow, has_read_window
from .unit_turn import UnitTurn

__all__ = ["Cache"]


class Cache(wiring.Component):
    """``config.slices`` slices that are independent, one or several on each AXI port. Requests name theirs, and
    ``next_slice`` tells which one the next is likely to name (:class:`~fgpu.cu.request_builder.RequestBuilder`).

    A compute unit has one stream of requests, in order, and a stream of responses from each slice. Nothing is
    between the requests and the arbiters of the slices: a request is accepted when the arbiter of its slice
    accepts it. Thus an access that was accepted before another one, of any compute unit and to any slice, comes
    first.

    ``clean_start`` (a pulse) cleans all slices; in the cycle after they are ``clean_done`` is high. ``idle``: all
    slices are. ``error``: one of them had one a cycle ago. ``load_turns``: who loads, 2 cycles after a slice has said
    so (:class:`~fgpu.cache.reuse_monitor.ReuseMonitor`). One slice is the cache itself.
    (Dissertation, section 3.5.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "requests": In(stream.Signature(MemoryRequest(config))).array(config.compute_units),
            "responses": Out(Responses(config)).array(config.compute_units, config.slices),
            "axi": Out(AXI4Signature(data_width=config.axi_data_width)).array(config.axi_ports),
            "clean_start": In(1),
            "clean_done": Out(1),
            "idle": Out(1),
            "error": Out(1),
        }
        if config.cache_conscious:
            members["load_turns"] = Out(LoadTurn).array(config.compute_units)
        if config.compute_units > 1:
            members["next_slice"] = In(config.slices).array(config.compute_units)
        if config.statistics:
            members["probe"] = Out(CacheProbes(config.slices))
            members["lines"] = Out(LineLog).array(config.slices)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        slices: list[Any] = [add_shared(m, f"slice{number}", platform, "cache_slice", lambda: CacheSlice(config))
                             for number in range(config.slices)]
        for port in range(config.axi_ports):
            self._connect_memory(m, port, slices)
        for part in slices:
            m.d.comb += part.clean_start.eq(self.clean_start)
        for cu in range(config.compute_units):
            self._connect_compute_unit(m, cu, slices)
        m.d.sync += [
            self.clean_done.eq(self._all_done(m, [part.clean_done for part in slices])),
            self.error.eq(Cat(part.error for part in slices).any()),
        ]
        m.d.comb += self.idle.eq(Cat(part.idle for part in slices).all())
        if config.cache_conscious:
            self._give_load_turns(m, slices)
        if config.statistics:
            for number, part in enumerate(slices):
                for name, _ in CacheProbe.as_shape():
                    m.d.comb += self.probe[name][number].eq(part.probe[name])
                self._log(m, number, part)
        return m

    def _connect_compute_unit(self, m: Module, cu: int, slices: list[Any]) -> None:
        """Requests go to the slice that they name."""
        request = self.requests[cu]
        ready = Signal(len(slices), name=f"ready{cu}")
        for number, part in enumerate(slices):
            mine = request.payload.slice == number if len(slices) > 1 else Const(1)
            m.d.comb += [
                part.requests[cu].valid.eq(request.valid & mine),
                part.requests[cu].payload.eq(request.payload),
                ready[number].eq(part.requests[cu].ready & mine),
            ]
            if self._config.compute_units > 1:
                m.d.comb += part.likely[cu].eq(self.next_slice[cu][number] & (request.ready | ~request.valid))
            connect(m, part.responses[cu], flipped(self.responses[cu][number]))
        m.d.comb += request.ready.eq(ready.any())

    def _connect_memory(self, m: Module, port: int, slices: list[Any]) -> None:
        """The slices of a port, which know lines by their places. The lower bits of their numbers are the port's."""
        config = self._config
        mine = list(enumerate(slices))[port::config.axi_ports]
        masters: list[Any] = [flipped(self.axi[port])]
        if len(mine) > 1:
            m.submodules[f"port_mux{port}"] = mux = PortMux(config)
            connect(m, mux.axi, flipped(self.axi[port]))
            masters = list(mux.slices)
        if has_read_window(config):
            m.submodules[f"read_window{port}"] = window = ReadWindow(config)
            m.d.comb += [window.arrives.eq(self.axi[port].rvalid), window.restart.eq(self.clean_start)]
            for place, (_, part) in enumerate(mine):
                m.d.comb += [part.most_reads.eq(window.most_reads), window.are_full[place].eq(part.is_full)]
        lines, offset = LineMap(config), config.line_offset_bits
        for (number, part), master in zip(mine, masters, strict=True):
            connect(m, part.axi, master)
            # Assigned once more, and last: what connect says of addresses does not count.
            for its, there in ((part.axi.araddr, master.araddr), (part.axi.awaddr, master.awaddr)):
                line = lines.line(Const(number, config.slice_bits), its[offset:])
                m.d.comb += there.eq(Cat(its[:offset], line))

    def _give_load_turns(self, m: Module, slices: list[Any]) -> None:
        """Each slice says who shall load; the one that says most counts."""
        crowded, one_unit = Signal(), Signal()
        m.d.sync += [
            crowded.eq(Cat(part.loading != Loading.ALL for part in slices).any()),
            one_unit.eq(Cat(part.loading == Loading.ONE_UNIT for part in slices).any()),
        ]
        for mine in self.load_turns:
            m.d.sync += [mine.crowded.eq(crowded), mine.unit.eq(1)]
        if self._config.compute_units == 1:
            return
        m.submodules.unit_turn = turn = UnitTurn(self._config)
        m.d.comb += [turn.wanted.eq(one_unit), turn.requests.eq(Cat(request.valid for request in self.requests))]
        for cu, mine in enumerate(self.load_turns):
            m.d.sync += mine.unit.eq(turn.unit[cu] | ~one_unit)

    def _log(self, m: Module, number: int, part: Any) -> None:
        """The slice's own log, but with addresses as the compute units know them."""
        m.d.comb += self.lines[number].eq(part.log)
        offset, lines = self._config.line_offset_bits, LineMap(self._config)
        for name in ("line", "victim"):
            place = part.log[name][offset:]
            line = lines.line(Const(number, self._config.slice_bits), place)
            m.d.comb += self.lines[number][name].eq(line << offset)

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
