"""Requests of wavefronts to a unit that serves one after the other."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.memory import Memory

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS
from fgpu.gateware.choose import lowest, number_of, only

from ..control_word import Flow
from .interface import BranchParts, DivergenceUnit, FlowRequest

__all__ = ["Turns"]


class Turns:
    """Keeps requests, and who takes a branch, until their turn comes.

    There are some if ``waiting``. With ``serve``, one of them is in ``work`` from the next cycle on; of a branch the
    work-items that have ``taken`` it, the ``others``, whether there are any of both (``parts``), and of the former
    ``fewer``. The wavefront that is served is ``mine``, a bit for each, until then.
    """

    def __init__(self, m: Module, unit: DivergenceUnit) -> None:
        request: Any = unit.request
        parts = BranchParts(m, unit.branch)
        m.submodules.requests = requests = Memory(shape=FlowRequest, depth=WAVEFRONTS, init=[])
        m.submodules.takers = takers = Memory(shape=WAVEFRONT_SIZE, depth=WAVEFRONTS, init=[])
        note, note_taken = requests.write_port(), takers.write_port()
        m.d.comb += [
            note.addr.eq(request.wavefront), note.en.eq(unit.request_valid), note.data.eq(request),
            note_taken.addr.eq(parts.wavefront), note_taken.en.eq(parts.resolved), note_taken.data.eq(parts.taken),
        ]
        pending, fewer, both = Signal(WAVEFRONTS), Signal(WAVEFRONTS), Signal(WAVEFRONTS)
        self.serve = Signal()
        self.mine = lowest(pending)
        self.waiting = pending.any()
        with m.If(self.serve):
            m.d.sync += pending.eq(pending & ~self.mine)
        for number in range(WAVEFRONTS):
            with m.If((unit.request_valid & (request.flow != Flow.BRANCH) & (request.wavefront == number))
                      | (parts.resolved & (parts.wavefront == number))):
                m.d.sync += pending[number].eq(1)
            with m.If(parts.resolved & (parts.wavefront == number)):
                m.d.sync += [fewer[number].eq(parts.taken_count < parts.not_taken_count),
                             both[number].eq((parts.taken_count != 0) & (parts.not_taken_count != 0))]

        self.work: Any = Signal(FlowRequest)
        self.taken, self.fewer, self.parts = Signal(WAVEFRONT_SIZE), Signal(name="fewer1"), Signal(name="parts1")
        look, look_taken = requests.read_port(domain="comb"), takers.read_port(domain="comb")
        m.d.comb += [look.addr.eq(number_of(self.mine)), look_taken.addr.eq(number_of(self.mine))]
        with m.If(self.serve):
            m.d.sync += [
                self.work.eq(look.data), self.taken.eq(look_taken.data),
                self.fewer.eq((fewer & self.mine).any()), self.parts.eq((both & self.mine).any()),
            ]
        self.others = self.work.mask & ~self.taken

    def latch(self, m: Module, of: list[Any], register: Any) -> None:
        """Have in ``register`` what each wavefront has of its own, of that which is served."""
        with m.If(self.serve):
            m.d.sync += register.eq(only(of, self.mine))

    def jump(self) -> Any:
        """Where a branch leads that does not part work-items, if any of them takes it."""
        return Mux(self.taken.any(), self.work.target, self.work.next)
