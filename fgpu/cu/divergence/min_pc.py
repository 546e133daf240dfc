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

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS
from fgpu.gateware.block_ram import BlockRam

from ..control_word import Flow
from .interface import DivergenceUnit, Outcome, OutcomeKind
from .paths import ENTRY, PATH, Parked
from .turns import Turns

__all__ = ["LowestPc"]


class LowestPc(DivergenceUnit):
    """Resolves control instructions, one after the other: 3 to 6 cycles each, and more to bring a path to its place
    (see above). A wavefront's stack has ``config.link_stack_depth`` entries; one more is an ``OVERFLOW``.

    ``waits``, a bit for each wavefront: on top of its stack is a path, at ``tops`` (``FAULT_PC_BITS`` bits for each
    wavefront). Both change in the cycle after the outcome.
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

        m.submodules.stack = stack = BlockRam(ENTRY, WAVEFRONTS << bits)
        write, read = stack.write_port(), stack.read_port()
        # Of the wavefront that is served: how many entries it has, and whether and where a path is on top.
        level, waits, top_pc = Signal(bits + 1), Signal(name="waits1"), Signal(FAULT_PC_BITS, name="top1")
        place = Signal(bits + 1)
        levels = [Signal.like(level, name=f"level{number}") for number in range(WAVEFRONTS)]
        turns.latch(m, levels, level)
        turns.latch(m, [self.waits[number] for number in range(WAVEFRONTS)], waits)
        turns.latch(m, [self.tops[number] for number in range(WAVEFRONTS)], top_pc)
        for number in range(WAVEFRONTS):
            with m.If(finished & (wavefront == number)):
                m.d.sync += [levels[number].eq(level), self.waits[number].eq(waits), self.tops[number].eq(top_pc)]

        parked = Parked(m, work)
        outcome: Any = Signal(Outcome)
        mask, changes = Signal(WAVEFRONT_SIZE), Signal()
        carry: Any = Signal(PATH)          # what is on its way to its place in the stack
        entry: Any = Signal(ENTRY)         # what is compared with it
        meets = Signal()                    # the path that runs is where that on top is
        m.d.comb += [
            self.outcome.eq(outcome), self.outcome.valid.eq(finished), outcome.wavefront.eq(wavefront),
            self.mask_write.valid.eq(finished & changes), self.mask_write.wavefront.eq(wavefront),
            self.mask_write.mask.eq(mask),
        ]
        m.d.sync += finished.eq(0)

        def read_at(place: Any) -> None:
            m.d.comb += [read.addr.eq(Cat(place[:bits], wavefront)), read.en.eq(1)]

        def write_at(place: Any) -> None:
            m.d.comb += [write.addr.eq(Cat(place[:bits], wavefront)), write.en.eq(1)]

        def goes(kind: OutcomeKind, pc: Any = 0, who: Any = None) -> None:
            m.d.sync += [outcome.kind.eq(kind), outcome.pc.eq(pc)]
            if who is not None:
                m.d.sync += [changes.eq(1), mask.eq(who)]

        def done() -> None:
            m.d.sync += finished.eq(1)
            m.next = "Idle"

        def top_is(is_path: Any, pc: Any) -> None:
            m.d.sync += [waits.eq(is_path), top_pc.eq(pc)]

        target_first = Signal()
        m.d.comb += target_first.eq(work.target < work.next)
        full = level[bits]
        m.d.comb += [write.data.pc.eq(carry.pc), write.data.mask.eq(carry.mask), write.data.is_call.eq(0)]

        with m.FSM():
            with m.State("Idle"):
                m.d.sync += changes.eq(0)
                with m.If(turns.waiting):
                    m.d.comb += turns.serve.eq(1)
                    m.next = "Decide"
            with m.State("Decide"):
                read_at(level - 1)
                m.d.sync += [place.eq(level), meets.eq(top_pc == work.next)]
                with m.Switch(work.flow):
                    with m.Case(Flow.BRANCH):
                        goes(OutcomeKind.JUMP, work.target)
                        with m.If(~turns.taken.any()):
                            goes(OutcomeKind.RESUME)
                        with m.If(turns.parts):
                            goes(OutcomeKind.JUMP, Mux(target_first, work.target, work.next),
                                 Mux(target_first, turns.taken, turns.others))
                            m.d.sync += [
                                carry.mask.eq(Mux(target_first, turns.others, turns.taken)),
                                carry.pc.eq(Mux(target_first, work.next, work.target)),
                            ]
                            m.next = "Push"
                        with m.Else():
                            done()
                    with m.Case(Flow.CALL):
                        m.d.comb += [
                            write.data.pc.eq(work.next), write.data.mask.eq(work.mask), write.data.is_call.eq(1)]
                        goes(OutcomeKind.JUMP, work.target)
                        with m.If(full):
                            goes(OutcomeKind.OVERFLOW)
                        with m.Else():
                            write_at(level)
                            m.d.sync += level.eq(level + 1)
                            top_is(0, 0)
                        done()
                    with m.Case(Flow.RETURN):
                        with m.If(level != 0):
                            m.next = "Pop"
                        with m.Else():
                            goes(OutcomeKind.RETIRE)
                            with m.If(parked.is_parked):
                                goes(OutcomeKind.ARRIVE, parked.path.pc, parked.path.mask)
                            m.d.sync += parked.is_parked.eq(0)
                            done()
                    with m.Case(Flow.SYNC):
                        m.d.comb += parked.put.eq(1)
                        m.d.sync += parked.is_parked.eq(waits)
                        with m.If(waits):
                            m.next = "Pop"
                        with m.Else():
                            goes(OutcomeKind.ARRIVE, work.next, parked.came)
                            done()
                    with m.Default():       # JOIN
                        m.next = "Pop"
            with m.State("Pop"):        # what was on top; read what lies below
                read_at(level - 2)
                m.d.sync += [
                    level.eq(level - 1), place.eq(level - 1), carry.pc.eq(work.next), carry.mask.eq(work.mask),
                ]
                goes(OutcomeKind.JUMP, read.data.pc, read.data.mask)
                m.next = "Top"
                with m.If((work.flow == Flow.JOIN) & meets):
                    m.d.sync += mask.eq(work.mask | read.data.mask)
                with m.Elif(work.flow == Flow.JOIN):
                    m.next = "Swap"
            with m.State("Top"):
                top_is((level != 0) & ~read.data.is_call, read.data.pc)
                done()
            with m.State("Swap"):
                top_is((level != 0) & ~read.data.is_call, read.data.pc)
                m.next = "Push"
            with m.State("Push"):       # ``carry`` on top, if it belongs there
                read_at(level - 1)
                with m.If(waits & (top_pc <= carry.pc)):
                    m.next = "Fetch"
                with m.Else():
                    with m.If(full):
                        goes(OutcomeKind.OVERFLOW)
                    with m.Else():
                        write_at(level)
                        m.d.sync += level.eq(level + 1)
                        top_is(1, carry.pc)
                    done()
            with m.State("Fetch"):
                m.d.sync += entry.eq(read.data)
                m.next = "Compare"
            with m.State("Compare"):    # with the entry below ``place``
                is_path = (place != 0) & ~entry.is_call
                with m.If(is_path & (entry.pc == carry.pc)):
                    m.d.comb += write.data.mask.eq(carry.mask | entry.mask)
                    write_at(place - 1)
                    done()
                with m.Elif(is_path & (entry.pc < carry.pc)):
                    m.d.sync += place.eq(place - 1)
                    m.next = "Below"
                with m.Elif(full):
                    goes(OutcomeKind.OVERFLOW)
                    done()
                with m.Else():
                    m.next = "Move"
            with m.State("Below"):
                read_at(place - 1)
                m.next = "Fetch"
            with m.State("Move"):       # ``carry`` to its ``place``, and what is there one up
                read_at(place)
                m.next = "Put"
            with m.State("Put"):
                write_at(place)
                m.d.sync += [place.eq(place + 1), carry.pc.eq(read.data.pc), carry.mask.eq(read.data.mask)]
                m.next = "Move"
                with m.If(place == level):
                    m.d.sync += level.eq(level + 1)
                    done()

        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                m.d.sync += [levels[number].eq(0), parked.has_parked[number].eq(0), self.waits[number].eq(0)]
        return m
