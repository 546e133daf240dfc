"""The path with the lowest PC runs: paths of a wavefront meet wherever one comes to the PC of another.

A stack as large as the other scheme's holds the paths that wait, the lowest PC on top; a call's entry lies below the
paths inside it. So no path passes another one, and programs need no annotations. Each wavefront's controller compares
its PC with the top: where it is reached or passed, an issue slot goes to ``JOIN``, by which both go on together, or
change places. The order by calls and PCs is that of Simty (Collange, 2017).

Requests are served one after the other: 3 cycles for a branch that does not part, call and end; 4 for one that does;
5 for what pops an entry, and 6 if paths change places; a path that belongs below the top takes 3 cycles more for each
entry that it passes, and 2 for each that is moved for it.
"""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import Out
from amaranth.utils import exact_log2

from fgpu.config import WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS
from fgpu.gateware.block_ram import BlockRam

from ..control_word import Flow
from .answer import Answer
from .interface import DivergenceUnit, OutcomeKind
from .paths import ENTRY, PATH, Parked
from .turns import Turns

__all__ = ["LowestPc"]


class _Stack:
    """The stack of the wavefront that is served: ``level`` entries, on top a path at ``top_pc`` if it ``waits``.

    One entry is read and one written in a cycle; what was read is in ``read.data`` in the next one. What is written
    is ``carry``, a path on its way to a ``place`` at ``level`` or below, where states assign nothing else.
    """

    def __init__(self, m: Module, unit: "LowestPc", turns: Turns, answer: Answer) -> None:
        self._m, self._wavefront, self._bits = m, turns.work.wavefront, unit.depth_bits
        m.submodules.stack = stack = BlockRam(ENTRY, WAVEFRONTS << self._bits)
        self.write: Any = stack.write_port()
        self.read: Any = stack.read_port()
        self.level = Signal(self._bits + 1)
        self.waits = Signal(name="waits1")
        self.top_pc = Signal(FAULT_PC_BITS, name="top1")
        self._levels = [Signal.like(self.level, name=f"level{number}") for number in range(WAVEFRONTS)]
        answer.keep((self._levels, self.level), ([unit.waits[number] for number in range(WAVEFRONTS)], self.waits),
                    ([unit.tops[number] for number in range(WAVEFRONTS)], self.top_pc))
        self.place = Signal.like(self.level)
        self.full = self.level[self._bits]
        self.carry: Any = Signal(PATH)
        m.d.comb += [self.write.data.pc.eq(self.carry.pc), self.write.data.mask.eq(self.carry.mask),
                     self.write.data.is_call.eq(0)]

    def read_at(self, place: Any) -> None:
        self._m.d.comb += [self.read.addr.eq(Cat(place[:self._bits], self._wavefront)), self.read.en.eq(1)]

    def write_at(self, place: Any) -> None:
        self._m.d.comb += [self.write.addr.eq(Cat(place[:self._bits], self._wavefront)), self.write.en.eq(1)]

    def top_is(self, is_path: Any, pc: Any) -> None:
        self._m.d.sync += [self.waits.eq(is_path), self.top_pc.eq(pc)]

    def push(self, is_path: int, pc: Any) -> None:
        """On top, where there is room."""
        self.write_at(self.level)
        self._m.d.sync += self.level.eq(self.level + 1)
        self.top_is(is_path, pc)

    def start(self, number: int) -> None:
        """A wavefront has no entries any more."""
        self._m.d.sync += self._levels[number].eq(0)


