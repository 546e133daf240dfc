"""The way into the cache: one request a cycle, from the compute units in turn."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from fgpu.config import Config
from fgpu.gateware.choose import choose
from fgpu.gateware.round_robin import RoundRobin
from fgpu.gateware.skid_buffer import SkidBuffer
from fgpu.interfaces.memory_bus import MemoryOp, MemoryRequest

from .payloads import TagOp, TagRequest, WriteRow, set_bits

__all__ = ["Arbiter"]

_TURN = 4
"""Reads of a turn, a power of two: what is owed wraps."""


class Arbiter(wiring.Component):
    """Merges the requests of the compute units, round-robin, and those of the cleaner, which go first, a cycle after
    they came; from the cycle after ``hold`` on each cycle is theirs, and the compute units are kept out.

    Latency 1 cycle, 1 request a cycle; a second request finds room while the first waits, so that ``ready`` does not
    depend on ``granted.ready``. With ``step``, what is granted from the next cycle on, if anything, is for a line of
    ``next_set``. The row of a write takes another way, ``writes``, in the cycle in which the request is accepted:
    only the data stage needs it. Nothing is accepted in the cycle after one without ``writes_room``, for two rows, so
    ``writes`` is always ready. (Dissertation, section 3.5.4.)

    ``pending`` tells that one is at the door, ``idle`` that none is inside.
    ``reads_inside`` counts the reads and atomic operations there, ``read_comes`` tells that one is accepted.
    Reads wait here, not in the tag stage, until ``admit_reads`` says that there is a tag manager for each that
    misses: writes pass them. Otherwise a kernel's stores would wait for all loads of all wavefronts.

    A turn is four reads if reads had to wait (a slice's is one): two loads of a wavefront, of 64 consecutive words
    each, take so many lines, and a wavefront that has them can store while the others still load. A compute unit is
    *owed* what it has not asked for yet: it goes before all turns when it comes.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "requests": In(stream.Signature(MemoryRequest(config))).array(config.compute_units),
            "cleaner": In(stream.Signature(TagRequest(config))),
            "hold": In(1),
            "admit_reads": In(1),
            "granted": Out(stream.Signature(TagRequest(config))),
            "step": Out(1),
            "next_set": Out(set_bits(config)),
            "writes": Out(stream.Signature(WriteRow(config), always_ready=True)),
            "writes_room": In(1),
            "read_comes": Out(1),
            "reads_inside": Out(range(3)),
            "pending": Out(1),
            "idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = self._config.compute_units
        m.submodules.turn = turn = RoundRobin(count)
        choice = turn.choice
        owed = [Signal(range(_TURN), name=f"owed{n}") for n in range(count)]
        admitted, due = Signal(count), Signal(count)
        waited = Signal()
        m.d.sync += waited.eq(~self.admit_reads)
        m.d.comb += [
            self.pending.eq(Cat(request.valid for request in self.requests).any()),
            self.idle.eq(~self.granted.valid),
            turn.requests.eq(Mux(due.any(), due, admitted)),
        ]
        for cu, request in enumerate(self.requests):
            op = request.payload.op
            m.d.comb += [
                admitted[cu].eq(request.valid & ((op == MemoryOp.WRITE) | self.admit_reads)),
                due[cu].eq(admitted[cu] & (op == MemoryOp.READ) & waited & owed[cu].any()),
            ]

        chosen = Signal(MemoryRequest(self._config))
        m.d.comb += chosen.eq(choose([request.payload for request in self.requests], choice[:exact_log2(count)]))

        m.submodules.inside = inside = SkidBuffer(TagRequest(self._config))
        taken = inside.input
        connect(m, inside.output, flipped(self.granted))
        m.d.comb += [self.step.eq(inside.step), self.next_set.eq(inside.next.line[:len(self.next_set)])]
        accept = Signal()
        cleans = Signal()       # it is the cleaner's turn
        others = Signal()       # it is not, and there is room
        comes = self.hold | (self.cleaner.valid & ~self.cleaner.ready)
        m.d.sync += [cleans.eq(comes), others.eq(~comes & self.writes_room)]
        m.d.comb += [
            self.cleaner.ready.eq(taken.ready & cleans),
            accept.eq(taken.ready & others),
            self.writes.payload.row.eq(chosen.row),
            self.writes.payload.strobe.eq(chosen.strobe),
            turn.accept.eq(accept & ~due.any()),
            self.writes.valid.eq(accept & turn.valid & (chosen.op != MemoryOp.READ)),
        ]
        if self._config.atomics:
            m.d.comb += self.writes.payload.operation.eq(chosen.operation)
        for cu, request in enumerate(self.requests):
            m.d.comb += request.ready.eq(accept & turn.requests[cu] & (choice == cu))
            if count > 1 and self._config.slices == 1:      # else neighbours go to different slices
                with m.If(request.ready & (request.payload.op == MemoryOp.READ)):
                    m.d.sync += owed[cu].eq(owed[cu] - 1)  # of none: the first of a turn

        tag_op = Signal(TagOp)
        with m.Switch(chosen.op):
            with m.Case(MemoryOp.WRITE):
                m.d.comb += tag_op.eq(TagOp.WRITE)
            if self._config.atomics:
                with m.Case(MemoryOp.ATOMIC):
                    m.d.comb += tag_op.eq(TagOp.ATOMIC)
        m.d.comb += taken.valid.eq((cleans & self.cleaner.valid) | (accept & turn.valid))
        with m.If(cleans):
            m.d.comb += taken.payload.eq(self.cleaner.payload)
        with m.Else():
            m.d.comb += [
                taken.payload.op.eq(tag_op),
                taken.payload.line.eq(chosen.line),
                taken.payload.rows.eq(chosen.rows),
                taken.payload.whole.eq(chosen.whole),
                taken.payload.cu.eq(choice),
            ]
        m.d.comb += self.read_comes.eq(accept & turn.valid & (chosen.op != MemoryOp.WRITE))
        op = self.granted.payload.op
        goes = self.granted.valid & self.granted.ready & ((op == TagOp.READ) | (op == TagOp.ATOMIC))
        m.d.sync += self.reads_inside.eq(self.reads_inside + self.read_comes - goes)
        return m
