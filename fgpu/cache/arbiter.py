"""The way into the cache: one request a cycle, from the compute units in turn."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config
from fgpu.gateware.choose import choose
from fgpu.gateware.round_robin import RoundRobin
from fgpu.interfaces.memory_bus import MemoryOp, MemoryRequest

from .payloads import TagOp, TagRequest, WriteRow

__all__ = ["Arbiter"]

_TURN = 4
"""Reads of a turn, a power of two: what is owed wraps."""


class Arbiter(wiring.Component):
    """Merges the requests of the compute units, round-robin, and those of the cleaner, which go first.

    Latency 1 cycle, 1 request a cycle. The row of a write takes another way, ``writes``, in the cycle in
    which the request is accepted: only the data stage needs it. (Dissertation, section 3.5.4.)

    ``hold`` keeps the compute units out, ``pending`` tells that one is at the door, ``idle`` that none is inside.
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
            "writes": Out(stream.Signature(WriteRow(config))),
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

        space = Signal()
        accept = Signal()
        m.d.comb += [
            space.eq(~self.granted.valid | self.granted.ready),
            self.cleaner.ready.eq(space),
            accept.eq(space & self.writes.ready & ~self.hold & ~self.cleaner.valid),
            self.writes.payload.row.eq(chosen.row),
            self.writes.payload.strobe.eq(chosen.strobe),
            turn.accept.eq(accept & ~due.any()),
            self.writes.valid.eq(accept & turn.valid & (chosen.op != MemoryOp.READ)),
        ]
        if self._config.atomics:
            m.d.comb += self.writes.payload.operation.eq(chosen.operation)
        for cu, request in enumerate(self.requests):
            m.d.comb += request.ready.eq(accept & turn.requests[cu] & (choice == cu))
            if count > 1 and self._config.axi_ports == 1:       # else neighbours go to different slices
                with m.If(request.ready & (request.payload.op == MemoryOp.READ)):
                    m.d.sync += owed[cu].eq(owed[cu] - 1)  # of none: the first of a turn

        tag_op = Signal(TagOp)
        with m.Switch(chosen.op):
            with m.Case(MemoryOp.WRITE):
                m.d.comb += tag_op.eq(TagOp.WRITE)
            if self._config.atomics:
                with m.Case(MemoryOp.ATOMIC):
                    m.d.comb += tag_op.eq(TagOp.ATOMIC)
        with m.If(space):
            m.d.sync += self.granted.valid.eq(self.cleaner.valid | (accept & turn.valid))
            with m.If(self.cleaner.valid):
                m.d.sync += self.granted.payload.eq(self.cleaner.payload)
            with m.Else():
                m.d.sync += [
                    self.granted.payload.op.eq(tag_op),
                    self.granted.payload.line.eq(chosen.line),
                    self.granted.payload.rows.eq(chosen.rows),
                    self.granted.payload.whole.eq(chosen.strobe.all()),
                    self.granted.payload.cu.eq(choice),
                ]
        return m
