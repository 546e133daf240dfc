"""The early cleaner: writes finished output lines back while the kernel still runs."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fgpu.config import Config

__all__ = ["EarlyCleaner"]

_DEPTH = 32


class EarlyCleaner(wiring.Component):
    """Remembers the last 32 lines that were allocated by a write, and offers the oldest for an early write-back.

    Kernels write most of their output once, so what was written some lines ago is usually finished; written
    back at once, it takes cycles in which the write channel idles, instead of some at the end of the kernel.
    A line is offered when ``patience`` younger ones were allocated (8, or 16 if more than two compute units
    write at a time), one line at a time (until ``retired``), and while ``allowed``: when a tag manager is free for
    it. When there is no time for that, the oldest are forgotten and left to the cleaner. ``flush`` forgets all.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._patience = 8 if config.compute_units <= 2 else 16
        line = config.line_address_bits
        super().__init__({
            "written": In(stream.Signature(line, always_ready=True)),
            "allowed": In(1),
            "retired": In(1),
            "flush": In(1),
            "finished": Out(stream.Signature(line)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.lines = lines = Memory(shape=self._config.line_address_bits, depth=_DEPTH, init=[],
                                            attrs={"ram_style": "distributed"})
        write, read = lines.write_port(), lines.read_port(domain="comb")
        level = Signal(range(_DEPTH + 1))
        push = Signal()
        pull = Signal()
        retiring = Signal()
        m.d.comb += [
            push.eq(self.written.valid),
            write.data.eq(self.written.payload),
            write.en.eq(push),
            self.finished.payload.eq(read.data),
            self.finished.valid.eq(self.allowed & ~retiring & (level > self._patience)),
            pull.eq((self.finished.valid & self.finished.ready) | (push & (level == _DEPTH))),
        ]
        m.d.sync += level.eq(level + push - pull)
        with m.If(push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(pull):
            m.d.sync += read.addr.eq(read.addr + 1)
        with m.If(self.finished.valid & self.finished.ready):
            m.d.sync += retiring.eq(1)
        with m.Elif(self.retired):
            m.d.sync += retiring.eq(0)
        with m.If(self.flush):
            m.d.sync += [level.eq(0), read.addr.eq(write.addr)]
        return m
