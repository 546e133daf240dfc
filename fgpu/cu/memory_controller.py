"""The compute unit's memory controller (section 3.4.4): from phases of addresses to requests, and back."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from fgpu.config import BANKS, PE_COUNT, PHASES, Config
from fgpu.gateware.choose import choose
from fgpu.gateware.queue import Queue
from fgpu.interfaces.memory_bus import MemoryOp, MemoryRequest, Row

from .coalescer import PLACES, Coalescer, RowAccess, Scatter
from .pipeline import FLOAT_RESULT_STAGE, RESULT_STAGE, bank_shift
from .register_file import RegisterWrite, Words, bank_address
from .vector import PhaseAccess

__all__ = ["MemoryController"]

_ROW_FIFO_DEPTH = 16
_LOAD_QUEUE_DEPTH = 16
"""Of requests: two for each wavefront's load of consecutive words."""


class Station(data.StructLayout):
    """A row access of a load that waits for its row from a cache slice; stations are served in order."""

    def __init__(self, config: Config) -> None:
        super().__init__({
            "new_row": 1,
            "slice": config.slice_bits,
            "wavefront": 3,
            "phase": 3,
            "rd": 5,
            "last": 1,
            "lanes": PE_COUNT,
            "words": data.ArrayLayout(exact_log2(config.row_words), PE_COUNT),
        })


class LoadRequest(data.StructLayout):
    """What a load asks for: some rows of a line."""

    def __init__(self, config: Config) -> None:
        super().__init__({"line": config.line_address_bits, "rows": config.line_rows})


