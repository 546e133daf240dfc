"""The way into the cache: one request a cycle, from the compute units in turn."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.config import Config
from fgpu.gateware.choose import choose
from fgpu.gateware.skid_buffer import SkidBuffer
from fgpu.interfaces.memory_bus import MemoryOp, MemoryRequest

from .payloads import TagOp, TagRequest, WriteRow, set_bits
from .turns import Turns

__all__ = ["Arbiter"]


def _groups(config: Config) -> list[range]:
    """The words of a row in groups, each of which is chosen by itself: all of them are far from one register."""
    words = range(config.row_words)
    return [words[first:first + 2] for first in words[::2]] if config.compute_units > 1 else [words]


class Arbiter(wiring.Component):
    """Merges the requests of the compute units, by :class:`~fgpu.cache.turns.Turns`, and those of the cleaner, which
    go first, a cycle after they came; from the cycle after ``hold`` on each cycle is theirs, and the compute units
    are kept out.

    Latency 1 cycle, 1 request a cycle; a second request finds room while the first waits, so that ``ready`` does not
    depend on ``granted.ready``. With ``step``, what is granted from the next cycle on, if anything, is for a line of
    ``next_set``. The row of a write takes another way, ``writes``, in the cycle in which the request is accepted:
    only the data stage needs it. Nothing is accepted in the cycle after one without ``writes_room``, for two rows, so
    ``writes`` is always ready. (Dissertation, section 3.5.4.)

    ``pending`` tells that one is at the door, ``idle`` that none is inside.
    ``reads_inside`` counts the reads and atomic operations there, ``read_comes`` tells that one is accepted.
    Reads wait here, not in the tag stage, until ``admit_reads`` says that there is a tag manager for each that
    misses: writes pass them. Otherwise a kernel's stores would wait for all loads of all wavefronts.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
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
        }
        if config.compute_units > 1:
            members["likely"] = In(config.compute_units)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = self._config.compute_units
        m.submodules.turns = turns = Turns(self._config, copies=1 + len(_groups(self._config)))
        writes, reads = (Cat(request.payload.op == op for request in self.requests)
                         for op in (MemoryOp.WRITE, MemoryOp.READ))
        valid = Cat(request.valid for request in self.requests)
        chosen = Signal(MemoryRequest(self._config))
        admitted = Signal(count)
        comes = Signal()        # the one whose turn it is may go in
        m.d.comb += [
            self.pending.eq(valid.any()),
            self.idle.eq(~self.granted.valid),
            turns.valid.eq(valid), turns.writes.eq(writes), turns.reads.eq(reads),
            turns.admit_reads.eq(self.admit_reads),
            turns.likely.eq(self.likely if count > 1 else 0),
            chosen.eq(choose([request.payload for request in self.requests], turns.choices[0])),
            admitted.eq(turns.chosen & (writes | self.admit_reads.replicate(count))),
            comes.eq((admitted & valid).any()),
        ]

        m.submodules.inside = inside = SkidBuffer(TagRequest(self._config))
        taken = inside.input
        connect(m, inside.output, flipped(self.granted))
        m.d.comb += [self.step.eq(inside.step), self.next_set.eq(inside.next.line[:len(self.next_set)])]
        accept = Signal()
        cleans = Signal()       # it is the cleaner's turn
        others = Signal()       # it is not, and there is room
        cleaner_comes = self.hold | (self.cleaner.valid & ~self.cleaner.ready)
        m.d.sync += [cleans.eq(cleaner_comes), others.eq(~cleaner_comes & self.writes_room)]
        m.d.comb += [
            self.cleaner.ready.eq(taken.ready & cleans),
            accept.eq(taken.ready & others),
            turns.served.eq(admitted & valid & accept.replicate(count)),
            *(request.ready.eq(accept & admitted[cu]) for cu, request in enumerate(self.requests)),
            self.writes.valid.eq(accept & comes & (chosen.op != MemoryOp.READ)),
        ]
        for words, choice in zip(_groups(self._config), turns.choices[1:], strict=True):
            for field, width in (("row", 32), ("strobe", 4)):
                bits = slice(words.start * width, words.stop * width)
                parts = [Value.cast(request.payload[field])[bits] for request in self.requests]
                m.d.comb += Value.cast(self.writes.payload[field])[bits].eq(choose(parts, choice))
        if self._config.atomics:
            m.d.comb += self.writes.payload.operation.eq(chosen.operation)

        tag_op = Signal(TagOp)
        with m.Switch(chosen.op):
            with m.Case(MemoryOp.WRITE):
                m.d.comb += tag_op.eq(TagOp.WRITE)
            if self._config.atomics:
                with m.Case(MemoryOp.ATOMIC):
                    m.d.comb += tag_op.eq(TagOp.ATOMIC)
        m.d.comb += taken.valid.eq((cleans & self.cleaner.valid) | (accept & comes))
        with m.If(cleans):
            m.d.comb += taken.payload.eq(self.cleaner.payload)
        with m.Else():
            m.d.comb += [
                taken.payload.op.eq(tag_op),
                taken.payload.line.eq(chosen.line),
                taken.payload.rows.eq(chosen.rows),
                taken.payload.whole.eq(chosen.whole),
                taken.payload.cu.eq(turns.choices[0]),
            ]
            if self._config.cache_conscious:
                m.d.comb += taken.payload.scattered.eq(chosen.scattered)
        m.d.comb += self.read_comes.eq(accept & comes & (chosen.op != MemoryOp.WRITE))
        op = self.granted.payload.op
        goes = self.granted.valid & self.granted.ready & ((op == TagOp.READ) | (op == TagOp.ATOMIC))
        m.d.sync += self.reads_inside.eq(self.reads_inside + self.read_comes - goes)
        return m
