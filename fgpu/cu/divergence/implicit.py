"""Control without annotations: two stacks, of those that jumped forward and of those that left loops.

The scheme of Collange, Daumas, Defour and Parello (2009, section 5.2). At a forward branch those that do not jump go
on, and the others wait at its target, on the one stack; at a backward branch those that jump do, and the others wait
behind it, on the other one, together with those who left the loop before. Each wavefront's controller compares its PC
with the lower of both tops: where it is reached or passed, an issue slot goes to ``JOIN``, by which both go on
together, or change places. Each call has an entry on both stacks, below those of the paths inside it.

Requests are served one after the other: 3 cycles for a branch that does not part, 4 for one that does and for paths
that change places, 5 for a call, 6 for what pops a path, 9 for a return to a call.
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

__all__ = ["TwoStacks"]

_FORWARD, _LOOPS = range(2)


class _Stacks:
    """Both stacks of the wavefront that is served: the ``level`` of each, and its ``top`` PC if a path ``waits``.

    ``lower`` is that whose path on top has the lower PC, if ``any_waits``; ``chosen`` that to pop from, assigned by
    the states. One entry is read and one written in a cycle; what was read is in ``read.data`` in the next one.
    """

    def __init__(self, m: Module, unit: "TwoStacks", turns: Turns, answer: Answer) -> None:
        self._m, self._answer, self._wavefront, self._bits = m, answer, turns.work.wavefront, unit.depth_bits
        m.submodules.stack = stack = BlockRam(ENTRY, 2 * WAVEFRONTS << self._bits)
        self.write: Any = stack.write_port()
        self.read: Any = stack.read_port()
        names = ("forward", "loops")
        self.level = [Signal(self._bits + 1, name=f"level_{name}") for name in names]
        self.waits = [Signal(name=f"waits_{name}") for name in names]
        self.top = [Signal(FAULT_PC_BITS, name=f"top_{name}") for name in names]
        self.chosen = Signal()
        for which in (_FORWARD, _LOOPS):
            for register in (self.level[which], self.waits[which], self.top[which]):
                of = [Signal.like(register, name=f"{register.name}{number}") for number in range(WAVEFRONTS)]
                answer.keep((of, register))
                if register is not self.top[which]:
                    for number in range(WAVEFRONTS):
                        with m.If(unit.start[number]):
                            m.d.sync += of[number].eq(0)
        self.any_waits, self.lower = Signal(name="any_waits"), Signal(name="lower")
        m.d.comb += [
            self.any_waits.eq(self.waits[_FORWARD] | self.waits[_LOOPS]),
            self.lower.eq(self.waits[_LOOPS] & (~self.waits[_FORWARD] | (self.top[_LOOPS] < self.top[_FORWARD]))),
        ]

    def tell(self, unit: "TwoStacks") -> None:
        """The wavefront's controller where its next path waits: a cycle late, as it is then not yet ready again."""
        m = self._m
        late, late_wavefront = Signal(), Signal.like(self._wavefront)
        late_waits, late_top = Signal(), Signal(FAULT_PC_BITS)
        m.d.sync += [
            late.eq(self._answer.finished), late_wavefront.eq(self._wavefront), late_waits.eq(self.any_waits),
            late_top.eq(Mux(self.lower, self.top[_LOOPS], self.top[_FORWARD])),
        ]
        for number in range(WAVEFRONTS):
            with m.If(late & (late_wavefront == number)):
                m.d.sync += [unit.waits[number].eq(late_waits), unit.tops[number].eq(late_top)]
            with m.If(unit.start[number]):
                m.d.sync += unit.waits[number].eq(0)

    def push(self, which: int, pc: Any, who: Any, is_call: int) -> None:
        """An entry, or, if there is no room, the end."""
        m, level = self._m, self.level[which]
        m.d.comb += [
            self.write.addr.eq(self._at(which, level)), self.write.en.eq(~level[self._bits]),
            self.write.data.pc.eq(pc), self.write.data.mask.eq(who), self.write.data.is_call.eq(is_call),
        ]
        m.d.sync += [level.eq(level + 1), self.waits[which].eq(not is_call), self.top[which].eq(pc)]
        with m.If(level[self._bits]):
            self._answer.overflow()

    def read_top(self, which: Any) -> None:
        self._m.d.comb += [self.read.addr.eq(self._at(which, self._level(which) - 1)), self.read.en.eq(1)]

    def replace_top(self, which: Any, pc: Any, who: Any) -> None:
        """By a path."""
        self._m.d.comb += [
            self.write.addr.eq(self._at(which, self._level(which) - 1)), self.write.en.eq(1),
            self.write.data.pc.eq(pc), self.write.data.mask.eq(who),
        ]

    def _at(self, which: Any, place: Any) -> Any:
        return Cat(place[:self._bits], self._wavefront, which)

    def _level(self, which: Any) -> Any:
        return self.level[which] if isinstance(which, int) else Mux(which, self.level[_LOOPS], self.level[_FORWARD])


