"""Half buffer: a register between two streams that takes its next payload when the last one has gone."""

from amaranth.hdl import Module, ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["HalfBuffer"]


class HalfBuffer(wiring.Component):
    """Neither direction goes through in one cycle: all outputs come from registers. Latency 1 cycle."""

    def __init__(self, shape: ShapeLike) -> None:
        super().__init__({"input": In(stream.Signature(shape)), "output": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.input.ready.eq(~self.output.valid)
        with m.If(~self.output.valid):
            m.d.sync += [self.output.valid.eq(self.input.valid), self.output.payload.eq(self.input.payload)]
        with m.Elif(self.output.ready):
            m.d.sync += self.output.valid.eq(0)
        return m
