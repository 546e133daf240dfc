"""The tag stage: settles in order, long before the data stage, which line lives where."""
# mypy: disable-error-code="valid-type"

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.axi.master import LineTransfer
from fgpu.config import Config

from .payloads import Allocation, Station, TagOp, TagRequest, index_bits, tag_manager_bits

__all__ = ["GROUP_LINES", "LineState", "Sweep", "TagStage", "TagStall"]

GROUP_LINES = 8
"""Lines whose state shares a word of memory, so that the cleaner sees them all in one cycle."""


class LineState(data.Struct):
    """What the tag stage knows of a place in the cache, besides the tag (dissertation, section 3.5.3).

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
    """Tags and states of all lines, direct-mapped; one request a cycle.

    Step T0 reads the tag and the state of the line's place, T1 decides, updates both, and passes the request
    on to the ``stations``. Latency 1 cycle from ``requests`` to ``stations``.

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
    scrub                     none                    the same
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
        low = index_bits(config)
        tag_bits = config.line_address_bits - low
        lane_bits = exact_log2(GROUP_LINES)

        m.submodules.tags = tags = Memory(shape=tag_bits, depth=config.slice_lines, init=[],
                                          attrs={"ram_style": "distributed"})
        tag_read, tag_write = tags.read_port(domain="comb"), tags.write_port()
        m.submodules.states = states = Memory(shape=data.ArrayLayout(LineState, GROUP_LINES),
                                              depth=config.slice_lines // GROUP_LINES, init=[],
                                              attrs={"ram_style": "distributed"})
        state_read, state_write = states.read_port(domain="comb"), states.write_port(granularity=1)

        # Which rows of a line were written completely: when all were, the line is complete.
        m.submodules.written_rows = written_rows = Memory(shape=config.line_rows, depth=config.slice_lines, init=[],
                                                          attrs={"ram_style": "distributed"})
        written_read, written_write = written_rows.read_port(domain="comb"), written_rows.write_port()

        t1_valid = Signal()
        t1 = Signal(TagRequest(config))
        t1_match = Signal()
        t1_old_tag = Signal(tag_bits)
        t1_old = Signal(LineState)
        t1_new = Signal(LineState)
        t1_old_written = Signal(config.line_rows)
        t1_new_written = Signal(config.line_rows)
        t1_next_written = Signal(config.line_rows)
        t1_index = t1.line[:low]
        t1_go = Signal()
        t1_serves = Signal()
        t1_settles = Signal()

        # T0
        t0 = self.requests.payload
        t0_index = t0.line[:low]
        t0_tag = t0.line[low:]
        t0_state = Signal(LineState)
        t0_follows = Signal()
        m.d.comb += [
            self.requests.ready.eq(~t1_valid | t1_go),
            tag_read.addr.eq(t0_index),
            written_read.addr.eq(t0_index),
            state_read.addr.eq(Mux(self.sweep.active, self.sweep.group, t0_index[lane_bits:])),
            t0_state.eq(state_read.data[t0_index[:lane_bits]]),
            self.sweep.dirty.eq(Cat(state_read.data[lane].dirty for lane in range(GROUP_LINES))),
            # T1 writes the memories only now: what it leaves is known without them.
            t0_follows.eq(t1_settles & (t1_index == t0_index)),
        ]
        with m.If(self.requests.ready):
            m.d.sync += t1_valid.eq(self.requests.valid)
            with m.If(self.requests.valid):
                m.d.sync += [
                    t1.eq(t0),
                    t1_match.eq(Mux(t0_follows, t1.line[low:] == t0_tag, tag_read.data == t0_tag)),
                    t1_old_tag.eq(Mux(t0_follows, t1.line[low:], tag_read.data)),
                    t1_old.eq(Mux(t0_follows, t1_new.as_value(), t0_state.as_value())),
                    t1_old_written.eq(Mux(t0_follows, t1_next_written, written_read.data)),
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
            self.victim.eq(Cat(t1_index, t1_old_tag)),
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
            self.stations.payload.index.eq(t1_index),
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

            tag_write.addr.eq(t1_index),
            tag_write.data.eq(t1.line[low:]),
            tag_write.en.eq(t1_go & t1_settles & ~hit),
            state_write.addr.eq(t1_index[lane_bits:]),
            written_write.addr.eq(t1_index),
            written_write.data.eq(t1_next_written),
            written_write.en.eq(t1_go & t1_settles),
        ]
        for lane in range(GROUP_LINES):
            m.d.comb += state_write.data[lane].eq(t1_new)
        with m.If(self.sweep.invalidate):
            m.d.comb += [
                state_write.addr.eq(self.sweep.group),
                state_write.data.eq(0),
                state_write.en.eq(~0),
            ]
        with m.Elif(t1_go & t1_settles):
            m.d.comb += state_write.en.eq(1 << t1_index[:lane_bits])

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
