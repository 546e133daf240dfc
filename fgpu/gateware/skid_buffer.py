"""Skid buffer: a register between two streams that has room for the payload that comes too late to be stopped."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["SkidBuffer"]


class SkidBuffer(wiring.Component):
    """Takes and gives one payload a cycle, and what both streams get comes from registers. Latency 1 cycle.

    ``input.ready`` says whether there is room for a second payload, not whether the first leaves: so no path goes
    from one unit's ready through the next. With ``step``, ``next`` is the payload that ``output`` has from the next
    cycle on, if any.
    """

    def __init__(self, shape: ShapeLike) -> None:
        self._shape = shape
        super().__init__({"input": In(stream.Signature(shape)), "output": Out(stream.Signature(shape)),
                          "step": Out(1), "next": Out(shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        late = Signal(self._shape)
        room = Signal(init=1)       # there is no late one
        full = Signal()             # the opposite, for the others: what is within steers all of the payload
        m.d.comb += [
            self.input.ready.eq(~full),
            self.step.eq(~self.output.valid | self.output.ready),
            self.next.eq(Mux(room, self.input.payload, late)),
        ]
        with m.If(room):
            m.d.sync += late.eq(self.input.payload)
        with m.If(self.step):
            m.d.sync += [
                room.eq(1), full.eq(0),
                self.output.valid.eq(self.input.valid | ~room),
                self.output.payload.eq(self.next),
            ]
        with m.Elif(self.input.valid):
            m.d.sync += [room.eq(0), full.eq(1)]
        return m
