"""Which wavefront issues next."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import WAVEFRONTS
from fgpu.gateware.choose import first_above

__all__ = ["WavefrontTurn"]

_PATIENCE = 64
"""Issued instructions after which the first wavefront goes to the end of the line."""


class WavefrontTurn(wiring.Component):
    """Chooses the first ready wavefront of a line, one-hot; combinational.

    The head of the line keeps its place until it is ``free``, even while it waits for memory. So wavefronts reach
    their loads one after the other, and the first of them store while the last still load: memory works while the
    vector does. If all took turns, they would all compute and then all wait. Nobody starves: every wavefront comes to
    the head.
    """

    ready: In(WAVEFRONTS)
    free: In(WAVEFRONTS)
    accept: In(1)
    valid: Out(1)
    choice: Out(WAVEFRONTS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        head = Signal(range(WAVEFRONTS))
        behind = Signal(WAVEFRONTS, init=-1)    # the head and those with higher numbers
        m.d.comb += [
            self.valid.eq(self.ready.any()),
            self.choice.eq(first_above(self.ready, behind)),
        ]

        issued = Signal(range(_PATIENCE))
        with m.If(self.accept & self.valid):
            m.d.sync += issued.eq(issued + 1)
        with m.If(self.free.bit_select(head, 1) | (issued == _PATIENCE - 1)):
            m.d.sync += [head.eq(head + 1), issued.eq(0)]
            m.d.sync += behind.eq(Mux(head == WAVEFRONTS - 1, -1, behind & (behind << 1)))
        return m