class LowestPc(DivergenceUnit):
    """Resolves control instructions, one after the other: 3 to 6 cycles each, and more to bring a path to its place
    (see above). A wavefront's stack has ``config.link_stack_depth`` entries; one more is an ``OVERFLOW``.

    ``waits``, a bit for each wavefront: on top of its stack is a path, at ``tops`` (``FAULT_PC_BITS`` bits for each
    wavefront). Both change in the cycle after the outcome.
    """

    meets = True

    def __init__(self, config: Config) -> None:
        self.depth_bits = exact_log2(config.link_stack_depth)
        super().__init__(waits=Out(WAVEFRONTS), tops=Out(data.ArrayLayout(FAULT_PC_BITS, WAVEFRONTS)))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turns = Turns(m, self)
        answer = Answer(m, self, turns)
        stack = _Stack(m, self, turns, answer)
        parked = Parked(m, turns.work)
        target_first = Signal()
        m.d.comb += target_first.eq(turns.work.target < turns.work.next)
        with m.FSM():
            answer.wait()
            self._decide(m, turns, answer, stack, parked, target_first)
            self._push(m, answer, stack)
            self._insert(m, answer, stack)
        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                stack.start(number)
                m.d.sync += [parked.has_parked[number].eq(0), self.waits[number].eq(0)]
        return m

    def _decide(self, m: Module, turns: Turns, answer: Answer, stack: _Stack, parked: Parked,
                target_first: Signal) -> None:
        """The states that a request begins with, and those that take the path on top off the stack."""
        work, read = turns.work, stack.read
        meets = Signal()            # the path that runs is where that on top is
        with m.State("Decide"):
            stack.read_at(stack.level - 1)
            m.d.sync += [stack.place.eq(stack.level), meets.eq(stack.top_pc == work.next)]
            with m.Switch(work.flow):
                with m.Case(Flow.BRANCH):
                    self._branch(m, turns, answer, stack, target_first)
                with m.Case(Flow.CALL):
                    self._call(m, work, answer, stack)
                with m.Case(Flow.RETURN):
                    with m.If(stack.level != 0):
                        m.next = "Pop"
                    with m.Else():
                        answer.goes(OutcomeKind.RETIRE)
                        with m.If(parked.is_parked):
                            answer.goes(OutcomeKind.ARRIVE, parked.path.pc, parked.path.mask)
                        m.d.sync += parked.is_parked.eq(0)
                        answer.done()
                with m.Case(Flow.SYNC):
                    m.d.comb += parked.put.eq(1)
                    m.d.sync += parked.is_parked.eq(stack.waits)
                    with m.If(stack.waits):
                        m.next = "Pop"
                    with m.Else():
                        answer.goes(OutcomeKind.ARRIVE, work.next, parked.came)
                        answer.done()
                with m.Default():       # JOIN
                    m.next = "Pop"
        with m.State("Pop"):        # what was on top; read what lies below
            stack.read_at(stack.level - 2)
            m.d.sync += [
                stack.level.eq(stack.level - 1), stack.place.eq(stack.level - 1),
                stack.carry.pc.eq(work.next), stack.carry.mask.eq(work.mask),
            ]
            answer.goes(OutcomeKind.JUMP, read.data.pc, read.data.mask)
            m.next = "Top"
            with m.If((work.flow == Flow.JOIN) & meets):
                m.d.sync += answer.mask.eq(work.mask | read.data.mask)
            with m.Elif(work.flow == Flow.JOIN):
                m.next = "Swap"
        with m.State("Top"):
            stack.top_is((stack.level != 0) & ~read.data.is_call, read.data.pc)
            answer.done()
        with m.State("Swap"):
            stack.top_is((stack.level != 0) & ~read.data.is_call, read.data.pc)
            m.next = "Push"

    @staticmethod
    def _branch(m: Module, turns: Turns, answer: Answer, stack: _Stack, target_first: Signal) -> None:
        work = turns.work
        answer.goes(OutcomeKind.JUMP, work.target)
        with m.If(~turns.taken.any()):
            answer.goes(OutcomeKind.RESUME)
        with m.If(turns.parts):
            answer.goes(OutcomeKind.JUMP, Mux(target_first, work.target, work.next),
                        Mux(target_first, turns.taken, turns.others))
            m.d.sync += [
                stack.carry.mask.eq(Mux(target_first, turns.others, turns.taken)),
                stack.carry.pc.eq(Mux(target_first, work.next, work.target)),
            ]
            m.next = "Push"
        with m.Else():
            answer.done()

    @staticmethod
    def _call(m: Module, work: Any, answer: Answer, stack: _Stack) -> None:
        written = stack.write.data
        m.d.comb += [written.pc.eq(work.next), written.mask.eq(work.mask), written.is_call.eq(1)]
        answer.goes(OutcomeKind.JUMP, work.target)
        with m.If(stack.full):
            answer.goes(OutcomeKind.OVERFLOW)
        with m.Else():
            stack.push(0, 0)
        answer.done()

    @staticmethod
    def _push(m: Module, answer: Answer, stack: _Stack) -> None:
        """The state that puts ``carry`` on top, if it belongs there."""
        with m.State("Push"):
            stack.read_at(stack.level - 1)
            with m.If(stack.waits & (stack.top_pc <= stack.carry.pc)):
                m.next = "Fetch"
            with m.Else():
                with m.If(stack.full):
                    answer.goes(OutcomeKind.OVERFLOW)
                with m.Else():
                    stack.push(1, stack.carry.pc)
                answer.done()

    @staticmethod
    def _insert(m: Module, answer: Answer, stack: _Stack) -> None:
        """The states that bring ``carry`` to its place further below, and what is there and above it one up."""
        carry, read, place = stack.carry, stack.read, stack.place
        entry: Any = Signal(ENTRY)
        with m.State("Fetch"):
            m.d.sync += entry.eq(read.data)
            m.next = "Compare"
        with m.State("Compare"):    # with the entry below ``place``
            is_path = (place != 0) & ~entry.is_call
            with m.If(is_path & (entry.pc == carry.pc)):
                m.d.comb += stack.write.data.mask.eq(carry.mask | entry.mask)
                stack.write_at(place - 1)
                answer.done()
            with m.Elif(is_path & (entry.pc < carry.pc)):
                m.d.sync += place.eq(place - 1)
                m.next = "Below"
            with m.Elif(stack.full):
                answer.goes(OutcomeKind.OVERFLOW)
                answer.done()
            with m.Else():
                m.next = "Move"
        with m.State("Below"):
            stack.read_at(place - 1)
            m.next = "Fetch"
        with m.State("Move"):       # ``carry`` to its ``place``, and what is there one up
            stack.read_at(place)
            m.next = "Put"
        with m.State("Put"):
            stack.write_at(place)
            m.d.sync += [place.eq(place + 1), carry.pc.eq(read.data.pc), carry.mask.eq(read.data.mask)]
            m.next = "Move"
            with m.If(place == stack.level):
                m.d.sync += stack.level.eq(stack.level + 1)
                answer.done()
