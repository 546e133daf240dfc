"""The tag stage: settles in order, long before the data stage, which line lives where."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config
from fgpu.gateware.lut_ram import LutRam

from .axi_master import LineTransfer
from .payloads import Allocation, Station, TagOp, TagRequest, set_bits, tag_manager_bits

__all__ = ["GROUP_LINES", "LineState", "Sweep", "TagStage", "TagStall"]

GROUP_LINES = 8
"""Lines whose states are one entry of memory, so that the cleaner sees them all in one cycle."""


class LineState(data.Struct):
    """What the tag stage knows of an entry of the cache, besides the tag (dissertation, section 3.5.3).

    A valid line that is not populated holds nothing but its dirty bytes.
    """

    valid: 1
    populated: 1
    """*Block valid*."""
    dirty: 1


class Sweep(wiring.Signature):
    """The cleaner's view of the line states, one group of 8 lines a cycle.

    While ``active``, ``dirty`` shows the lines of ``group`` that are dirty, and ``invalidate`` makes all of
    them invalid at the end of the cycle. No request of a compute unit may be in the tag stage.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "active": Out(1),
            "group": Out(exact_log2(config.slice_lines // GROUP_LINES)),
            "invalidate": Out(1),
            "dirty": In(GROUP_LINES),
        })


class TagStall(data.Struct):
    """Why the tag stage waits."""

    station: 1
    """No room in the stations."""
    tag_manager: 1
    """No tag manager is free."""
    victim: 1
    """The write-back of the very line that is wanted isn't acknowledged yet."""


