"""From accesses to rows of the cache to memory requests (section 3.4.4)."""

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, Config
from fgpu.gateware.choose import above_lowest
from fgpu.gateware.queue import Queue, WideQueue
from fgpu.interfaces.line_map import LineMap
from fgpu.interfaces.memory_bus import MemoryOp, MemoryRequest

from .coalescer import RowAccess
from .load_return import Station
from .register_file import Words
from .scatter import Scatter

__all__ = ["RequestBuilder"]

_LOADS = 16
"""Requests that wait, beside the one in the register: two for each wavefront's load of consecutive words."""

_DIRECTS = 4
"""Requests: one leaves while another comes, and two may come before it is known that there is no room."""


class LoadRequest(data.StructLayout):
    """What a load asks for: some rows of a line."""

    def __init__(self, config: Config) -> None:
        super().__init__({"slice": config.slice_bits, "line": config.line_address_bits, "rows": config.line_rows,
                          **({"scattered": 1} if config.cache_conscious else {})})


class _Content(data.StructLayout):
    """What a store or atomic operation brings along, which only the cache's data stage looks at."""

    def __init__(self, config: Config) -> None:
        super().__init__({name: field.shape for name, field in MemoryRequest(config) if name in ("row", "strobe")})


class _Head(data.StructLayout):
    """The rest of a request, which decides where it goes and when."""

    def __init__(self, config: Config) -> None:
        super().__init__({name: field.shape for name, field in MemoryRequest(config)
                          if name not in (*_Content(config).members, "scattered")})


