"""Whose turn it is where one compute unit loads at a time."""

from typing import Final

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config

__all__ = ["UnitTurn"]

_LONGEST: Final = 16384
"""Cycles of a turn: enough to use up the lines of a wavefront."""
_QUIET: Final = 256
"""Cycles without a request that end it."""


class UnitTurn(wiring.Component):
    """Gives the compute units turns: ``unit``, one-hot; the first one while that is not ``wanted``.

    A turn of one that does not ask for anything ends early: ``requests`` tells who does.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "wanted": In(1),
            "requests": In(config.compute_units),
            "unit": Out(config.compute_units, init=1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cycles, quiet = Signal(range(_LONGEST)), Signal(range(_QUIET))
        asks, ends = Signal(), Signal()
        m.d.sync += [
            asks.eq((self.requests & self.unit).any()), ends.eq((cycles == _LONGEST - 1) | (quiet == _QUIET - 1)),
            cycles.eq(cycles + 1), quiet.eq(Mux(asks, 0, quiet + 1)),
        ]
        with m.If(ends):
            m.d.sync += [self.unit.eq(self.unit.rotate_left(1)), cycles.eq(0), quiet.eq(0)]
        with m.If(~self.wanted):
            m.d.sync += [self.unit.eq(1), cycles.eq(0), quiet.eq(0)]
        return m
