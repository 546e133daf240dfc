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

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS
from fgpu.gateware.block_ram import BlockRam

from ..control_word import Flow
from .interface import DivergenceUnit, Outcome, OutcomeKind
from .paths import ENTRY, PATH, Parked
from .turns import Turns

__all__ = ["TwoStacks"]

_FORWARD, _LOOPS = range(2)


class TwoStacks(DivergenceUnit):
    """Resolves control instructions, one after the other: 3 to 9 cycles each (see above). Each of a wavefront's two
    stacks has ``config.link_stack_depth`` entries; one more is an ``OVERFLOW``.

    ``waits``, a bit for each wavefront: a path is on top of one of its stacks, the one with the lower PC at ``tops``
    (``FAULT_PC_BITS`` bits for each wavefront). Both change two cycles after the outcome.
    """

    meets = True

    def __init__(self, config: Config) -> None:
        self._depth_bits = exact_log2(config.link_stack_depth)
        super().__init__(waits=Out(WAVEFRONTS), tops=Out(data.ArrayLayout(FAULT_PC_BITS, WAVEFRONTS)))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = self._depth_bits
        turns = Turns(m, self)
        work = turns.work
        wavefront = work.wavefront
        finished = Signal()
        m.submodules.stack = stack = BlockRam(ENTRY, 2 * WAVEFRONTS << bits)
        write, read = stack.write_port(), stack.read_port()

        # Of each stack of the wavefront that is served: its height, whether a path is on top, and its PC.
        level = [Signal(bits + 1, name=f"level_{name}") for name in ("forward", "loops")]
        waits = [Signal(name=f"waits_{name}") for name in ("forward", "loops")]
        top = [Signal(FAULT_PC_BITS, name=f"top_{name}") for name in ("forward", "loops")]
        for which in (_FORWARD, _LOOPS):
            for register in (level[which], waits[which], top[which]):
                of = [Signal.like(register, name=f"{register.name}{number}") for number in range(WAVEFRONTS)]
                turns.latch(m, of, register)
                for number in range(WAVEFRONTS):
                    with m.If(finished & (wavefront == number)):
                        m.d.sync += of[number].eq(register)
                    if register is not top[which]:
                        with m.If(self.start[number]):
                            m.d.sync += of[number].eq(0)
        any_waits, lower = Signal(), Signal()
        m.d.comb += [
            any_waits.eq(waits[_FORWARD] | waits[_LOOPS]),
            lower.eq(waits[_LOOPS] & (~waits[_FORWARD] | (top[_LOOPS] < top[_FORWARD]))),
        ]
        # A cycle late, as the wavefront is then not yet ready again.
        late, late_wavefront = Signal(), Signal.like(wavefront)
        late_waits, late_top = Signal(), Signal(FAULT_PC_BITS)
        m.d.sync += [late.eq(finished), late_wavefront.eq(wavefront), late_waits.eq(any_waits),
                     late_top.eq(Mux(lower, top[_LOOPS], top[_FORWARD]))]
        for number in range(WAVEFRONTS):
            with m.If(late & (late_wavefront == number)):
                m.d.sync += [self.waits[number].eq(late_waits), self.tops[number].eq(late_top)]
            with m.If(self.start[number]):
                m.d.sync += self.waits[number].eq(0)

        parked = Parked(m, work)
        outcome: Any = Signal(Outcome)
        mask, changes = Signal(WAVEFRONT_SIZE), Signal()
        chosen, same = Signal(), Signal()       # the stack to pop from; the path is where the other one is
        pushed: Any = Signal(PATH)
        m.d.comb += [
            self.outcome.eq(outcome), self.outcome.valid.eq(finished), outcome.wavefront.eq(wavefront),
            self.mask_write.valid.eq(finished & changes), self.mask_write.wavefront.eq(wavefront),
            self.mask_write.mask.eq(mask),
        ]
        m.d.sync += finished.eq(0)

        def at(which: Any, place: Any) -> Any:
            return Cat(place[:bits], wavefront, which)

        def goes(kind: OutcomeKind, pc: Any = 0, who: Any = None) -> None:
            m.d.sync += [outcome.kind.eq(kind), outcome.pc.eq(pc)]
            if who is not None:
                m.d.sync += [changes.eq(1), mask.eq(who)]

        def done() -> None:
            m.d.sync += finished.eq(1)
            m.next = "Idle"

        def overflow() -> None:
            goes(OutcomeKind.OVERFLOW)
            m.d.sync += changes.eq(0)
            done()

        def push(which: int, pc: Any, who: Any, is_call: int) -> None:
            m.d.comb += [
                write.addr.eq(at(which, level[which])), write.en.eq(~level[which][bits]), write.data.pc.eq(pc),
                write.data.mask.eq(who), write.data.is_call.eq(is_call),
            ]
            m.d.sync += [level[which].eq(level[which] + 1), waits[which].eq(not is_call), top[which].eq(pc)]
            with m.If(level[which][bits]):
                overflow()

        def both(values: list[Signal]) -> Any:
            return Mux(chosen, values[_LOOPS], values[_FORWARD])

        backward = work.target < work.next
        merges = Signal()
        with m.FSM():
            with m.State("Idle"):
                m.d.sync += changes.eq(0)
                with m.If(turns.waiting):
                    m.d.comb += turns.serve.eq(1)
                    m.next = "Decide"
            with m.State("Decide"):
                m.d.sync += [
                    chosen.eq(lower), merges.eq(waits[_LOOPS] & (top[_LOOPS] == work.next)),
                    same.eq(Mux(lower, top[_LOOPS], top[_FORWARD]) == work.next),
                ]
                with m.Switch(work.flow):
                    with m.Case(Flow.BRANCH):
                        goes(OutcomeKind.JUMP, work.target)
                        with m.If(~turns.taken.any()):
                            goes(OutcomeKind.RESUME)
                        with m.If(turns.parts):
                            m.next = "Part"
                            m.d.sync += chosen.eq(1)
                            m.d.comb += [read.addr.eq(at(_LOOPS, level[_LOOPS] - 1)), read.en.eq(1)]
                        with m.Else():
                            done()
                    with m.Case(Flow.CALL):
                        goes(OutcomeKind.JUMP, work.target)
                        m.next = "Call"
                        push(_FORWARD, work.next, work.mask, 1)
                    with m.Case(Flow.SYNC):
                        m.d.comb += parked.put.eq(1)
                        m.d.sync += parked.is_parked.eq(any_waits)
                        m.next = "Read"
                        with m.If(~any_waits):
                            goes(OutcomeKind.ARRIVE, work.next, parked.came)
                            done()
                    with m.Case(Flow.RETURN):
                        m.next = "Read"
                        with m.If(~any_waits & (level[_FORWARD] == 0)):
                            goes(OutcomeKind.RETIRE)
                            with m.If(parked.is_parked):
                                goes(OutcomeKind.ARRIVE, parked.path.pc, parked.path.mask)
                            m.d.sync += parked.is_parked.eq(0)
                            done()
                    with m.Default():       # JOIN
                        m.next = "Read"
            with m.State("Part"):
                with m.If(~backward):
                    goes(OutcomeKind.JUMP, work.next, turns.others)
                    push(_FORWARD, work.target, turns.taken, 0)
                    done()
                with m.Else():
                    goes(OutcomeKind.JUMP, work.target, turns.taken)
                    with m.If(merges):
                        m.d.sync += pushed.mask.eq(turns.others | read.data.mask)
                        m.next = "Merge"
                    with m.Else():
                        done()
                        push(_LOOPS, work.next, turns.others, 0)
            with m.State("Merge"):
                m.d.comb += [
                    write.addr.eq(at(_LOOPS, level[_LOOPS] - 1)), write.en.eq(1), write.data.pc.eq(work.next),
                    write.data.mask.eq(pushed.mask),
                ]
                done()
            with m.State("Call"):
                done()
                push(_LOOPS, 0, 0, 1)
            with m.State("Read"):       # the top of a stack, or a call's entry
                m.d.comb += [read.addr.eq(at(chosen, both(level) - 1)), read.en.eq(1)]
                m.next = "Pop"
            with m.State("Pop"):
                goes(OutcomeKind.JUMP, read.data.pc, read.data.mask)
                m.next = "Below"
                with m.If(work.flow == Flow.JOIN):
                    with m.If(same):
                        m.d.sync += mask.eq(work.mask | read.data.mask)
                    with m.Else():          # they change places
                        m.d.comb += [
                            write.addr.eq(at(chosen, both(level) - 1)), write.en.eq(1), write.data.pc.eq(work.next),
                            write.data.mask.eq(work.mask),
                        ]
                        for which in (_FORWARD, _LOOPS):
                            with m.If(chosen == which):
                                m.d.sync += top[which].eq(work.next)
                        done()
                with m.If((work.flow != Flow.JOIN) | same):
                    for which in (_FORWARD, _LOOPS):
                        with m.If(chosen == which):
                            m.d.sync += level[which].eq(level[which] - 1)
            with m.State("Below"):      # what is on top now
                m.d.comb += [read.addr.eq(at(chosen, both(level) - 1)), read.en.eq(1)]
                m.next = "Top"
            with m.State("Top"):
                was_call = ~any_waits & ~chosen
                for which in (_FORWARD, _LOOPS):
                    with m.If(chosen == which):
                        m.d.sync += [waits[which].eq((level[which] != 0) & ~read.data.is_call),
                                     top[which].eq(read.data.pc)]
                returns = Signal()
                m.d.comb += returns.eq(was_call)
                done()
                with m.If(returns):     # the entry of the call on the other stack
                    m.d.sync += [chosen.eq(1), level[_LOOPS].eq(level[_LOOPS] - 1), finished.eq(0)]
                    m.next = "Below"
        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                m.d.sync += parked.has_parked[number].eq(0)
        return m
