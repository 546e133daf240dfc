"""The tag stage: settles in order, long before the data stage, which line lives where."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config
from fgpu.gateware.choose import choose, lowest, number_of

from .line_states import GROUP_LINES, LineState, Sweep, part_bits
from .payloads import Station, TagManagerPort, TagOp, TagRequest, Tags, TagWrite, set_bits
from .ways import UsedWay, choose_way, memory_of_each_way

__all__ = ["TagStage", "TagStall"]


class TagStall(data.Struct):
    """Why the tag stage waits."""

    station: 1
    """No room in the stations."""
    tag_manager: 1
    """No tag manager is free."""
    victim: 1
    """The write-back of the very line that is wanted isn't acknowledged yet."""


class _T1:
    """What step T0 leaves to T1, a request and the entry that was chosen for it, and what T1 makes of that.

    ``old``: the entry's state, of the line with ``old_tag``, which is ``old_complete`` if all its rows were written;
    ``settles``: the entry's state changes; ``go``: nothing stands in the way; ``waited``: this is not its first cycle
    here; ``given_up``: the line was, in some way of its set. What a request is was found in T0: it ``reads`` or
    ``writes`` (it ``serves`` a compute unit then), ``cleans`` or ``retires``. Tags and written rows are those of all
    ways: one is chosen here.
    """

    def __init__(self, config: Config) -> None:
        low = set_bits(config)
        self.valid, self.match = Signal(name="t1_valid"), Signal(name="t1_match")
        self.reads, self.writes, self.cleans, self.retires = (
            Signal(name=f"t1_{name}") for name in ("reads", "writes", "cleans", "retires"))
        self.given_up = Signal(name="t1_given_up")
        self.waited = Signal(name="t1_waited")
        self.request: Any = Signal(TagRequest(config), name="t1")
        self.old_tags = [Signal(config.line_address_bits - low, name=f"t1_old_tag{way}")
                         for way in range(config.cache_ways)]
        self.old_tag = Signal.like(self.old_tags[0], name="t1_old_tag")
        self.old: Any = Signal(LineState, name="t1_old")
        self.new: Any = Signal(LineState, name="t1_new")
        self.olds_written = [Signal(config.line_rows, name=f"t1_old_written{way}")
                             for way in range(config.cache_ways)]
        self.olds_complete = Signal(config.cache_ways, name="t1_olds_complete")
        self.old_complete = Signal(name="t1_old_complete")
        self.old_written = Signal(config.line_rows, name="t1_old_written")
        self.new_written = Signal(config.line_rows, name="t1_new_written")
        self.set = self.request.line[:low]
        self.way = Signal(exact_log2(config.cache_ways), name="t1_way")
        self.go, self.serves, self.settles = (Signal(name=f"t1_{name}") for name in ("go", "serves", "settles"))
        self.hit, self.fill, self.replaces, self.evict, self.complete = (
            Signal(name=name) for name in ("hit", "fill", "replaces", "evict", "complete"))
        self.atomic = self.request.op == TagOp.ATOMIC if config.atomics else Const(0)
        self.changes = self.writes | self.atomic