class RequestBuilder(wiring.Component):
    """Turns row accesses into memory requests and stations.

    A load's rows of one line are collected into one request as long as they ascend. The open request
    leaves when the line changes, the instruction ends, or the stations are full. Latency 1 cycle for
    stores and atomic operations, 2 for loads.

    Requests of loads wait in a queue, where stores pass them, so that what is ready can leave. That keeps the
    order within each wavefront, which does not store while it waits for a load, and nothing passes a store.
    Until it is accepted, a read may thus be withdrawn in favour of a write. What is answered keeps its order:
    atomic operations wait until the queue is empty.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "accesses": In(stream.Signature(RowAccess(config))),
            "store_data": In(Words),
            "requests": Out(stream.Signature(MemoryRequest(config))),
            "stations": Out(stream.Signature(Station(config))),
            "idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        access: Any = self.accesses.payload
        request: Any = self.requests
        station: Any = self.stations

        m.submodules.scatter = scatter = Scatter(config)
        m.d.comb += [scatter.access.eq(access), scatter.store_data.eq(self.store_data)]

        opened = Signal()
        line = Signal(config.line_address_bits)
        rows = Signal(config.line_rows)
        close = Signal()           # the open request is complete
        row_bit = Signal(config.line_rows)
        m.d.comb += row_bit.eq(1 << access.row_index)
        new_row, ascends = access.other_line | access.other_row, ~access.other_line & access.higher
        # The cache answers in ascending order. While a request is open, the access before is part of it.
        joins = Signal()
        m.d.comb += joins.eq(opened & ~close & ascends)

        m.submodules.loads = loads = Queue(LoadRequest(config), depth=_LOAD_QUEUE_DEPTH)
        load_free = loads.input.ready
        direct_out = Signal(MemoryRequest(config))      # a store or an atomic operation
        direct_valid = Signal()
        atomic = access.atomic & new_row if config.atomics else Const(0)
        direct = Signal()          # a request of its own, which leaves at once
        direct_free = Signal()
        m.d.comb += [
            direct.eq(~access.load | atomic),
            direct_free.eq(~opened & (~direct_valid | request.ready) & ~(atomic & loads.output.valid)),
            request.valid.eq(direct_valid | loads.output.valid),
            request.payload.eq(direct_out),
            loads.output.ready.eq(request.ready & ~direct_valid),
            loads.input.payload.line.eq(line),
            loads.input.payload.rows.eq(rows),
        ]
        with m.If(~direct_valid):
            m.d.comb += [
                request.payload.op.eq(MemoryOp.READ),
                request.payload.line.eq(loads.output.payload.line),
                request.payload.rows.eq(loads.output.payload.rows),
            ]
        needs_flush = Signal()     # the open request must leave before this access of a load is taken
        m.d.comb += needs_flush.eq(opened & new_row & (close | ~ascends))

        flush = Signal()
        m.d.comb += flush.eq(opened & (close | (self.accesses.valid & (direct | needs_flush | ~station.ready))))

        take = Signal()
        goes = Signal()            # all but the station is ready
        m.d.comb += [
            goes.eq(self.accesses.valid & Mux(direct, direct_free, ~needs_flush | load_free)),
            take.eq(goes & (station.ready | ~access.load)),
        ]
        m.d.comb += [
            self.accesses.ready.eq(take),
            station.valid.eq(goes & access.load),
            station.payload.new_row.eq(new_row),
            station.payload.slice.eq(access.line),
            station.payload.wavefront.eq(access.wavefront),
            station.payload.phase.eq(access.phase),
            station.payload.rd.eq(access.rd),
            station.payload.last.eq(access.last),
            station.payload.lanes.eq(access.lanes),
            self.idle.eq(~opened & ~request.valid),
        ]
        for lane in range(PE_COUNT):        # the old word comes as word 0
            m.d.comb += station.payload.words[lane].eq(Mux(atomic, 0, access.words[lane]))

        m.d.comb += loads.input.valid.eq(flush)
        with m.If(flush & load_free):
            m.d.sync += [opened.eq(0), close.eq(0)]
        with m.If(request.ready):
            m.d.sync += direct_valid.eq(0)
        with m.If(take & direct):
            m.d.sync += [
                direct_valid.eq(access.lanes.any()),
                direct_out.op.eq(MemoryOp.WRITE),
                direct_out.line.eq(access.line),
                direct_out.rows.eq(row_bit),
                direct_out.row.eq(scatter.row),
                direct_out.strobe.eq(scatter.strobe),
            ]
            if config.atomics:
                m.d.sync += direct_out.operation.eq(access.operation)
                with m.If(atomic):
                    m.d.sync += direct_out.op.eq(MemoryOp.ATOMIC)
        with m.If(take & ~direct):
            with m.If(new_row):
                m.d.sync += [
                    opened.eq(1),
                    line.eq(access.line),
                    rows.eq(Mux(joins, rows, 0) | row_bit),
                    close.eq(access.last),
                ]
            with m.Elif(access.last & opened & ~(flush & load_free)):
                m.d.sync += close.eq(1)
        return m


class RowQueue(wiring.Component):
    """Rows from a cache slice; latency 1 cycle.

    ``valid``: there is a next row. ``row`` is the next one while ``look`` is high, and else the one before, which
    stays in the LUT RAM: so it needs no register, and its words no multiplexers.
    """

    def __init__(self, config: Config, depth: int) -> None:
        self._config = config
        self._depth = depth
        super().__init__({
            "input": In(stream.Signature(Row(config))),
            "valid": Out(1),
            "look": In(1),
            "take": In(1),
            "row": Out(Row(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.storage = storage = Memory(shape=Row(self._config), depth=2 * self._depth, init=[],
                                                attrs={"ram_style": "distributed"})
        write, read = storage.write_port(), storage.read_port(domain="comb")
        level = Signal(range(self._depth + 1))
        following = Signal.like(read.addr)
        before = Signal.like(read.addr)
        push = self.input.valid & self.input.ready
        m.d.comb += [
            self.input.ready.eq(level != self._depth),
            self.valid.eq(level != 0),
            write.data.eq(self.input.payload),
            write.en.eq(push),
            read.addr.eq(Mux(self.look, following, before)),
            self.row.eq(read.data),
        ]
        m.d.sync += level.eq(level + push - self.take)
        with m.If(push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(self.take):
            m.d.sync += [before.eq(following), following.eq(following + 1)]
        return m


class LoadReturn(wiring.Component):
    """Hands rows to the waiting stations in order and writes registers; one phase a cycle, latency 1.

    Of the rows of each slice ``rows_depth`` find room before they are ``taken``. It keeps off the banks that the
    vector writes, and in the cycle after ``float_next`` the floating-point units (see
    :class:`~fgpu.cu.register_file.RegisterFile`). ``done`` names a wavefront whose load is complete.

    In the 512 cycles after a reset ``clear`` is high, ``load`` writes zero to each register of a bank, and no station
    may come: memories come up with anything, but r0 reads as zero because nothing else ever writes it.
    """

    def __init__(self, config: Config, rows_depth: int) -> None:
        self._config = config
        self._rows_depth = rows_depth
        members: dict[str, Any] = {
            "beat": In(2),
            "stations": In(stream.Signature(Station(config))),
            "rows": In(stream.Signature(Row(config))).array(config.axi_ports),
            "taken": Out(config.axi_ports),
            "load": Out(RegisterWrite, init={"lanes": -1}),
            "clear": Out(1, init=1),
            "done": Out(1),
            "done_wavefront": Out(3),
        }
        if config.float_ops:
            members["float_next"] = In(1)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        station: Any = self.stations.payload
        queues = [RowQueue(self._config, self._rows_depth) for _ in self.rows]
        if len(queues) == 1:
            row_valid, current = queues[0].valid, queues[0].row
        else:
            row_valid = choose([queue.valid for queue in queues], station.slice)
            current = choose([queue.row for queue in queues], station.slice)
        # The write happens in the next cycle, when the vector has the bank that is the number of the beat before.
        assert bank_shift(RESULT_STAGE - 1) == bank_shift(1)
        before = Signal(exact_log2(BANKS), init=BANKS - 1)
        m.d.sync += before.eq(self.beat)
        clear = station.phase[:2] != before
        if self._config.float_ops:
            of_floats = (self.beat + bank_shift(FLOAT_RESULT_STAGE - 1))[:exact_log2(BANKS)]
            clear &= ~(self.float_next & (station.phase[:2] == of_floats))
        go = Signal()
        m.d.comb += [
            go.eq(self.stations.valid & clear & (~station.new_row | row_valid)),
            self.stations.ready.eq(go),
        ]
        for number, queue in enumerate(queues):
            m.submodules[f"rows{number}"] = queue
            connect(m, flipped(self.rows[number]), queue.input)
            m.d.comb += [
                self.taken[number].eq(go & station.new_row & (station.slice == number)),
                queue.look.eq(station.new_row),
                queue.take.eq(self.taken[number]),
            ]
        view = data.View(Row(self._config), current)
        # The place in a bank, which counts up while the registers are cleared.
        place = bank_address(self.load.register, self.load.phase, self.load.wavefront)
        following = Signal(len(place) + 1)
        clears = self.clear & ~following[-1]
        m.d.comb += following.eq(
            Mux(self.clear, place, bank_address(station.rd, station.phase, station.wavefront)) + self.clear)
        m.d.sync += [
            place.eq(following),
            self.clear.eq(clears),
            self.load.phase[:2].eq(station.phase[:2]),
            # Nothing else ever writes r0.
            self.load.lanes.eq(Mux(go & (station.rd != 0), station.lanes, clears.replicate(PE_COUNT))),
            self.done.eq(go & station.last),
            self.done_wavefront.eq(station.wavefront),
        ]
        for lane in range(PE_COUNT):
            m.d.sync += self.load.words[lane].eq(Mux(self.clear, 0, choose(list(view), station.words[lane])))
        return m


class MemoryController(wiring.Component):
    """Phases of accesses from the vector to cache requests, rows from the cache to registers.

    ``reserve`` announces an instruction's phases at issue (0 to 8 in ``reserve_phases``), and ``ready``
    says whether eight more phases would find room. ``idle``: nothing is under way. ``float_next``: in the next cycle
    the floating-point units write registers. ``clear``: ``load`` clears all registers, for 512 cycles after a reset
    or ``clear_registers``, which may come while it is idle.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._row_fifo_depth = _ROW_FIFO_DEPTH if config.axi_ports == 1 else 2 * _ROW_FIFO_DEPTH
        members: dict[str, Any] = {
            "beat": In(2),
            "access": In(PhaseAccess(config)),
            "access_valid": In(1),
            "reserve": In(range(PHASES + 1)),
            "ready": Out(1),
            "requests": Out(stream.Signature(MemoryRequest(config))),
            "responses": In(stream.Signature(Row(config))).array(config.axi_ports),
            "load": Out(RegisterWrite),
            "clear_registers": In(1),
            "clear": Out(1),
            "done": Out(1),
            "done_wavefront": Out(3),
            "idle": Out(1),
        }
        if config.float_ops:
            members["float_next"] = In(1)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.coalescer = coalescer = Coalescer(config)
        m.submodules.builder = builder = RequestBuilder(config)
        # One of them is in the output register.
        m.submodules.stations = stations = Queue(Station(config), depth=config.cu_stations - 1, registered=True)
        load_return = LoadReturn(config, self._row_fifo_depth)
        m.submodules.load_return = ResetInserter(self.clear_registers)(load_return)

        # Phases without any enabled work-item need no place, except the last of an instruction.
        wanted = Signal()
        m.d.comb += [
            wanted.eq(self.access.lanes.any() | self.access.last),
            coalescer.phase.eq(self.access),
            coalescer.phase_valid.eq(self.access_valid & wanted),
            builder.store_data.eq(coalescer.store_data),
        ]
        reserved = Signal(range(PLACES + 1))
        leaving = Cat(coalescer.released, self.access_valid & ~wanted)
        m.d.sync += [
            reserved.eq(reserved + self.reserve - leaving[0] - leaving[1]),
            self.ready.eq(reserved <= PLACES - PHASES),
        ]

        connect(m, coalescer.accesses, builder.accesses)
        connect(m, builder.requests, flipped(self.requests))
        connect(m, stations.output, load_return.stations)
        m.d.comb += [
            stations.input.payload.eq(builder.stations.payload),
            stations.input.valid.eq(builder.stations.valid & builder.stations.ready),
            builder.stations.ready.eq(stations.input.ready & self._room_for_row(m, builder, load_return)),
            load_return.beat.eq(self.beat),
            self.load.eq(load_return.load),
            self.clear.eq(load_return.clear),
            self.done.eq(load_return.done),
            self.done_wavefront.eq(load_return.done_wavefront),
        ]
        if config.float_ops:
            m.d.comb += load_return.float_next.eq(self.float_next)
        for response, rows in zip(self.responses, load_return.rows, strict=True):
            connect(m, flipped(response), rows)
        m.d.sync += self.idle.eq(
            (reserved == 0) & builder.idle & ~stations.output.valid & ~load_return.done)
        return m

    def _room_for_row(self, m: Module, builder: RequestBuilder, load_return: LoadReturn) -> Value:
        """Whether the row FIFO of its slice has room for the row that a new station asks for.

        One slice may answer long before another that was asked earlier. If compute units then did not take its
        rows, two of them could wait for each other for ever.
        """
        station: Any = builder.stations
        if self._config.axi_ports == 1:
            return Const(1)
        full = []
        for number in range(self._config.axi_ports):
            asked = Signal(range(self._row_fifo_depth + 1), name=f"asked{number}")
            ask = station.valid & station.ready & station.payload.new_row & (station.payload.slice == number)
            m.d.sync += asked.eq(asked + ask - load_return.taken[number])
            full.append(asked == self._row_fifo_depth)
        return ~Array(full)[station.payload.slice]
