"""Which wavefront issues next."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import WAVEFRONTS
from fgpu.gateware.choose import first_above
from fgpu.interfaces.memory_bus import LoadTurn

__all__ = ["WavefrontTurn"]

_PATIENCE = 64
"""Issued instructions after which the first wavefront goes to the end of the line."""
_LONG_PATIENCE = 256
"""The same while it is the only one that loads."""


class WavefrontTurn(wiring.Component):
    """Chooses the first ready wavefront of a line, one-hot; combinational.

    The head of the line keeps its place until it is ``free``, even while it waits for memory. So wavefronts reach
    their loads one after the other, and the first of them store while the last still load: memory works while the
    vector does. If all took turns, they would all compute and then all wait. Nobody starves: every wavefront comes to
    the head.

    While loads have turns (``load_turn``), the head alone ``may_load``, if it is its compute unit's turn; that is
    told a cycle late. It keeps its place for longer then, until it has used up its lines. One that has ``arrived`` at
    a barrier waits for others, and gives its place up.
    """

    ready: In(WAVEFRONTS)
    free: In(WAVEFRONTS)
    accept: In(1)
    load_turn: In(LoadTurn)
    arrived: In(WAVEFRONTS)
    valid: Out(1)
    choice: Out(WAVEFRONTS)
    may_load: Out(WAVEFRONTS, init=-1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        head = Signal(range(WAVEFRONTS))
        behind = Signal(WAVEFRONTS, init=-1)    # the head and those with higher numbers
        m.d.comb += [
            self.valid.eq(self.ready.any()),
            self.choice.eq(first_above(self.ready, behind)),
        ]

        issued = Signal(range(_LONG_PATIENCE))
        with m.If(self.accept & self.valid):
            m.d.sync += issued.eq(issued + 1)
        crowded = self.load_turn.crowded
        lacks_patience = Mux(crowded, issued == _LONG_PATIENCE - 1,
                             (issued & (_PATIENCE - 1)) == _PATIENCE - 1)
        leaves = self.free | Mux(crowded, self.arrived, 0)
        with m.If(leaves.bit_select(head, 1) | lacks_patience):
            m.d.sync += [head.eq(head + 1), issued.eq(0)]
            m.d.sync += behind.eq(Mux(head == WAVEFRONTS - 1, -1, behind & (behind << 1)))
        m.d.sync += self.may_load.eq(Mux(crowded, self.load_turn.unit << head, -1))
        return m
