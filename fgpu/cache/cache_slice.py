"""A slice of the central cache: a cache of its own with an AXI port of its own."""

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.axi.signatures import AXI4Signature
from fgpu.config import Config
from fgpu.interfaces.memory_bus import Loading, MemoryRequest, Responses

from ..gateware.queue import Queue, WideQueue
from .arbiter import Arbiter
from .axi_master import AXIMaster
from .cleaner import Cleaner
from .data_stage import DataStage
from .early_cleaner import EarlyCleaner
from .line_buffer import LineBuffer
from .log import LineLog
from .payloads import Station, TagOp, WriteRow
from .probe import CacheProbe
from .read_window import has_read_window
from .reuse_monitor import ReuseMonitor
from .tag_manager import TagManagers
from .tag_memory import TagMemory
from .tag_stage import TagStage
from .write_pipeline import WritePipeline

__all__ = ["CacheSlice"]


class CacheSlice(wiring.Component):
    """A write-back cache that serves requests in order while its misses overlap.

    ::

                 tag memory <->|
        requests -> arbiter -> tag stage -> stations ----> data stage -> responses
                      |         |    |                     ^   ^   |
                      |         |    tag managers          |   |   write pipeline
                      |         |         |                |   |       |
                      |         |    AXI master ---> line buffer <-----|---> AXI master
                      |         +-- read bursts, early         |
                      +---- rows of writes (write queue) ------+

    The tags run ahead of the data, as in a prefetching texture cache: the tag stage decides hit or miss and
    requests the read burst up to ``global_stations`` requests before the data stage needs the line. So
    nothing is ever replayed, and a hit after a miss is a hit.

    A slice does not know that there are others: it has the lines whose addresses it gets.
    Requests of a compute unit are served in order; see :mod:`fgpu.interfaces.memory_bus`. A read hit responds 5
    cycles after its request, a read miss with the first row 7 cycles + memory latency after it. ``clean_start`` (a
    pulse) writes back all dirty bytes and invalidates all lines, then ``clean_done`` is high for a cycle.
    ``idle`` tells that there is no request anywhere, and no burst, but early write-backs. ``likely``: see
    :class:`~fgpu.cache.turns.Turns`. A read or write error of
    the memory shows in ``error`` for one cycle. ``most_reads`` and ``is_full``: see
    :class:`~fgpu.cache.read_window.ReadWindow`; ``loading``: see :class:`~fgpu.cache.reuse_monitor.ReuseMonitor`.
    (Dissertation, section 3.5 and figure 3.7.)

    A reset must reset the memory's AXI port too; afterwards the cache empties itself, and takes no request before.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "requests": In(stream.Signature(MemoryRequest(config))).array(config.compute_units),
            "responses": Out(Responses(config)).array(config.compute_units),
            "axi": Out(AXI4Signature(data_width=config.axi_data_width)),
            "clean_start": In(1),
            "clean_done": Out(1),
            "idle": Out(1),
            "error": Out(1),
        }
        if config.compute_units > 1:
            members["likely"] = In(config.compute_units)
        if config.cache_conscious:
            members["loading"] = Out(Loading)
        if has_read_window(config):
            members |= {"most_reads": In(range(config.slice_tag_managers + 1)), "is_full": Out(1)}
        if config.statistics:
            members |= {"probe": Out(CacheProbe), "log": Out(LineLog)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.arbiter = arbiter = Arbiter(config)
        m.submodules.tag_memory = tag_memory = TagMemory(config)
        m.submodules.tag_stage = tags = TagStage(config)
        m.submodules.tag_managers = managers = TagManagers(config)
        m.submodules.stations = stations = Queue(Station(config), depth=config.global_stations, registered=True)
        m.submodules.write_queue = writes = WideQueue(WriteRow(config), depth=config.slice_write_rows, late=True)
        m.submodules.data_stage = data_stage = DataStage(config)
        m.submodules.line_buffer = buffer = LineBuffer(config)
        m.submodules.write_pipeline = pipeline = WritePipeline(config)
        m.submodules.axi_master = master = AXIMaster(config)
        m.submodules.cleaner = cleaner = Cleaner(config)
        m.submodules.early_cleaner = early = EarlyCleaner(config)

        if config.compute_units > 1:
            m.d.comb += arbiter.likely.eq(self.likely)
        for cu in range(config.compute_units):
            connect(m, flipped(self.requests[cu]), arbiter.requests[cu])
            connect(m, data_stage.responses[cu], flipped(self.responses[cu]))
        connect(m, cleaner.requests, arbiter.cleaner)
        connect(m, cleaner.sweep, tags.sweep)
        connect(m, tags.written, early.written)
        connect(m, tags.completed, early.completed)
        connect(m, early.finished, cleaner.finished)
        connect(m, arbiter.granted, tags.requests)
        connect(m, tags.stations, stations.input)
        connect(m, tags.tag_managers, managers.tag_stage)
        connect(m, stations.output, data_stage.stations)
        connect(m, writes.output, data_stage.writes)
        connect(m, data_stage.buffer, buffer.port)
        connect(m, data_stage.filled, managers.filled)
        connect(m, tags.fills, master.reads)
        connect(m, managers.write_backs, master.writes)
        connect(m, pipeline.beats, master.write_beats)
        connect(m, master.read_beats, buffer.beats)
        connect(m, master.written, managers.written)
        connect(m, master.axi, flipped(self.axi))
        # Block RAM shows a row late in its cycle: behind it is a register. What of it leaves is known a cycle later.
        evicted = Signal.like(data_stage.evicted.payload)
        evicts = Signal()
        m.d.sync += [
            pipeline.input.push.eq(data_stage.evicted_rows.push),
            pipeline.input.row.eq(data_stage.evicted_rows.row),
            evicts.eq(data_stage.evicted.valid), evicted.eq(data_stage.evicted.payload),
            managers.evicted.valid.eq(evicts), managers.evicted.payload.eq(evicted),
        ]
        m.d.comb += [
            pipeline.input.reserve.eq(data_stage.evicted_rows.reserve),
            data_stage.evicted_rows.room.eq(pipeline.input.room),
            master.span.eq(pipeline.span),

            early.allowed.eq(managers.retirable),
            early.retired.eq(tags.retired),
            early.premature.eq(tags.premature),
            early.repeated.eq(tags.repeated),
            early.flush.eq(cleaner.hold),
            tag_memory.step.eq(arbiter.step), tag_memory.next_set.eq(arbiter.next_set),
            tags.tags.eq(tag_memory.tags), tag_memory.write.eq(tags.tag_write),
            tags.stations_room.eq(stations.spacious),
            arbiter.hold.eq(cleaner.hold),
            arbiter.writes_room.eq(writes.spacious),
            writes.input.valid.eq(arbiter.writes.valid),
            writes.input.payload.eq(arbiter.writes.payload),
            arbiter.admit_reads.eq(self._admit_reads(m, arbiter, tags, managers)),
            cleaner.start.eq(self.clean_start),
            cleaner.pending.eq(arbiter.pending),
            cleaner.idle.eq(arbiter.idle & tags.idle & data_stage.idle & managers.idle),
            self.clean_done.eq(cleaner.done),
            self.idle.eq(cleaner.serving & arbiter.idle & tags.idle & data_stage.idle & ~managers.demand
                         & ~arbiter.pending),
            self.error.eq(master.error),
        ]
        if config.cache_conscious:
            m.submodules.reuse_monitor = reuse = ReuseMonitor(config)
            m.d.comb += [
                reuse.passes.eq(tags.passes), reuse.partial.eq(tags.partial), reuse.whole.eq(tags.whole),
                reuse.scattered.eq(tags.scattered),
                reuse.miss.eq(~tags.hit), reuse.restart.eq(self.clean_start), self.loading.eq(reuse.loading),
            ]
        if config.statistics:
            self._probe(m, tags, managers, data_stage)
            self._log(m, tags, managers)
        return m

    def _admit_reads(self, m: Module, arbiter: Arbiter, tags: TagStage, managers: TagManagers) -> Value:
        """Whether a tag manager is left for a read that is accepted now, even if those before it miss, and it is
        one of the ``most_reads``."""
        count = self._config.slice_tag_managers
        if count == 1:
            return Const(1)     # else only every other cycle could accept a read
        wanted = arbiter.reads_inside + tags.needs_tag_manager
        if count == 2:
            return managers.free > wanted       # the same, if it were known a cycle ahead
        fits, fits_another = managers.free > wanted, managers.free > wanted + 1
        if has_read_window(self._config):
            reads = managers.filling + wanted
            m.d.sync += self.is_full.eq(reads >= self.most_reads)
            fits, fits_another = fits & (reads < self.most_reads), fits_another & (reads + 1 < self.most_reads)
        admit = Signal()
        m.d.sync += admit.eq(Mux(arbiter.read_comes, fits_another, fits))
        return admit

    def _log(self, m: Module, tags: TagStage, managers: TagManagers) -> None:
        log: Any = self.log
        station = tags.stations.payload
        offset = self._config.line_offset_bits
        m.d.comb += [
            log.request.eq(tags.accepted),
            log.op.eq(Mux(station.write, TagOp.WRITE, TagOp.READ)),
            log.unit.eq(station.cu),
            log.hit.eq(tags.hit),
            log.line.eq(tags.tag_managers.line << offset),
            log.fill.eq(tags.fills.valid),
            log.eviction.eq(tags.stations.valid & station.evict),
            log.victim.eq(tags.tag_managers.allocations.payload.victim << offset),
            log.manager.eq(station.tag_manager),
            log.write_back.eq(managers.write_backs.valid),
            log.writes.eq(managers.write_backs.payload.id),
            log.filled.eq(managers.filled.valid),
            log.fills.eq(managers.filled.payload),
            log.written.eq(managers.written.valid),
            log.wrote.eq(managers.written.payload),
            log.valid.eq(log.request | log.fill | log.eviction | log.write_back | log.filled | log.written),
        ]
        if self._config.atomics:
            with m.If(station.atomic):
                m.d.comb += log.op.eq(TagOp.ATOMIC)

    def _probe(self, m: Module, tags: TagStage, managers: TagManagers, data_stage: DataStage) -> None:
        write = tags.stations.payload.write
        m.d.comb += [
            self.probe.read_hit.eq(tags.accepted & ~write & tags.hit),
            self.probe.read_miss.eq(tags.accepted & ~write & ~tags.hit),
            self.probe.write_hit.eq(tags.accepted & write & tags.hit),
            self.probe.write_miss.eq(tags.accepted & write & ~tags.hit),
            self.probe.pending_hit.eq(tags.accepted & tags.hit & managers.pending),
            self.probe.fill.eq(tags.fills.valid),
            self.probe.fill_merge.eq(tags.fills.valid & tags.stations.payload.merge),
            self.probe.eviction.eq(tags.stations.valid & tags.stations.payload.evict),
            self.probe.stall_station.eq(tags.stall.station),
            self.probe.stall_tag_manager.eq(tags.stall.tag_manager),
            self.probe.stall_victim.eq(tags.stall.victim),
            self.probe.data_busy.eq(data_stage.busy),
            self.probe.data_wait.eq(data_stage.stations.valid & ~data_stage.busy),
            self.probe.axi_read.eq(self.axi.rvalid & self.axi.rready),
            self.probe.axi_write.eq(self.axi.wvalid & self.axi.wready),
        ]
