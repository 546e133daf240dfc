"""The early cleaner: writes finished output lines back while the kernel still runs."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.gateware.lut_ram import LutRam

__all__ = ["EarlyCleaner", "History"]

_DEPTH = 32
_PATIENCE_MIN = 4
_DOUBT = 63
"""Lines allocated after a write-back that was of no use until lines are thought finished again."""


class History(wiring.Component):
    """The last 32 payloads: a FIFO that never blocks, but forgets the oldest. ``flush`` forgets all.

    ``level`` counts them. Latency 1 cycle.
    """

    def __init__(self, shape: int) -> None:
        self._shape = shape
        super().__init__({
            "input": In(stream.Signature(shape, always_ready=True)),
            "oldest": Out(shape),
            "level": Out(range(_DEPTH + 1)),
            "take": In(1),
            "flush": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.storage = storage = LutRam(self._shape, _DEPTH)
        write, read = storage.write_port(), storage.read_port()
        push = self.input.valid
        pull = Signal()
        m.d.comb += [
            write.data.eq(self.input.payload),
            write.en.eq(push),
            self.oldest.eq(read.data),
            pull.eq(self.take | (push & (self.level == _DEPTH))),
        ]
        m.d.sync += self.level.eq(self.level + push - pull)
        with m.If(push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(pull):
            m.d.sync += read.addr.eq(read.addr + 1)
        with m.If(self.flush):
            m.d.sync += [self.level.eq(0), read.addr.eq(write.addr)]
        return m


class EarlyCleaner(wiring.Component):
    """Offers lines for an early write-back: those that are ``completed`` at once, others when they seem finished.

    Kernels write most of their output once; written back early, it takes cycles in which the write channel
    idles, instead of some at the end of the kernel. A line that a write allocated (``written``) but that did not
    become complete is thought finished when ``patience`` younger ones were allocated (8, or 16 if more than two
    compute units write at a time; as lines take turns at the slices, that is divided by their number, but at least
    4), and given up. A write to it shows that this was ``premature``, as in a transpose or a scatter: then only
    complete lines are offered, until 63 more were allocated. A write to a complete one that stayed in the cache is
    ``repeated``, as in a sort in place: then no complete lines are offered for as long. The tag stage knows whether
    there is something to do.

    Lines are offered while ``allowed``: when a tag manager is free for them; and the next one when the one before
    is ``retired``. When there is no time for that, the oldest are forgotten and left to the cleaner. ``flush``
    forgets all.
    """

    def __init__(self, config: Config) -> None:
        self._line = config.line_address_bits
        self._patience = max(_PATIENCE_MIN, (8 if config.has_few_units else 16) // config.slices)
        super().__init__({
            "written": In(stream.Signature(self._line, always_ready=True)),
            "completed": In(stream.Signature(self._line, always_ready=True)),
            "allowed": In(1),
            "retired": In(1),
            "premature": In(1),
            "repeated": In(1),
            "flush": In(1),
            "finished": Out(stream.Signature(self._line)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.complete = complete = History(self._line)
        m.submodules.allocated = allocated = History(self._line)
        # A stream's payload must not change before it is taken: the choice is kept.
        free = ~self.finished.valid | self.finished.ready
        retiring = Signal()
        offer: Value = free & self.allowed & ~retiring
        some_complete = (complete.level != 0) & ~self._doubt(m, self.repeated)
        some_finished = (allocated.level > self._patience) & ~self._doubt(m, self.premature)
        m.d.comb += [
            complete.input.valid.eq(self.completed.valid),
            complete.input.payload.eq(self.completed.payload),
            complete.flush.eq(self.flush),
            complete.take.eq(offer & some_complete),
            allocated.input.valid.eq(self.written.valid),
            allocated.input.payload.eq(self.written.payload),
            allocated.flush.eq(self.flush),
            allocated.take.eq(offer & ~some_complete & some_finished),
        ]
        with m.If(self.finished.ready):
            m.d.sync += self.finished.valid.eq(0)
        with m.If(complete.take | allocated.take):
            m.d.sync += [
                self.finished.valid.eq(1),
                self.finished.payload.eq(Mux(complete.take, complete.oldest, allocated.oldest)),
                retiring.eq(1),
            ]
        with m.Elif(self.retired):
            m.d.sync += retiring.eq(0)
        with m.If(self.flush):
            m.d.sync += [self.finished.valid.eq(0), retiring.eq(0)]
        return m

    def _doubt(self, m: Module, told: Signal) -> Signal:
        """Whether ``told`` was high, and fewer than 63 lines were allocated since; a cycle later."""
        left, doubts = Signal(range(_DOUBT + 1)), Signal()
        m.d.sync += doubts.eq(left != 0)
        with m.If(self.flush):
            m.d.sync += left.eq(0)
        with m.Elif(told):
            m.d.sync += left.eq(_DOUBT)
        with m.Elif(self.written.valid & (left != 0)):
            m.d.sync += left.eq(left - 1)
        return doubts