class RequestBuilder(wiring.Component):
    """Turns row accesses into memory requests and stations; finds the places of lines in the cache.

    A load's rows of one line are collected into one request as long as they ascend. The open request
    leaves when the line changes, the instruction ends, or the stations are full. It is ``scattered`` as long as each
    of its accesses has one lane. Latency 2 cycles.

    Requests of loads wait in a queue, where stores pass them, so that what is ready can leave. That keeps the
    order within each wavefront, which does not store while it waits for a load, and nothing passes a store.
    Until it is accepted, a read may thus be withdrawn in favour of a write. What is answered keeps its order:
    atomic operations wait until the queue is empty.

    ``next_slice``, where others compete: the slice, one-hot, of the request that is likely there in the next cycle if
    this cycle's is accepted, or none.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "accesses": In(stream.Signature(RowAccess(config))),
            "store_data": In(Words),
            "requests": Out(stream.Signature(MemoryRequest(config))),
            "stations": Out(stream.Signature(Station(config))),
            "idle": Out(1),
        }
        if config.compute_units > 1:
            members["next_slice"] = Out(config.slices)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        access: Any = self.accesses.payload
        peek = "slice" if config.compute_units > 1 else None
        # From registers: what comes next is on its way through the arbiter to the tags in the same cycle.
        m.submodules.loads = loads = Queue(LoadRequest(config), depth=_LOADS, registered=True, peek=peek)
        # Stores and atomic operations; their contents in LUT RAM: as wide registers would wait for who is far away.
        m.submodules.directs = directs = Queue(_Head(config), depth=_DIRECTS - 1, registered=True, peek=peek)
        m.submodules.contents = contents = WideQueue(_Content(config), depth=_DIRECTS)

        lines = LineMap(config)
        access_slice, access_line = Signal(config.slice_bits), Signal(config.line_address_bits)
        row_bit = Signal(config.line_rows)
        atomic = access.atomic & access.new_row if config.atomics else Const(0)
        direct = Signal()          # a request of its own, which leaves at once
        m.d.comb += [
            access_slice.eq(lines.slice(access.line)), access_line.eq(lines.place(access.line)),
            row_bit.eq(1 << access.row_index), direct.eq(~access.load | atomic),
        ]
        take = Signal()
        m.d.comb += take.eq(self.accesses.valid & self.accesses.ready)
        placed_valid, placed = self._place(m, take & direct, atomic, access_slice, access_line, row_bit,
                                           directs, contents)
        opened, slice = self._gather(m, take, direct, access_slice, access_line, row_bit, loads)
        load_room = Signal()        # found a cycle before, as this steers much
        m.d.sync += load_room.eq(loads.spacious)
        direct_free = Signal()
        room = Signal()            # all but the station is ready
        m.d.comb += [
            direct_free.eq(directs.spacious & ~(atomic & (opened | loads.output.valid))),
            room.eq(Mux(direct, direct_free, load_room)),
            self.accesses.ready.eq(room & (self.stations.ready | ~access.load)),
            self.idle.eq(~opened & ~placed_valid & ~self.requests.valid),
        ]
        self._reserve(m, room, atomic, access_slice)
        self._send(m, directs, contents, loads)
        if config.compute_units > 1:
            self._tell_next_slice(m, directs, loads, (placed_valid, placed.slice), (opened, slice))
        return m

    def _place(self, m: Module, taken: Value, atomic: Value, slice: Signal, line: Signal, row_bit: Signal,
               directs: Queue, contents: WideQueue) -> tuple[Signal, Any]:
        """Stores and atomic operations: a cycle later they are requests, by when their words are at their places."""
        access: Any = self.accesses.payload
        m.submodules.scatter = scatter = Scatter(self._config)
        m.d.comb += [scatter.access.eq(access), scatter.store_data.eq(self.store_data)]
        placed = Signal(MemoryRequest(self._config))      # all but its row, which comes a cycle later
        placed_valid = Signal()
        m.d.sync += [
            placed_valid.eq(taken & access.lanes.any()),
            placed.op.eq(MemoryOp.WRITE),
            placed.slice.eq(slice),
            placed.line.eq(line),
            placed.rows.eq(row_bit),
            placed.strobe.eq(scatter.strobe),
        ]
        if self._config.atomics:
            m.d.sync += placed.operation.eq(access.operation)
            with m.If(atomic):
                m.d.sync += placed.op.eq(MemoryOp.ATOMIC)
        m.d.comb += [
            directs.input.valid.eq(placed_valid), contents.input.valid.eq(placed_valid),
            *(directs.input.payload[name].eq(placed[name]) for name in _Head(self._config).members),
            directs.input.payload.whole.eq(placed.strobe.all()),
            contents.input.payload.row.eq(scatter.row), contents.input.payload.strobe.eq(placed.strobe),
        ]
        return placed_valid, placed

    def _gather(self, m: Module, take: Signal, direct: Signal, access_slice: Signal, access_line: Signal,
                row_bit: Signal, loads: Queue) -> tuple[Signal, Signal]:
        """Loads of one line gather in a request that is open; whether there is one, and its slice."""
        access: Any = self.accesses.payload
        new_row, ascends = access.new_row, access.ascends
        opened = Signal()
        slice = Signal(self._config.slice_bits)
        line = Signal(self._config.line_address_bits)
        rows = Signal(self._config.line_rows)
        close = Signal()           # the open request is complete
        # The cache answers in ascending order. While a request is open, the access before is part of it.
        joins = Signal()
        needs_flush = Signal()     # the open request must leave before this access of a load is taken
        flush = Signal()
        m.d.comb += [
            joins.eq(opened & ~close & ascends),
            needs_flush.eq(opened & new_row & (close | ~ascends)),
            flush.eq(opened & (close | (self.accesses.valid & (direct | needs_flush | ~self.stations.ready)))),
            loads.input.valid.eq(flush),
            loads.input.payload.slice.eq(slice),
            loads.input.payload.line.eq(line),
            loads.input.payload.rows.eq(rows),
        ]
        leaves = flush & loads.input.ready
        with m.If(leaves):
            m.d.sync += [opened.eq(0), close.eq(0)]
        with m.If(take & ~direct):
            with m.If(new_row):
                m.d.sync += [
                    opened.eq(1),
                    slice.eq(access_slice),
                    line.eq(access_line),
                    rows.eq(Mux(joins, rows, 0) | row_bit),
                    close.eq(access.last),
                ]
            with m.Elif(access.last & opened & ~leaves):
                m.d.sync += close.eq(1)
        if self._config.cache_conscious:
            scattered = Signal()
            lone = ~(access.lanes & above_lowest(access.lanes)).any()
            m.d.comb += loads.input.payload.scattered.eq(scattered)
            with m.If(take & ~direct):
                m.d.sync += scattered.eq(lone & (scattered | (new_row & ~joins)))
        return opened, slice

    def _reserve(self, m: Module, room: Signal, atomic: Value, access_slice: Signal) -> None:
        """A station for each access that is answered."""
        access: Any = self.accesses.payload
        station: Any = self.stations
        m.d.comb += [
            station.valid.eq(self.accesses.valid & room & access.load),
            station.payload.new_row.eq(access.new_row), station.payload.looks.eq(access.new_row.replicate(2)),
            station.payload.slice.eq(access_slice),
            *(station.payload[name].eq(access[name]) for name in ("wavefront", "phase", "rd", "last", "lanes")),
        ]
        for lane in range(PE_COUNT):        # the old word comes as word 0
            m.d.comb += station.payload.words[lane].eq(Mux(atomic, 0, access.words[lane]))

    def _send(self, m: Module, directs: Queue, contents: WideQueue, loads: Queue) -> None:
        """Stores and atomic operations go before loads."""
        request: Any = self.requests
        direct: Any = directs.output
        load: Any = loads.output
        m.d.comb += [
            request.valid.eq(direct.valid | load.valid),
            *(request.payload[name].eq(direct.payload[name]) for name in _Head(self._config).members),
            *(request.payload[name].eq(contents.output.payload[name]) for name in _Content(self._config).members),
            direct.ready.eq(request.ready), contents.output.ready.eq(request.ready),
            load.ready.eq(request.ready & ~direct.valid),
        ]
        with m.If(~direct.valid):
            m.d.comb += [
                request.payload.op.eq(MemoryOp.READ),
                request.payload.slice.eq(load.payload.slice),
                request.payload.line.eq(load.payload.line),
                request.payload.rows.eq(load.payload.rows),
            ]
        if self._config.cache_conscious:
            m.d.comb += request.payload.scattered.eq(load.payload.scattered)

    def _tell_next_slice(self, m: Module, directs: Queue, loads: Queue, placed: tuple[Any, Any],
                         opened: tuple[Any, Any]) -> None:
        """Stores and atomic operations go before loads; each kind in its queue, or about to come there."""
        slice, likely = Signal(self._config.slice_bits, name="next_slice_number"), Signal()
        m.d.comb += likely.eq(1)
        with m.If(directs.has_second):
            m.d.comb += slice.eq(directs.second)
        with m.Elif(placed[0]):
            m.d.comb += slice.eq(placed[1])
        with m.Elif(directs.output.valid & loads.output.valid):
            m.d.comb += slice.eq(loads.output.payload.slice)
        with m.Elif(loads.has_second):
            m.d.comb += slice.eq(loads.second)
        with m.Else():
            m.d.comb += [likely.eq(opened[0]), slice.eq(opened[1])]
        m.d.comb += self.next_slice.eq(Mux(likely, 1 << slice, 0))
