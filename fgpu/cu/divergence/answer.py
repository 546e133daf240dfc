"""What becomes of the request that a unit serves, where it serves one after the other."""

from typing import Any

from amaranth.hdl import Module, Signal

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS

from .interface import DivergenceUnit, Outcome, OutcomeKind
from .turns import Turns

__all__ = ["Answer"]


class Answer:
    """Gathers in registers the outcome of the request in ``turns.work``, and the new mask; hands both out at the end.

    They are at the unit's ports in the cycle in which the request is ``finished``, the one after :meth:`done`. The
    methods are called in the states of a machine that begins with :meth:`wait` and goes on with the state ``Decide``.
    """

    def __init__(self, m: Module, unit: DivergenceUnit, turns: Turns) -> None:
        self._m, self._turns = m, turns
        self.finished = Signal()
        self._outcome: Any = Signal(Outcome, name="outcome")
        self.mask = Signal(WAVEFRONT_SIZE)
        self.changes = Signal()     # there is a new mask
        wavefront = turns.work.wavefront
        m.d.comb += [
            unit.outcome.eq(self._outcome), unit.outcome.valid.eq(self.finished),
            self._outcome.wavefront.eq(wavefront),
            unit.mask_write.valid.eq(self.finished & self.changes),
            unit.mask_write.wavefront.eq(wavefront), unit.mask_write.mask.eq(self.mask),
        ]
        m.d.sync += self.finished.eq(0)

    def keep(self, *kept: tuple[list[Any], Any]) -> None:
        """Have in a register what each wavefront has of its own, of that which is served; give it back at the end."""
        m = self._m
        for of, register in kept:
            self._turns.latch(m, of, register)
        for number in range(WAVEFRONTS):
            with m.If(self.finished & (self._turns.work.wavefront == number)):
                m.d.sync += [of[number].eq(register) for of, register in kept]

    def wait(self) -> None:
        """The state in which nothing is served."""
        m = self._m
        with m.State("Idle"):
            m.d.sync += self.changes.eq(0)
            with m.If(self._turns.waiting):
                m.d.comb += self._turns.serve.eq(1)
                m.next = "Decide"

    def goes(self, kind: OutcomeKind, pc: Any = 0, who: Any = None) -> None:
        """How the wavefront goes on, where, and, if others than now, who."""
        self._m.d.sync += [self._outcome.kind.eq(kind), self._outcome.pc.eq(pc)]
        if who is not None:
            self._m.d.sync += [self.changes.eq(1), self.mask.eq(who)]

    def done(self) -> None:
        """It is finished in the next cycle."""
        self._m.d.sync += self.finished.eq(1)
        self._m.next = "Idle"

    def overflow(self) -> None:
        """There is no room for an entry: the wavefront stops, as it was."""
        self.goes(OutcomeKind.OVERFLOW)
        self._m.d.sync += self.changes.eq(0)
        self.done()
