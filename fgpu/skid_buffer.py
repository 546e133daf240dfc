"""Skid buffer: a stream whose ready comes from a register."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["SkidBuffer"]


class SkidBuffer(wiring.Component):
    """Room for one payload that its receiver did not take in the cycle in which it came.

    ``input.ready`` depends on nothing of the same cycle. Latency: none; throughput: one payload a cycle.
    """

    def __init__(self, shape: ShapeLike) -> None:
        self._shape = shape
        super().__init__({"input": In(stream.Signature(shape)), "output": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        full, kept = Signal(), Signal(self._shape)
        m.d.comb += [
            self.input.ready.eq(~full),
            self.output.valid.eq(full | self.input.valid),
            self.output.payload.eq(Mux(full, kept, self.input.payload)),
        ]
        m.d.sync += full.eq(self.output.valid & ~self.output.ready)
        with m.If(~full):
            m.d.sync += kept.eq(self.input.payload)
        return m