class TwoStacks(DivergenceUnit):
    """Resolves control instructions, one after the other: 3 to 9 cycles each (see above). Each of a wavefront's two
    stacks has ``config.link_stack_depth`` entries; one more is an ``OVERFLOW``.

    ``waits``, a bit for each wavefront: a path is on top of one of its stacks, the one with the lower PC at ``tops``
    (``FAULT_PC_BITS`` bits for each wavefront). Both change two cycles after the outcome.
    """

    meets = True

    def __init__(self, config: Config) -> None:
        self.depth_bits = exact_log2(config.link_stack_depth)
        super().__init__(waits=Out(WAVEFRONTS), tops=Out(data.ArrayLayout(FAULT_PC_BITS, WAVEFRONTS)))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turns = Turns(m, self)
        answer = Answer(m, self, turns)
        stacks = _Stacks(m, self, turns, answer)
        stacks.tell(self)
        parked = Parked(m, turns.work)
        merges = Signal()           # those who leave a loop join those who left it before
        same = Signal()             # the path that runs is where the one to pop is
        with m.FSM():
            answer.wait()
            self._decide(m, turns, answer, stacks, parked, merges, same)
            self._part(m, turns, answer, stacks, merges)
            with m.State("Call"):
                answer.done()
                stacks.push(_LOOPS, 0, 0, 1)
            self._pop(m, turns.work, answer, stacks, same)
        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                m.d.sync += parked.has_parked[number].eq(0)
        return m

    @staticmethod
    def _decide(m: Module, turns: Turns, answer: Answer, stacks: _Stacks, parked: Parked, merges: Signal,
                same: Signal) -> None:
        """The state that a request begins with."""
        work = turns.work
        with m.State("Decide"):
            m.d.sync += [
                stacks.chosen.eq(stacks.lower), merges.eq(stacks.waits[_LOOPS] & (stacks.top[_LOOPS] == work.next)),
                same.eq(Mux(stacks.lower, stacks.top[_LOOPS], stacks.top[_FORWARD]) == work.next),
            ]
            with m.Switch(work.flow):
                with m.Case(Flow.BRANCH):
                    answer.goes(OutcomeKind.JUMP, work.target)
                    with m.If(~turns.taken.any()):
                        answer.goes(OutcomeKind.RESUME)
                    with m.If(turns.parts):
                        m.next = "Part"
                        m.d.sync += stacks.chosen.eq(1)
                        stacks.read_top(_LOOPS)
                    with m.Else():
                        answer.done()
                with m.Case(Flow.CALL):
                    answer.goes(OutcomeKind.JUMP, work.target)
                    m.next = "Call"
                    stacks.push(_FORWARD, work.next, work.mask, 1)
                with m.Case(Flow.SYNC):
                    m.d.comb += parked.put.eq(1)
                    m.d.sync += parked.is_parked.eq(stacks.any_waits)
                    m.next = "Read"
                    with m.If(~stacks.any_waits):
                        answer.goes(OutcomeKind.ARRIVE, work.next, parked.came)
                        answer.done()
                with m.Case(Flow.RETURN):
                    m.next = "Read"
                    with m.If(~stacks.any_waits & (stacks.level[_FORWARD] == 0)):
                        answer.goes(OutcomeKind.RETIRE)
                        with m.If(parked.is_parked):
                            answer.goes(OutcomeKind.ARRIVE, parked.path.pc, parked.path.mask)
                        m.d.sync += parked.is_parked.eq(0)
                        answer.done()
                with m.Default():       # JOIN
                    m.next = "Read"

    @staticmethod
    def _part(m: Module, turns: Turns, answer: Answer, stacks: _Stacks, merges: Signal) -> None:
        """The states in which some of a branch's work-items go on a stack."""
        work = turns.work
        pushed: Any = Signal(PATH)          # all who have left the loop
        with m.State("Part"):
            with m.If(~(work.target < work.next)):
                answer.goes(OutcomeKind.JUMP, work.next, turns.others)
                stacks.push(_FORWARD, work.target, turns.taken, 0)
                answer.done()
            with m.Else():
                answer.goes(OutcomeKind.JUMP, work.target, turns.taken)
                with m.If(merges):
                    m.d.sync += pushed.mask.eq(turns.others | stacks.read.data.mask)
                    m.next = "Merge"
                with m.Else():
                    answer.done()
                    stacks.push(_LOOPS, work.next, turns.others, 0)
        with m.State("Merge"):
            stacks.replace_top(_LOOPS, work.next, pushed.mask)
            answer.done()

    @staticmethod
    def _pop(m: Module, work: Any, answer: Answer, stacks: _Stacks, same: Signal) -> None:
        """The states that take the top off a stack, a path or a call's entry, or change places with it."""
        read, chosen, level = stacks.read, stacks.chosen, stacks.level
        with m.State("Read"):
            stacks.read_top(chosen)
            m.next = "Pop"
        with m.State("Pop"):
            answer.goes(OutcomeKind.JUMP, read.data.pc, read.data.mask)
            m.next = "Below"
            with m.If(work.flow == Flow.JOIN):
                with m.If(same):
                    m.d.sync += answer.mask.eq(work.mask | read.data.mask)
                with m.Else():          # they change places
                    stacks.replace_top(chosen, work.next, work.mask)
                    for which in (_FORWARD, _LOOPS):
                        with m.If(chosen == which):
                            m.d.sync += stacks.top[which].eq(work.next)
                    answer.done()
            with m.If((work.flow != Flow.JOIN) | same):
                for which in (_FORWARD, _LOOPS):
                    with m.If(chosen == which):
                        m.d.sync += level[which].eq(level[which] - 1)
        with m.State("Below"):      # what is on top now
            stacks.read_top(chosen)
            m.next = "Top"
        with m.State("Top"):
            for which in (_FORWARD, _LOOPS):
                with m.If(chosen == which):
                    m.d.sync += [stacks.waits[which].eq((level[which] != 0) & ~read.data.is_call),
                                 stacks.top[which].eq(read.data.pc)]
            returns = Signal()
            m.d.comb += returns.eq(~stacks.any_waits & ~chosen)
            answer.done()
            with m.If(returns):     # the entry of the call on the other stack
                m.d.sync += [chosen.eq(1), level[_LOOPS].eq(level[_LOOPS] - 1), answer.finished.eq(0)]
                m.next = "Below"
