"""Who waits where, as masks: what most schemes with meetings keep in the entries of their stack."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib.memory import Memory

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS
from fgpu.gateware.choose import number_of

from .answer import Answer
from .nesting import Stack
from .turns import Turns

__all__ = ["Masks"]


class Masks:
    """Who waits where: masks, in the entries of the stack and of the innermost meeting.

    ``path``: the work-items of the entry that is read, a path's or a call's; ``there``: those who have come to the
    meeting; ``parked``: to the barrier.
    """

    def __init__(self, m: Module, stack: Stack, turns: Turns, answer: Answer) -> None:
        self._m, self._stack, self._turns = m, stack, turns
        m.submodules.there = memory = Memory(shape=WAVEFRONT_SIZE, depth=WAVEFRONTS, init=[])
        m.submodules.parked = parked = Memory(shape=WAVEFRONT_SIZE, depth=WAVEFRONTS, init=[])
        look, keep = memory.read_port(domain="comb"), memory.write_port()
        self._park, look_parked = parked.write_port(), parked.read_port(domain="comb")
        self.there = Signal(WAVEFRONT_SIZE, name="there")
        with m.If(turns.serve):
            m.d.sync += self.there.eq(look.data)
        m.d.comb += [
            look.addr.eq(number_of(turns.mine)), keep.addr.eq(turns.work.wavefront), keep.data.eq(self.there),
            keep.en.eq(answer.finished), self._park.addr.eq(turns.work.wavefront),
            look_parked.addr.eq(turns.work.wavefront),
        ]
        self.path, self.parked = stack.read.data.mask, look_parked.data

    def start(self, number: int) -> None:
        """A wavefront has no entries any more."""

    def push(self, mask: Any) -> None:
        """Of the entry that is written."""
        self._m.d.comb += self._stack.write.data.mask.eq(mask)

    def call(self) -> None:
        """The entry that is written is that of a call."""
        self.push(self._turns.work.mask)

    def open(self) -> None:
        """The entry that is written is that of the meeting until now; nobody is at the new one."""
        self.push(self.there)
        self._m.d.sync += self.there.eq(0)

    def come(self, mask: Any) -> None:
        """To the innermost meeting."""
        self._m.d.sync += self.there.eq(self.there | mask)

    def close(self) -> None:
        """The entry that is read is that of the meeting from now on."""
        self._m.d.sync += self.there.eq(self._stack.read.data.mask)

    def pop(self) -> None:
        """Who is in the entry that is read goes on."""

    def back(self) -> None:
        """Who is in the call that is read goes on."""

    def leave(self) -> None:
        """Who runs has returned."""

    def arrive(self) -> None:
        """Who is at the barrier goes on."""

    def park(self, mask: Any) -> None:
        """These are all who are at the barrier."""
        self._m.d.comb += [self._park.en.eq(1), self._park.data.eq(mask)]