class TagStage(wiring.Component):
    """Tags and states of all lines; one request a cycle.

    Step T0 reads the states of the line's set and chooses an entry there, the one that has the line or the one that
    was not used for the longest time (of 4: for a long time). The ``tags`` of the set come with the request, from the
    :class:`~fgpu.cache.tag_memory.TagMemory`. T1 decides, updates both (the tag by ``tag_write``), and passes the
    request on to the ``stations``. Latency 1 cycle from ``requests`` to ``stations``.

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
    retire, not populated     evict                   invalid, given up
    retire, else              none, and no station    the same
    ========================  ======================  ==================================================

    The read burst of a fill is requested at once (``fills``). T1 waits for room in the stations (``stations_room``:
    there is room for two; it is looked at a cycle late), for a free tag manager if it needs one, and, on a miss,
    while an older copy of the line is on its way to memory (``conflict``), or an older copy of its ``victim``:
    neither a read nor a second write-back may overtake it. To know of the victim takes a cycle more. The request
    after a retire waits a cycle, too.

    A line is complete when all its rows were written, each with all its bytes at once, since it was allocated or,
    after an early write-back, first written again. ``completed`` reports that, ``written`` the lines that a write
    allocates, ``premature`` that one of these had been given up by a retire and is still known as that, ``repeated``
    that a write is the first to a line after its early write-back, ``retired`` the end of a retire, each a cycle
    later. A request ``passes`` in the cycle in which it leaves T1; it is ``partial`` if it reads a part of its line,
    ``scattered`` if its request is, too, ``whole`` if it reads all of its line. (Dissertation, section 3.5.4.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "requests": In(stream.Signature(TagRequest(config))),
            "tags": In(Tags(config)),
            "tag_write": Out(TagWrite(config)),
            "stations": Out(stream.Signature(Station(config))),
            "stations_room": In(1),
            "tag_managers": Out(TagManagerPort(config)),
            "fills": Out(stream.Signature(config.line_address_bits, always_ready=True)),
            "sweep": In(Sweep(config)),
            "idle": Out(1),
            "written": Out(stream.Signature(config.line_address_bits, always_ready=True)),
            "completed": Out(stream.Signature(config.line_address_bits, always_ready=True)),
            "premature": Out(1),
            "repeated": Out(1),
            "retired": Out(1),
            "needs_tag_manager": Out(1),
            "passes": Out(1),
            "partial": Out(1),
            "scattered": Out(1),
            "whole": Out(1),
            "accepted": Out(1),
            "hit": Out(1),
            "stall": Out(TagStall),
        }
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        states = memory_of_each_way(m, config, "states", data.ArrayLayout(LineState, GROUP_LINES),
                                    config.cache_sets // GROUP_LINES)
        state_reads = [state.read_port() for state in states]
        swept = [state.read_port() for state in states]     # for the cleaner, whose turn is known late
        state_writes = [state.write_port(granularity=1) for state in states]
        # Which rows of a line were written completely: when all were, the line is complete.
        written_rows = memory_of_each_way(m, config, "written_rows", config.line_rows, config.cache_sets)
        written_reads = [rows.read_port() for rows in written_rows]
        written_writes = [rows.write_port() for rows in written_rows]

        t1 = _T1(config)
        self._sweep(m, swept)
        self._look_up(m, t1, list(zip(self.tags, state_reads, written_reads, strict=True)))
        self._decide(m, t1)
        self._pass_on(m, t1)
        self._update(m, t1, list(zip(state_writes, written_writes, strict=True)))
        self._report(m, t1)
        return m

    def _swept_group(self) -> tuple[Value, Value]:
        """Set, in units of groups, and way of the lines that the cleaner looks at."""
        bits = set_bits(self._config) - exact_log2(GROUP_LINES)
        return self.sweep.group[:bits], self.sweep.group[bits:]

    def _sweep(self, m: Module, reads: list[Any]) -> None:
        """Shows the cleaner the dirty lines of its group. ``reads``: of each way a port of the states."""
        group_set, group_way = self._swept_group()
        for way, read in enumerate(reads):
            m.d.comb += read.addr.eq(group_set)
            with m.If(group_way == way):
                m.d.comb += self.sweep.dirty.eq(Cat(read.data[line].dirty for line in range(GROUP_LINES)))

    def _look_up(self, m: Module, t1: _T1, reads: list[tuple[Any, Any, Any]]) -> None:
        """Step T0. ``reads``: of each way the tag, and the ports of states and written rows."""
        config = self._config
        low, group_bits = set_bits(config), exact_log2(GROUP_LINES)
        t0 = self.requests.payload
        t0_set = t0.line[:low]
        t0_tag = t0.line[low:]
        t0_way = Signal(exact_log2(config.cache_ways))
        t0_follows, t0_waits = Signal(), Signal()
        same_line = t1.request.line == t0.line
        entries = []    # of the set: whether the tag is that of the line, the tag, the state, the rows written
        m.d.comb += [
            self.tag_managers.step.eq(~t1.valid | t1.go),
            self.tag_managers.next_line.eq(t0.line),
            # What a retire leaves is known late: after it T0 waits, and reads it.
            t0_waits.eq(t1.retires),
            self.requests.ready.eq(self.tag_managers.step & ~t0_waits),
            # T1 writes the memories only now: what it leaves is known without them.
            t0_follows.eq(t1.serves & (t1.set == t0_set)),
        ]
        for way, (tag, state_read, written_read) in enumerate(reads):
            match, state = Signal(name=f"t0_match{way}"), Signal(LineState, name=f"t0_state{way}")
            follows = t0_follows & (t1.way == way)
            m.d.comb += [
                written_read.addr.eq(t0_set),
                state_read.addr.eq(t0_set[group_bits:]),
                # Not as a Mux: Yosys would choose the tag first, and compare afterwards.
                match.eq((follows & same_line) | (~follows & (tag == t0_tag))),
                state.eq(Mux(follows, t1.new.as_value(), state_read.data[t0_set[:group_bits]].as_value())),
            ]
            entries.append((match, Mux(follows, t1.request.line[low:], tag), state.as_value(),
                            Mux(follows, t1.new_written, written_read.data)))
        given_up = Cat(match & LineState(state).given_up for match, _, state, _ in entries).any()
        t0_match, _, t0_old, _ = entries[0]
        if len(reads) > 1:
            scrubs = t1.valid & (t1.request.op == TagOp.SCRUB)
            t0_match, t0_old = choose_way(
                m, config, t0_way, t0, [(match, state) for match, _, state, _ in entries],
                UsedWay(t1.serves, scrubs, t1.set, t1.way), self.tag_managers.step)
        managers: Any = self.tag_managers
        with m.If(managers.step):
            comes = self.requests.valid & ~t0_waits
            reads_line = (t0.op == TagOp.READ) | ((t0.op == TagOp.ATOMIC) if config.atomics else 0)
            m.d.sync += [
                t1.valid.eq(comes),
                t1.reads.eq(comes & reads_line),
                t1.writes.eq(comes & (t0.op == TagOp.WRITE)),
                t1.cleans.eq(comes & (t0.op == TagOp.CLEAN)),
                t1.retires.eq(comes & (t0.op == TagOp.RETIRE)),
                t1.request.eq(t0),
                t1.way.eq(t0_way),
                t1.match.eq(t0_match),
                t1.given_up.eq(given_up),
                t1.old.eq(t0_old),
                *(t1.old_tags[way].eq(tag) for way, (_, tag, _, _) in enumerate(entries)),
                *(t1.olds_written[way].eq(written) for way, (_, _, _, written) in enumerate(entries)),
                t1.olds_complete.eq(Cat(written.all() for _, _, _, written in entries)),
            ]
        m.d.sync += t1.waited.eq(~managers.step)
        m.d.comb += [
            t1.old_tag.eq(choose(t1.old_tags, t1.way)),
            t1.old_written.eq(choose(t1.olds_written, t1.way)),
            t1.old_complete.eq(choose(list(t1.olds_complete), t1.way)),
        ]

    def _decide(self, m: Module, t1: _T1) -> None:
        """Step T1: what becomes of the line, and of the entry's old one."""
        managers: Any = self.tag_managers
        m.d.comb += [
            t1.hit.eq(t1.match & t1.old.valid if self._config.cache_ways == 1 else t1.match),
            t1.new.eq(t1.old),
            # A new round begins with the first change after the line was written back.
            t1.new_written.eq(Mux(t1.hit & (t1.old.dirty | ~t1.changes), t1.old_written, 0)),
            t1.complete.eq(t1.new_written.all()),
            t1.serves.eq(t1.reads | t1.writes),
            t1.settles.eq(t1.serves | (t1.retires & t1.evict)),
            t1.fill.eq(t1.reads & (~t1.hit | ~t1.old.populated)),
            t1.replaces.eq(t1.serves & ~t1.hit & t1.old.valid & t1.old.dirty),
            t1.evict.eq(t1.replaces | t1.cleans | (t1.retires & t1.hit & t1.old.dirty
                                                   & (t1.old_complete | ~t1.old.populated) & ~managers.conflict)),
        ]
        with m.Switch(t1.request.op):
            with m.Case(TagOp.READ, TagOp.ATOMIC):
                m.d.comb += [
                    t1.new.valid.eq(1),
                    t1.new.populated.eq(1),
                    t1.new.dirty.eq((t1.hit & t1.old.dirty) | t1.atomic),
                ]
            with m.Case(TagOp.WRITE):
                m.d.comb += [
                    t1.new.valid.eq(1),
                    t1.new_written.eq(Mux(t1.hit & t1.old.dirty, t1.old_written, 0)
                                      | (t1.request.rows & t1.request.whole.replicate(self._config.line_rows))),
                    t1.new.populated.eq((t1.hit & t1.old.populated) | t1.complete),
                    t1.new.dirty.eq(1),
                ]
            with m.Case(TagOp.RETIRE):
                m.d.comb += [
                    t1.new.valid.eq(t1.hit & t1.old_complete),
                    t1.new.populated.eq(1),
                    t1.new.dirty.eq(0),
                ]

    def _pass_on(self, m: Module, t1: _T1) -> None:
        """Step T1: to the stations, to a tag manager, to memory, if all of them are ready."""
        managers: Any = self.tag_managers
        walk, first = t1.fill | t1.evict | (t1.request.op == TagOp.SCRUB), number_of(lowest(t1.request.rows))
        single = (t1.request.rows & (t1.request.rows - 1)) == 0
        room = Signal()         # a cycle late: it comes from far
        able = Signal()         # all but a tag manager is ready
        m.d.sync += room.eq(self.stations_room)
        m.d.comb += [
            managers.line.eq(t1.request.line),
            self.stall.station.eq(t1.valid & ~room),
            managers.index.eq(Cat(t1.set, t1.way)),
            self.stall.victim.eq(t1.serves & ~t1.hit & (
                managers.conflict | (t1.replaces & (managers.victim_conflict | ~t1.waited)))),
            # Whether a retire evicts is known late: it always waits.
            self.stall.tag_manager.eq((t1.fill | t1.replaces | t1.cleans | t1.retires) & ~managers.allocations.ready),
            able.eq(t1.valid & ~(self.stall.station | self.stall.victim)),
            t1.go.eq(able & ~self.stall.tag_manager),
            self.stations.valid.eq(t1.go & (t1.evict | ~t1.retires)),
            managers.allocations.valid.eq(able & (t1.fill | t1.evict)),
            self.fills.valid.eq(t1.go & t1.fill),
            self.fills.payload.eq(t1.request.line),
            managers.allocations.payload.fill.eq(t1.fill),
            managers.allocations.payload.evict.eq(t1.evict),
            managers.allocations.payload.retire.eq(t1.retires),
            managers.allocations.payload.victim.eq(Cat(t1.set, t1.old_tag)),
            self.stations.payload.index.eq(managers.index),
            self.stations.payload.rows.eq(t1.request.rows),
            self.stations.payload.cu.eq(t1.request.cu),
            self.stations.payload.first.eq(Mux(walk, 0, first)),
            self.stations.payload.single.eq(Mux(walk, self._config.line_rows == 1, single)),
            self.stations.payload.write.eq(t1.writes),
            self.stations.payload.spares.eq(~t1.writes),
            self.stations.payload.walk.eq(walk),
            self.stations.payload.fill.eq(t1.fill),
            self.stations.payload.merge.eq(t1.fill & t1.hit),
            self.stations.payload.evict.eq(t1.evict),
            self.stations.payload.keep.eq(t1.retires & t1.hit & t1.old_complete),
            self.stations.payload.tag_manager.eq(Mux(t1.retires, managers.spare_retirement, managers.spare)),
        ]

    def _update(self, m: Module, t1: _T1, writes: list[tuple[Any, Any]]) -> None:
        """Step T1. ``writes``: of each way the ports of states and written rows."""
        low, group_bits = set_bits(self._config), exact_log2(GROUP_LINES)
        group_set, group_way = self._swept_group()
        # What is served is written while it waits, too, again and again: that it goes is known late.
        m.d.comb += [
            self.tag_write.valid.eq(t1.serves), self.tag_write.set.eq(t1.set), self.tag_write.way.eq(t1.way),
            self.tag_write.tag.eq(t1.request.line[low:]),
        ]
        for way, (state_write, written_write) in enumerate(writes):
            settles = (t1.serves | (t1.go & t1.settles)) & (t1.way == way)
            m.d.comb += [
                written_write.addr.eq(t1.set),
                written_write.data.eq(t1.new_written),
                written_write.en.eq(settles),
                state_write.addr.eq(t1.set[group_bits:]),
            ]
            for line in range(GROUP_LINES):
                m.d.comb += state_write.data[line].eq(t1.new)
            with m.If(self.sweep.invalidate):
                m.d.comb += [
                    state_write.addr.eq(group_set),
                    state_write.data.eq(0),
                    state_write.en.eq((group_way == way).replicate(GROUP_LINES)),
                ]
            with m.Elif(settles):
                m.d.comb += state_write.en.eq(1 << t1.set[:group_bits])

    def _report(self, m: Module, t1: _T1) -> None:
        if self._config.atomics:
            m.d.comb += self.stations.payload.atomic.eq(t1.atomic)
        m.d.comb += [
            self.sweep.uses.eq(t1.serves), self.sweep.part.eq(t1.set[len(t1.set) - part_bits(self._config):]),
            self.idle.eq(~t1.valid),
            self.needs_tag_manager.eq(t1.fill),
            self.accepted.eq(t1.go & t1.serves),
            self.hit.eq(~t1.fill & t1.hit),
            self.passes.eq(t1.go),
            self.partial.eq(t1.reads & ~t1.request.rows.all()),
            self.whole.eq(t1.reads & t1.request.rows.all()),
        ]
        if self._config.cache_conscious:
            m.d.comb += self.scattered.eq(self.partial & t1.request.scattered)
        m.d.sync += [       # nobody is in a hurry
            self.written.valid.eq(t1.go & t1.writes & ~t1.hit),
            self.written.payload.eq(t1.request.line),
            self.completed.valid.eq(t1.go & t1.writes & t1.complete & ~(t1.hit & t1.old.dirty & t1.old_complete)),
            self.completed.payload.eq(t1.request.line),
            self.premature.eq(t1.go & t1.writes & t1.given_up),
            self.repeated.eq(t1.go & t1.writes & t1.hit & ~t1.old.dirty & t1.old_complete),
            self.retired.eq(t1.go & t1.retires),
        ]