class TagStage(wiring.Component):
    """Tags and states of all lines; one request a cycle.

    Step T0 reads the tags and the states of the line's set and chooses an entry there, the one that has the line or
    the one that was not used for the longest time (of 4: for a long time). T1 decides, updates both, and passes
    the request on to the ``stations``. Latency 1 cycle from ``requests`` to ``stations``.

    ========================  ======================  ==================================================
    request                   tag manager             new state
    ========================  ======================  ==================================================
    read, populated           none                    the same
    read, not populated       fill and merge          populated
    read, other line          fill, evict if dirty    this line, populated, clean
    atomic                    as a read               as a read, but dirty
    write, this line          none                    dirty
    write, other line         evict if dirty          this line, not populated, dirty
    clean                     evict                   the same: the cleaner invalidates
    scrub                     none                    the same: the cleaner invalidates
    retire, complete          evict                   populated, clean
    retire, not populated     evict                   invalid
    retire, else              none, and no station    the same
    ========================  ======================  ==================================================

    The read burst of a fill is requested at once (``fills``). T1 waits for room in the stations, for a free
    tag manager if it needs one, and, on a miss, while an older copy of the line is on its way to memory
    (``conflict``), or an older copy of its ``victim``: neither a read nor a second write-back may overtake it.

    A line is complete when all its rows were written, each with all its bytes at once, since it was allocated or
    last written back early. ``completed`` reports that, ``written`` the lines that a write allocates, ``retired``
    the end of a retire. (Dissertation, section 3.5.4.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "requests": In(stream.Signature(TagRequest(config))),
            "stations": Out(stream.Signature(Station(config))),
            "allocations": Out(stream.Signature(Allocation(config))),
            "spare": In(tag_manager_bits(config)),
            "spare_retirement": In(tag_manager_bits(config)),
            "line": Out(config.line_address_bits),
            "conflict": In(1),
            "victim": Out(config.line_address_bits),
            "victim_conflict": In(1),
            "fills": Out(stream.Signature(LineTransfer(config), always_ready=True)),
            "sweep": In(Sweep(config)),
            "idle": Out(1),
            "written": Out(stream.Signature(config.line_address_bits, always_ready=True)),
            "completed": Out(stream.Signature(config.line_address_bits, always_ready=True)),
            "retired": Out(1),
            "needs_tag_manager": Out(1),
            "accepted": Out(1),
            "hit": Out(1),
            "stall": Out(TagStall),
        }
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        low, ways = set_bits(config), range(config.cache_ways)
        tag_bits = config.line_address_bits - low
        group_bits = exact_log2(GROUP_LINES)

        def memories(name: str, shape: ShapeLike, depth: int) -> list[LutRam]:
            """A memory for each way."""
            each = [LutRam(shape, depth) for _ in ways]
            for way, memory in enumerate(each):
                m.submodules[f"{name}{way}" if len(ways) > 1 else name] = memory
            return each

        tags = memories("tags", tag_bits, config.cache_sets)
        tag_reads, tag_writes = [tag.read_port() for tag in tags], [tag.write_port() for tag in tags]
        states = memories("states", data.ArrayLayout(LineState, GROUP_LINES), config.cache_sets // GROUP_LINES)
        state_reads = [state.read_port() for state in states]
        state_writes = [state.write_port(granularity=1) for state in states]
        # Which rows of a line were written completely: when all were, the line is complete.
        written_rows = memories("written_rows", config.line_rows, config.cache_sets)
        written_reads = [rows.read_port() for rows in written_rows]
        written_writes = [rows.write_port() for rows in written_rows]

        t1_valid = Signal()
        t1 = Signal(TagRequest(config))
        t1_match = Signal()
        t1_old_tag = Signal(tag_bits)
        t1_old = Signal(LineState)
        t1_new = Signal(LineState)
        t1_old_written = Signal(config.line_rows)
        t1_new_written = Signal(config.line_rows)
        t1_next_written = Signal(config.line_rows)
        t1_set = t1.line[:low]
        t1_way = Signal(exact_log2(config.cache_ways))
        t1_go = Signal()
        t1_serves = Signal()
        t1_settles = Signal()

        # T0
        t0 = self.requests.payload
        t0_set = t0.line[:low]
        t0_tag = t0.line[low:]
        t0_way = Signal(exact_log2(config.cache_ways))
        t0_follows = Signal()
        group_set, group_way = self.sweep.group[:low - group_bits], self.sweep.group[low - group_bits:]
        entries = []    # of the set: whether the tag is that of the line, the tag, the state, the rows written
        m.d.comb += [
            self.requests.ready.eq(~t1_valid | t1_go),
            # T1 writes the memories only now: what it leaves is known without them.
            t0_follows.eq(t1_settles & (t1_set == t0_set)),
        ]
        for way in ways:
            match, state = Signal(name=f"t0_match{way}"), Signal(LineState, name=f"t0_state{way}")
            follows = t0_follows & (t1_way == way)
            tag_read, state_read, written_read = tag_reads[way], state_reads[way], written_reads[way]
            m.d.comb += [
                tag_read.addr.eq(t0_set),
                written_read.addr.eq(t0_set),
                state_read.addr.eq(Mux(self.sweep.active, group_set, t0_set[group_bits:])),
                match.eq(Mux(follows, t1.line[low:] == t0_tag, tag_read.data == t0_tag)),
                state.eq(Mux(follows, t1_new.as_value(), state_read.data[t0_set[:group_bits]].as_value())),
            ]
            with m.If(group_way == way):
                m.d.comb += self.sweep.dirty.eq(Cat(state_read.data[line].dirty for line in range(GROUP_LINES)))
            entries.append((match, Mux(follows, t1.line[low:], tag_read.data), state.as_value(),
                           Mux(follows, t1_next_written, written_read.data)))
        t0_match, t0_old_tag, t0_old, t0_written = entries[0]
        if len(ways) > 1:
            t1_scrubs = t1_valid & (t1.op == TagOp.SCRUB)
            t0_match = self._choose_way(m, t0_way, entries, t1_serves, t1_scrubs, t1_set, t1_way)
            _, t0_old_tag, t0_old, t0_written = (Array(each)[t0_way] for each in zip(*entries, strict=True))
        with m.If(self.requests.ready):
            m.d.sync += t1_valid.eq(self.requests.valid)
            with m.If(self.requests.valid):
                m.d.sync += [
                    t1.eq(t0),
                    t1_way.eq(t0_way),
                    t1_match.eq(t0_match),
                    t1_old_tag.eq(t0_old_tag),
                    t1_old.eq(t0_old),
                    t1_old_written.eq(t0_written),
                ]

        # T1
        hit = Signal()
        fill = Signal()
        evict = Signal()
        complete = Signal()
        atomic = t1.op == TagOp.ATOMIC if config.atomics else Const(0)
        m.d.comb += [
            hit.eq(t1_match & t1_old.valid),
            t1_new.eq(t1_old),
            t1_new_written.eq(Mux(hit, t1_old_written, 0)),
            complete.eq(t1_new_written.all()),
            # A new round begins when the line is written back.
            t1_next_written.eq(Mux(t1.op == TagOp.RETIRE, 0, t1_new_written)),
            t1_serves.eq(t1_valid & ((t1.op == TagOp.READ) | (t1.op == TagOp.WRITE) | atomic)),
            t1_settles.eq(t1_serves | (t1_valid & (t1.op == TagOp.RETIRE) & evict)),
        ]
        with m.Switch(t1.op):
            with m.Case(TagOp.READ, TagOp.ATOMIC):
                m.d.comb += [
                    fill.eq(~hit | ~t1_old.populated),
                    evict.eq(~hit & t1_old.valid & t1_old.dirty),
                    t1_new.valid.eq(1),
                    t1_new.populated.eq(1),
                    t1_new.dirty.eq((hit & t1_old.dirty) | atomic),
                ]
            with m.Case(TagOp.WRITE):
                m.d.comb += [
                    evict.eq(~hit & t1_old.valid & t1_old.dirty),
                    t1_new.valid.eq(1),
                    t1_new_written.eq(Mux(hit, t1_old_written, 0) | (t1.rows & t1.whole.replicate(config.line_rows))),
                    t1_new.populated.eq((hit & t1_old.populated) | complete),
                    t1_new.dirty.eq(1),
                ]
            with m.Case(TagOp.CLEAN):
                m.d.comb += evict.eq(1)
            with m.Case(TagOp.RETIRE):
                m.d.comb += [
                    evict.eq(hit & t1_old.dirty & (complete | ~t1_old.populated) & ~self.conflict),
                    t1_new.valid.eq(complete),
                    t1_new.populated.eq(complete),
                    t1_new.dirty.eq(0),
                ]

        m.d.comb += [
            self.line.eq(t1.line),
            self.stall.station.eq(t1_valid & ~self.stations.ready),
            self.victim.eq(Cat(t1_set, t1_old_tag)),
            self.stall.victim.eq(t1_serves & ~hit & (self.conflict | (evict & self.victim_conflict))),
            self.stall.tag_manager.eq(t1_valid & (fill | evict) & ~self.allocations.ready),
            t1_go.eq(t1_valid & ~self.stall.as_value().any()),
            self.stations.valid.eq(t1_go & (evict | (t1.op != TagOp.RETIRE))),
            self.allocations.valid.eq(t1_go & (fill | evict)),
            self.fills.valid.eq(t1_go & fill),
            self.fills.payload.line.eq(t1.line),
            self.fills.payload.id.eq(self.spare),
            self.allocations.payload.fill.eq(fill),
            self.allocations.payload.evict.eq(evict),
            self.allocations.payload.retire.eq(t1.op == TagOp.RETIRE),
            self.allocations.payload.victim.eq(self.victim),
            self.stations.payload.index.eq(Cat(t1_set, t1_way)),
            self.stations.payload.rows.eq(t1.rows),
            self.stations.payload.cu.eq(t1.cu),
            self.stations.payload.write.eq(t1.op == TagOp.WRITE),
            self.stations.payload.walk.eq(fill | evict | (t1.op == TagOp.SCRUB)),
            self.stations.payload.fill.eq(fill),
            self.stations.payload.merge.eq(fill & hit),
            self.stations.payload.evict.eq(evict),
            self.stations.payload.keep.eq((t1.op == TagOp.RETIRE) & complete),
            self.stations.payload.tag_manager.eq(
                Mux(t1.op == TagOp.RETIRE, self.spare_retirement, self.spare)),
        ]
        # What is served is written while it waits, too, again and again: that it goes is known late.
        for way in ways:
            tag_write, state_write, written_write = tag_writes[way], state_writes[way], written_writes[way]
            settles = (t1_serves | (t1_go & t1_settles)) & (t1_way == way)
            m.d.comb += [
                tag_write.addr.eq(t1_set),
                tag_write.data.eq(t1.line[low:]),
                tag_write.en.eq(t1_serves & (t1_way == way)),
                written_write.addr.eq(t1_set),
                written_write.data.eq(t1_next_written),
                written_write.en.eq(settles),
                state_write.addr.eq(t1_set[group_bits:]),
            ]
            for line in range(GROUP_LINES):
                m.d.comb += state_write.data[line].eq(t1_new)
            with m.If(self.sweep.invalidate):
                m.d.comb += [
                    state_write.addr.eq(group_set),
                    state_write.data.eq(0),
                    state_write.en.eq((group_way == way).replicate(GROUP_LINES)),
                ]
            with m.Elif(settles):
                m.d.comb += state_write.en.eq(1 << t1_set[:group_bits])

        if config.atomics:
            m.d.comb += self.stations.payload.atomic.eq(atomic)
        m.d.comb += [
            self.idle.eq(~t1_valid),
            self.written.valid.eq(t1_go & (t1.op == TagOp.WRITE) & ~hit),
            self.written.payload.eq(t1.line),
            self.completed.valid.eq(t1_go & (t1.op == TagOp.WRITE) & complete & ~(hit & t1_old_written.all())),
            self.completed.payload.eq(t1.line),
            self.needs_tag_manager.eq(t1_valid & fill),
            self.retired.eq(t1_go & (t1.op == TagOp.RETIRE)),
            self.accepted.eq(t1_go & t1_serves),
            self.hit.eq(~fill & hit),
        ]
        return m

    def _choose_way(self, m: Module, way: Signal, entries: list[tuple[Signal, Value, Value, Value]], serves: Value,
                    scrubs: Value, used_set: Value, used_way: Signal) -> Value:
        """The ``way`` of the entry for T0; returns whether that has the line. T1 uses an entry if it ``serves`` or
        ``scrubs`` it.
        """
        low = set_bits(self._config)
        t0 = self.requests.payload
        # A way of each set that was not used lately: the next one, whenever it is used.
        m.submodules.idle_ways = idle_ways = LutRam(len(way), self._config.cache_sets)
        read, write = idle_ways.read_port(), idle_ways.write_port()
        t1_idle_way = Signal(len(way))
        used = serves | scrubs
        m.d.comb += [
            read.addr.eq(t0.line[:low]),
            write.addr.eq(used_set),
            # The last way of a set that is scrubbed is its highest: then the first is next, whatever was there.
            write.data.eq(Mux(scrubs | (t1_idle_way == used_way), used_way + 1, t1_idle_way)),
            write.en.eq(used),
        ]
        idle_way = Mux(used & (used_set == t0.line[:low]), write.data, read.data)
        with m.If(self.requests.ready & self.requests.valid):
            m.d.sync += t1_idle_way.eq(idle_way)
        here = Cat(match & data.View(LineState, state).valid for match, _, state, _ in entries)
        m.d.comb += way.eq(idle_way)
        for number in range(len(entries)):
            with m.If(here[number]):
                m.d.comb += way.eq(number)
        with m.If((t0.op == TagOp.CLEAN) | (t0.op == TagOp.SCRUB)):     # these name an entry
            m.d.comb += way.eq(t0.line[low:])
        return here.any()
