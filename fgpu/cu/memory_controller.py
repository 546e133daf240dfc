"""The compute unit's memory controller (section 3.4.4): from phases of addresses to requests, and back."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.config import PHASES, WAVEFRONT_BITS, Config
from fgpu.cu.pipeline import BEAT_BITS
from fgpu.gateware.queue import Queue
from fgpu.gateware.skid_buffer import SkidBuffer
from fgpu.interfaces.memory_bus import MemoryRequest, Responses, rows_under_way

from .coalescer import PHASE_ENTRIES, Coalescer
from .load_return import LoadReturn, Station
from .local_access import LocalAccess
from .local_memory import LocalMemory
from .local_step import LocalProbe
from .register_file import LoadWrite
from .request_builder import RequestBuilder
from .vector import PhaseAccess

__all__ = ["MemoryController"]

_ROW_FIFO_DEPTH = 15
"""With the row before, which stays, LUT RAM of 16."""


class MemoryController(wiring.Component):
    """Phases of accesses from the vector to cache requests, rows from the cache to registers.

    ``reserve`` announces an instruction's phases at issue (0 to 8), and ``ready``
    says whether eight more phases would find room. ``idle``: nothing is under way. ``float_next``: in the next cycle
    the floating-point units write registers. ``clear``: ``load`` clears all registers, for 512 cycles after a reset
    and 513 after ``clear_registers``, which may come while it is idle.

    With local memory its accesses (``local``) have a queue and room of their own, and both return to the registers.
    ``done_local``: the load that is done is a local one.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._row_fifo_depth = _ROW_FIFO_DEPTH if config.slices == 1 else 2 * _ROW_FIFO_DEPTH + 1
        members: dict[str, Any] = {
            "beat": In(BEAT_BITS),
            "access": In(PhaseAccess(config)),
            "access_valid": In(1),
            "reserve": In(range(PHASES + 1)),
            "ready": Out(1),
            "requests": Out(stream.Signature(MemoryRequest(config))),
            "responses": In(Responses(config)).array(config.slices),
            "load": Out(LoadWrite),
            "clear_registers": In(1),
            "clear": Out(1),
            "done": Out(1),
            "done_wavefront": Out(WAVEFRONT_BITS),
            "idle": Out(1),
        }
        if config.compute_units > 1:
            members["next_slice"] = Out(config.slices)
        if config.float_ops:
            members["float_next"] = In(1)
        if config.local_memory:
            members |= {
                "local": In(LocalAccess(config)), "local_valid": In(1), "local_reserve": In(range(PHASES + 1)),
                "local_ready": Out(1), "done_local": Out(1),
            }
            if config.statistics:
                members["local_probe"] = Out(LocalProbe)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.coalescer = coalescer = Coalescer(config)
        m.submodules.builder = builder = RequestBuilder(config)
        m.submodules.stations = stations = Queue(Station(config), depth=config.cu_stations)
        # Whether a station goes is known late, and must not have to go as far as the queue.
        m.submodules.next_stations = next_stations = SkidBuffer(Station(config))
        m.submodules.load_return = load_return = LoadReturn(config, self._row_fifo_depth)
        m.d.sync += load_return.clear_registers.eq(self.clear_registers)    # nobody is in a hurry

        m.d.comb += [
            coalescer.phase.eq(self.access),
            coalescer.phase_valid.eq(self.access_valid),
            builder.store_data.eq(coalescer.store_data),
        ]
        reserved = Signal(range(PHASE_ENTRIES + 1))
        leaving = Signal(2)
        m.d.sync += [
            leaving.eq(Cat(coalescer.released, coalescer.dropped)),
            reserved.eq(reserved + self.reserve - leaving[0] - leaving[1]),
            self.ready.eq(reserved <= PHASE_ENTRIES - PHASES),
        ]

        spacious = Signal()     # a cycle late: it goes far
        m.d.sync += spacious.eq(stations.spacious)
        connect(m, coalescer.accesses, builder.accesses)
        connect(m, builder.requests, flipped(self.requests))
        connect(m, stations.output, next_stations.input)
        connect(m, next_stations.output, load_return.stations)
        m.d.comb += [
            stations.input.payload.eq(builder.stations.payload),
            stations.input.valid.eq(builder.stations.valid & builder.stations.ready),
            builder.stations.ready.eq(spacious & self._room_for_row(m, builder, load_return)),
            load_return.beat.eq(self.beat),
            self.load.eq(load_return.load),
            self.clear.eq(load_return.clear),
            self.done.eq(load_return.done),
            self.done_wavefront.eq(load_return.done_wavefront),
        ]
        if config.compute_units > 1:
            m.d.comb += self.next_slice.eq(builder.next_slice)
        if config.float_ops:
            m.d.comb += load_return.float_next.eq(self.float_next)
        for response, rows in zip(self.responses, load_return.rows, strict=True):
            connect(m, flipped(response), rows)
        idle = ((reserved == leaving[0] + leaving[1]) & builder.idle & ~load_return.done
                & ~stations.output.valid & ~next_stations.output.valid)
        if config.local_memory:
            m.submodules.local = local = LocalMemory(config)
            connect(m, local.steps, load_return.local)
            m.d.comb += [
                local.access.eq(self.local), local.access_valid.eq(self.local_valid),
                local.reserve.eq(self.local_reserve), self.local_ready.eq(local.ready),
                local.halves.eq(load_return.load.halves), self.done_local.eq(load_return.done_local),
            ]
            if config.statistics:
                m.d.comb += self.local_probe.eq(local.probe)
            idle &= local.idle
        m.d.sync += self.idle.eq(idle)
        return m

    def _room_for_row(self, m: Module, builder: RequestBuilder, load_return: LoadReturn) -> Value:
        """Whether the row FIFO of its slice has room for the row that a new station asks for.

        One slice may answer long before another that was asked earlier. If compute units then did not take its
        rows, two of them could wait for each other for ever.
        """
        station: Any = builder.stations
        if self._config.slices == 1:
            return Const(1)
        full = []
        limit = self._row_fifo_depth + 1 - rows_under_way(self._config)     # the last one must find room, too
        for number in range(self._config.slices):
            asked = Signal(range(limit + 1), name=f"asked{number}")
            ask = station.valid & station.ready & station.payload.new_row & (station.payload.slice == number)
            m.d.sync += asked.eq(asked + ask - load_return.taken[number])
            full.append(asked == limit)
        return ~Array(full)[station.payload.slice]
