"""The end of a structure as the place where work-items meet, and a number for each lane instead of masks.

A lane that does not run waits in one entry of the stack: that of its path, of the meeting to which it came, or of the
call out of which it returned. So its number says all, and the entries have no masks: each lane is compared with the
entry that is popped, as the counters of Intel's are with the height of the stack.
"""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.memory import Memory

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS, Config

from .answer import Answer
from .meetings import Meetings
from .nesting import Stack
from .turns import Turns

__all__ = ["Counters", "Numbers"]


class Numbers:
    """The same as :class:`~fgpu.cu.divergence.masks.Masks`, by the numbers of the lanes."""

    def __init__(self, m: Module, stack: Stack, turns: Turns, answer: Answer) -> None:
        self._m, self._stack, self._turns = m, stack, turns
        bits = stack.depth_bits
        self._parked, self._nowhere = Const(1 << bits, bits + 1), Const((1 << bits) + 1, bits + 1)
        layout = data.ArrayLayout(bits + 1, WAVEFRONT_SIZE)
        m.submodules.numbers = numbers = Memory(shape=layout, depth=WAVEFRONTS, init=[])
        read, write = numbers.read_port(domain="comb"), numbers.write_port()
        wavefront = turns.work.wavefront
        self._fresh = Signal(WAVEFRONTS, init=-1)        # nobody waits anywhere, whatever the memory says

        # The entries of the innermost meeting and of the innermost call.
        self._base, self._call = Signal(bits), Signal(bits + 1)
        bases = [Signal(bits, name=f"base{number}") for number in range(WAVEFRONTS)]
        self._calls = [Signal(bits + 1, name=f"call{number}", init=self._nowhere.value)
                       for number in range(WAVEFRONTS)]
        answer.keep((bases, self._base), (self._calls, self._call))

        # ``lanes`` get the ``number``; those in the entry that is read, or at the barrier, may run again.
        self._lanes, self._number = Signal(WAVEFRONT_SIZE), Signal(bits + 1)
        self._puts, self._leave_entry, self._leave_barrier = Signal(), Signal(), Signal()
        self.path = self.there = Signal(WAVEFRONT_SIZE, name="path")
        self.parked = Signal(WAVEFRONT_SIZE, name="parked")
        is_fresh = Array(self._fresh)[wavefront]
        top = stack.level - 1
        for lane in range(WAVEFRONT_SIZE):
            m.d.comb += [
                self.path[lane].eq((read.data[lane] == Cat(top[:bits], 0)) & ~is_fresh),
                self.parked[lane].eq((read.data[lane] == self._parked) & ~is_fresh),
                write.data[lane].eq(Mux(self._lanes[lane], self._number, Mux(
                    is_fresh | (self._leave_entry & self.path[lane]) | (self._leave_barrier & self.parked[lane]),
                    self._nowhere, read.data[lane]))),
            ]
        m.d.comb += [
            read.addr.eq(wavefront), write.addr.eq(wavefront),
            write.en.eq(self._puts | self._leave_entry | self._leave_barrier),
        ]
        with m.If(write.en):
            m.d.sync += self._fresh.eq(self._fresh & ~(1 << wavefront))

    def start(self, number: int) -> None:
        """A wavefront has no entries any more."""
        self._m.d.sync += [self._fresh[number].eq(1), self._calls[number].eq(self._nowhere)]

    def _put(self, mask: Any, number: Any) -> None:
        self._m.d.comb += [self._puts.eq(1), self._lanes.eq(mask), self._number.eq(number)]

    def push(self, mask: Any) -> None:
        """Of the entry that is written."""
        self._put(mask, self._stack.level)

    def call(self) -> None:
        """The entry that is written is that of a call."""
        self._m.d.comb += self._stack.write.data.outer.eq(self._call)
        self._m.d.sync += self._call.eq(self._stack.level)

    def open(self) -> None:
        """The entry that is written is that of the meeting until now; nobody is at the new one."""
        self._m.d.comb += self._stack.write.data.outer.eq(self._base)
        self._m.d.sync += self._base.eq(self._stack.level)

    def come(self, mask: Any) -> None:
        """To the innermost meeting."""
        self._put(mask, self._base)

    def close(self) -> None:
        """The entry that is read is that of the meeting from now on."""
        self._m.d.sync += self._base.eq(self._stack.read.data.outer)

    def pop(self) -> None:
        """Who is in the entry that is read goes on."""
        self._m.d.comb += self._leave_entry.eq(1)

    def back(self) -> None:
        """Who is in the call that is read goes on."""
        self.pop()
        self._m.d.sync += self._call.eq(self._stack.read.data.outer)

    def leave(self) -> None:
        """Who runs has returned."""
        self._put(self._turns.work.mask, self._call)

    def arrive(self) -> None:
        """Who is at the barrier goes on."""
        self._m.d.comb += self._leave_barrier.eq(1)

    def park(self, mask: Any) -> None:
        """These are all who are at the barrier; but for those who run they are there already."""
        self._put(self._turns.work.mask, self._parked)


class Counters(Meetings):
    """Those that do not jump run first; who returns is switched off for good (Intel)."""

    store = Numbers

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.fields = {"outer": self.depth_bits + 1}

    def _taken_first(self, turns: Turns) -> Any:
        return 0
