"""Work-items meet where the program says: at the place that a ``meet`` before the branch names.

A stack holds the paths that wait (PATH), below those of a meeting the one around it (OPEN), and calls. The innermost
meeting, where it is and who is there, is in registers. Each wavefront's controller compares its PC with the place;
there an issue slot goes to ``JOIN``: the next path of the meeting runs, or, if there is none, all who are there go
on. Who returns is not waited for. Branches without a place have their paths in the meeting around them.

Requests are served one after the other: 3 cycles for a branch that does not part and for ``meet``, 4 for ``JOIN`` and
what pops an entry, 5 for a branch that parts, and one more where that opens a meeting; a return to a call within a
meeting, and out of one in which nobody waits, takes 2 more for each.
"""

from typing import Any, ClassVar

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import Out
from amaranth.utils import exact_log2

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS

from ..control_word import Flow
from .answer import Answer
from .interface import DivergenceUnit, OutcomeKind
from .masks import Masks
from .nesting import Places, Stack
from .turns import Turns

__all__ = ["Ipdom", "Meetings", "Tokens"]


class Meetings(DivergenceUnit):
    """Resolves control instructions, one after the other: 3 to 6 cycles each, and 2 more for a meeting that is closed
    or opened again (see above). A wavefront's stack has ``config.link_stack_depth`` entries; one more is an
    ``OVERFLOW``.

    ``waits``, a bit for each wavefront: it has a meeting, at ``tops`` (``FAULT_PC_BITS`` bits for each wavefront).
    Both change in the cycle after the outcome.
    """

    meets = True
    stops_behind = False
    annotated = True
    store: ClassVar[Any] = Masks

    def __init__(self, config: Config) -> None:
        self.depth_bits = exact_log2(config.link_stack_depth)
        self.fields: dict[str, int] = {"mask": WAVEFRONT_SIZE}      # of an entry, for the store
        super().__init__(waits=Out(WAVEFRONTS), tops=Out(data.ArrayLayout(FAULT_PC_BITS, WAVEFRONTS)))

    def _taken_first(self, turns: Turns) -> Any:
        raise NotImplementedError

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._turns = turns = Turns(m, self)
        self._answer = answer = Answer(m, self, turns)
        self._stack = stack = Stack(m, self, turns, answer)
        self._places = places = Places(m, turns.work)
        self._store = store = self.store(m, stack, turns, answer)
        self._came = turns.work.mask | Mux(places.is_parked, store.parked, 0)
        some_there = Signal()       # a cycle late
        m.d.sync += some_there.eq(store.there.any())
        new_place, opens = Signal(FAULT_PC_BITS), Signal()
        carry: Any = Signal(data.StructLayout({"pc": FAULT_PC_BITS, "mask": WAVEFRONT_SIZE}))
        with m.FSM():
            answer.wait()
            self._decide(m, new_place, opens)
            self._part(m, carry, new_place, opens)
            self._push(m, carry)
            self._call(m, opens)
            self._pop(m)
            self._back(m, some_there)
        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                stack.start(number)
                places.start(number)
                m.d.sync += self.waits[number].eq(0)
                store.start(number)
        return m

    def _decide(self, m: Module, new_place: Signal, opens: Signal) -> None:
        """The state that a request begins with. ``opens``: a branch may open a meeting; a call is within one."""
        answer, stack, places, store, turns = self._answer, self._stack, self._places, self._store, self._turns
        work = turns.work
        with m.State("Decide"):
            m.d.comb += stack.read.en.eq(1)
            m.d.sync += [new_place.eq(places.named), opens.eq(places.is_named)]
            with m.Switch(work.flow):
                with m.Case(Flow.BRANCH):
                    m.d.sync += places.is_named.eq(0)
                    answer.goes(OutcomeKind.JUMP, work.target)
                    with m.If(~turns.taken.any()):
                        answer.goes(OutcomeKind.RESUME)
                    with m.If(turns.parts):
                        m.next = "Part"
                    with m.Else():
                        answer.done()
                with m.Case(Flow.MEET):
                    places.name()
                    answer.goes(OutcomeKind.RESUME)
                    answer.done()
                with m.Case(Flow.CALL):
                    answer.goes(OutcomeKind.JUMP, work.target)
                    m.d.sync += opens.eq(stack.meets)
                    m.next = "Call"
                    with m.If(stack.meets):
                        stack.push(stack.place, 1)
                        store.open()
                        m.d.sync += [stack.on_path.eq(0), stack.meets.eq(0)]
                        with m.If(stack.full):
                            answer.overflow()
                with m.Case(Flow.JOIN):
                    store.come(work.mask)
                    m.next = "Pop"
                    with m.If(~stack.on_path):
                        m.next = "Close"
                with m.Case(Flow.SYNC):
                    store.park(self._came)
                    places.park()
                    m.next = "Back"
                with m.Default():       # RETURN
                    store.leave()
                    m.next = "Back"

    def _part(self, m: Module, carry: Any, new_place: Signal, opens: Signal) -> None:
        """The states in which a branch parts the work-items, in a meeting that it opens or in the one until now."""
        answer, stack, turns = self._answer, self._stack, self._turns
        work, taken_first = turns.work, self._taken_first(turns)
        with m.State("Part"):
            answer.goes(OutcomeKind.JUMP, Mux(taken_first, work.target, work.next),
                        Mux(taken_first, turns.taken, turns.others))
            m.d.sync += [
                carry.mask.eq(Mux(taken_first, turns.others, turns.taken)),
                carry.pc.eq(Mux(taken_first, work.next, work.target)),
            ]
            m.next = "Push"
            with m.If(opens & ~(stack.meets & (stack.place == new_place))):
                m.next = "Open"
        with m.State("Open"):       # a meeting in the one until now
            stack.push(stack.place, stack.meets)
            self._store.open()
            m.d.sync += [stack.on_path.eq(0), stack.meets.eq(1), stack.place.eq(new_place)]
            m.next = "Push"
            with m.If(stack.full):
                answer.overflow()

    def _push(self, m: Module, carry: Any) -> None:
        """The state that has a path wait, on the stack or where it is already: at the meeting."""
        answer, stack, store = self._answer, self._stack, self._store
        with m.State("Push"):
            with m.If(stack.meets & (carry.pc == stack.place)):
                store.come(carry.mask)
                answer.done()
            with m.Else():
                stack.push(carry.pc, 0)
                store.push(carry.mask)
                m.d.sync += stack.on_path.eq(1)
                answer.done()
                with m.If(stack.full):
                    answer.overflow()

    def _call(self, m: Module, had: Signal) -> None:
        """The state that pushes a call's entry; it is within a meeting if it ``had`` one."""
        answer, stack = self._answer, self._stack
        with m.State("Call"):
            stack.push(self._turns.work.next, had)
            self._store.call()
            m.d.sync += stack.on_path.eq(0)
            answer.done()
            with m.If(stack.full):
                answer.overflow()

    def _pop(self, m: Module) -> None:
        """The states in which a path or all of a meeting go on."""
        answer, stack, store = self._answer, self._stack, self._store
        with m.State("Pop"):        # a path
            answer.goes(OutcomeKind.JUMP, stack.read.data.pc, store.path)
            store.pop()
            stack.pop()
            answer.done()
        with m.State("Close"):      # all are there
            answer.goes(OutcomeKind.JUMP, stack.place, store.there)
            store.pop()
            self._close()
            answer.done()

    def _back(self, m: Module, some_there: Signal) -> None:
        """The states in which nobody runs: who goes on is on the stack, in the meeting or at the barrier, if any."""
        answer, stack, places, store = self._answer, self._stack, self._places, self._store
        work = self._turns.work
        with m.State("Back"):
            with m.If(stack.on_path):
                m.next = "Pop"
            with m.Elif(stack.meets):
                m.next = "Close"
                with m.If(~some_there):
                    self._close()
                    m.next = "Again"
            with m.Elif(work.flow == Flow.SYNC):
                answer.goes(OutcomeKind.ARRIVE, work.next, self._came)
                store.arrive()
                m.d.sync += places.is_parked.eq(0)
                answer.done()
            with m.Elif(stack.level == 0):
                answer.goes(OutcomeKind.RETIRE)
                with m.If(places.is_parked):
                    answer.goes(OutcomeKind.ARRIVE, places.behind, store.parked)
                    store.arrive()
                m.d.sync += places.is_parked.eq(0)
                answer.done()
            with m.Else():          # to where all of them were called from
                answer.goes(OutcomeKind.JUMP, stack.read.data.pc, store.path)
                store.back()
                stack.pop()
                answer.done()
                with m.If(stack.read.data.had):
                    m.d.sync += answer.finished.eq(0)
                    m.next = "Look"
        with m.State("Again"):
            m.d.comb += stack.read.en.eq(1)
            m.next = "Back"
        with m.State("Look"):
            m.d.comb += stack.read.en.eq(1)
            m.next = "Reopen"
        with m.State("Reopen"):
            self._close()
            answer.done()

    def _close(self) -> None:
        """The meeting around the innermost one is that from now on."""
        self._stack.close()
        self._store.close()


class Ipdom(Meetings):
    """The smaller part runs first, as in the cores Vortex and Ventus."""

    def _taken_first(self, turns: Turns) -> Any:
        return turns.fewer


class Tokens(Meetings):
    """Those that jump run first, as in NVIDIA's patent US 7,353,369, whose DIV and SYNC tokens are PATH and OPEN."""

    def _taken_first(self, turns: Turns) -> Any:
        return 1
