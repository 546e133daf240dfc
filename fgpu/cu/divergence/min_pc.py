"""The path with the lowest PC runs: paths of a wavefront meet wherever one comes to the PC of another.

A stack as large as the other scheme's holds the paths that wait, the lowest PC on top; a call's entry lies below the
paths inside it. So no path passes another one, and programs need no annotations. Each wavefront's controller compares
its PC with the top: where it is reached or passed, an issue slot goes to ``JOIN``, by which both go on together, or
change places. The order by calls and PCs is that of Simty (Collange, 2017).

Requests wait in memories, one for each wavefront, and are served one after the other: 3 cycles for a branch that does
not part, call and end; 4 or 5 for one that does and for what pops an entry; a path that belongs below the top takes 2
cycles more for each entry that it passes, and 2 for each that is moved for it.
"""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Out
from amaranth.utils import exact_log2

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS
from fgpu.gateware.block_ram import BlockRam
from fgpu.gateware.choose import lowest, number_of

from ..control_word import Flow
from .interface import BranchParts, DivergenceUnit, FlowRequest, Outcome, OutcomeKind

__all__ = ["LowestPc"]

_PATH = data.StructLayout({"pc": FAULT_PC_BITS, "mask": WAVEFRONT_SIZE})
_ENTRY = data.StructLayout({"pc": FAULT_PC_BITS, "mask": WAVEFRONT_SIZE, "is_call": 1})


class LowestPc(DivergenceUnit):
    """Resolves control instructions, one after the other.

    ``waits``: on top of the wavefront's stack is a path, at ``tops``.
    """

    meets = True

    def __init__(self, config: Config) -> None:
        self._depth_bits = exact_log2(config.link_stack_depth)
        super().__init__(waits=Out(WAVEFRONTS), tops=Out(data.ArrayLayout(FAULT_PC_BITS, WAVEFRONTS)))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth_bits = self._depth_bits
        request: Any = self.request
        parts = BranchParts(m, self.branch)

        # What wavefronts ask for, and who takes the branch.
        m.submodules.requests = requests = Memory(shape=FlowRequest, depth=WAVEFRONTS, init=[])
        m.submodules.takers = takers = Memory(shape=WAVEFRONT_SIZE, depth=WAVEFRONTS, init=[])
        note, note_taken = requests.write_port(), takers.write_port()
        m.d.comb += [
            note.addr.eq(request.wavefront), note.en.eq(self.request_valid), note.data.eq(request),
            note_taken.addr.eq(parts.wavefront), note_taken.en.eq(parts.resolved), note_taken.data.eq(parts.taken),
        ]
        pending = Signal(WAVEFRONTS)
        serve = Signal()
        mine = lowest(pending)
        with m.If(serve):
            m.d.sync += pending.eq(pending & ~mine)
        for number in range(WAVEFRONTS):
            with m.If((self.request_valid & (request.flow != Flow.BRANCH) & (request.wavefront == number))
                      | (parts.resolved & (parts.wavefront == number))):
                m.d.sync += pending[number].eq(1)

        work: Any = Signal(FlowRequest)
        taken = Signal(WAVEFRONT_SIZE)
        look, look_taken = requests.read_port(domain="comb"), takers.read_port(domain="comb")
        m.d.comb += [look.addr.eq(number_of(mine)), look_taken.addr.eq(number_of(mine))]
        with m.If(serve):
            m.d.sync += [work.eq(look.data), taken.eq(look_taken.data)]
        wavefront = work.wavefront

        m.submodules.stack = stack = BlockRam(_ENTRY, WAVEFRONTS << depth_bits)
        write, read = stack.write_port(), stack.read_port()
        levels = Array(Signal(depth_bits + 1, name=f"level{number}") for number in range(WAVEFRONTS))
        level = Signal(depth_bits + 1)      # of the wavefront that is served
        place = Signal(depth_bits + 1)
        m.d.comb += level.eq(levels[wavefront])
        waits, top_pc = self.waits.bit_select(wavefront, 1), Array(self.tops[n] for n in range(WAVEFRONTS))[wavefront]

        # Who came to the barrier, and where they go on.
        m.submodules.parked = parked = Memory(shape=_PATH, depth=WAVEFRONTS, init=[])
        park, look_parked = parked.write_port(), parked.read_port(domain="comb")
        has_parked = Signal(WAVEFRONTS)
        is_parked = has_parked.bit_select(wavefront, 1)
        came = Signal(WAVEFRONT_SIZE)
        m.d.comb += [
            park.addr.eq(wavefront), look_parked.addr.eq(wavefront),
            came.eq(work.mask | Mux(is_parked, look_parked.data.mask, 0)), park.data.mask.eq(came),
            park.data.pc.eq(work.next),
        ]

        outcome: Any = Signal(Outcome)
        mask, changes = Signal(WAVEFRONT_SIZE), Signal()
        carry: Any = Signal(_PATH)          # what is on its way to its place in the stack
        m.d.comb += [
            self.outcome.eq(outcome), self.mask_write.valid.eq(outcome.valid & changes),
            self.mask_write.wavefront.eq(outcome.wavefront), self.mask_write.mask.eq(mask),
        ]
        m.d.sync += outcome.valid.eq(0)

        def read_at(place: Any) -> None:
            m.d.comb += [read.addr.eq(Cat(place[:depth_bits], wavefront)), read.en.eq(1)]

        def write_at(place: Any) -> None:
            m.d.comb += [write.addr.eq(Cat(place[:depth_bits], wavefront)), write.en.eq(1)]

        def goes(kind: OutcomeKind, pc: Any = 0) -> None:
            m.d.sync += [outcome.kind.eq(kind), outcome.pc.eq(pc), outcome.wavefront.eq(wavefront)]

        def done() -> None:
            m.d.sync += outcome.valid.eq(1)
            m.next = "Idle"

        def top_is(is_path: Any, pc: Any) -> None:
            m.d.sync += waits.eq(is_path)
            m.d.sync += top_pc.eq(pc)

        others = Signal(WAVEFRONT_SIZE)
        target_first = Signal()
        m.d.comb += [others.eq(work.mask & ~taken), target_first.eq(work.target < work.next)]
        full = level[depth_bits]
        m.d.comb += [write.data.pc.eq(carry.pc), write.data.mask.eq(carry.mask), write.data.is_call.eq(0)]

        with m.FSM():
            with m.State("Idle"):
                m.d.sync += changes.eq(0)
                with m.If(pending.any()):
                    m.d.comb += serve.eq(1)
                    m.next = "Decide"
            with m.State("Decide"):
                read_at(level - 1)
                m.d.sync += place.eq(level)
                with m.Switch(work.flow):
                    with m.Case(Flow.BRANCH):
                        with m.If(taken.any() & others.any()):
                            goes(OutcomeKind.JUMP, Mux(target_first, work.target, work.next))
                            m.d.sync += [
                                changes.eq(1), mask.eq(Mux(target_first, taken, others)),
                                carry.mask.eq(Mux(target_first, others, taken)),
                                carry.pc.eq(Mux(target_first, work.next, work.target)),
                            ]
                            m.next = "Push"
                        with m.Else():
                            goes(OutcomeKind.JUMP, work.target)
                            with m.If(~taken.any()):
                                goes(OutcomeKind.RESUME)
                            done()
                    with m.Case(Flow.CALL):
                        m.d.comb += [
                            write.data.pc.eq(work.next), write.data.mask.eq(work.mask), write.data.is_call.eq(1)]
                        goes(OutcomeKind.JUMP, work.target)
                        with m.If(full):
                            goes(OutcomeKind.OVERFLOW)
                        with m.Else():
                            write_at(level)
                            m.d.sync += levels[wavefront].eq(level + 1)
                            top_is(0, 0)
                        done()
                    with m.Case(Flow.RETURN):
                        with m.If(level != 0):
                            m.next = "Pop"
                        with m.Else():
                            goes(OutcomeKind.RETIRE)
                            with m.If(is_parked):
                                goes(OutcomeKind.ARRIVE, look_parked.data.pc)
                            m.d.sync += [has_parked.bit_select(wavefront, 1).eq(0), mask.eq(look_parked.data.mask),
                                         changes.eq(is_parked)]
                            done()
                    with m.Case(Flow.SYNC):
                        m.d.comb += park.en.eq(1)
                        m.d.sync += has_parked.bit_select(wavefront, 1).eq(waits)
                        with m.If(waits):
                            m.next = "Pop"
                        with m.Else():
                            goes(OutcomeKind.ARRIVE, work.next)
                            m.d.sync += [mask.eq(came), changes.eq(1)]
                            done()
                    with m.Default():       # JOIN
                        m.next = "Pop"
            with m.State("Pop"):        # what was on top; read what lies below
                read_at(level - 2)
                m.d.sync += [
                    levels[wavefront].eq(level - 1), place.eq(level - 1), changes.eq(1), mask.eq(read.data.mask),
                    carry.pc.eq(work.next), carry.mask.eq(work.mask),
                ]
                goes(OutcomeKind.JUMP, read.data.pc)
                m.next = "Top"
                with m.If(work.flow == Flow.JOIN):
                    with m.If(read.data.pc == work.next):
                        m.d.sync += mask.eq(work.mask | read.data.mask)
                    with m.Else():
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
                    m.next = "Compare"
                with m.Else():
                    with m.If(full):
                        goes(OutcomeKind.OVERFLOW)
                    with m.Else():
                        write_at(level)
                        m.d.sync += levels[wavefront].eq(level + 1)
                        top_is(1, carry.pc)
                    done()
            with m.State("Compare"):    # with the entry below ``place``
                with m.If((place != 0) & ~read.data.is_call & (read.data.pc == carry.pc)):
                    m.d.comb += write.data.mask.eq(carry.mask | read.data.mask)
                    write_at(place - 1)
                    done()
                with m.Elif((place != 0) & ~read.data.is_call & (read.data.pc < carry.pc)):
                    m.d.sync += place.eq(place - 1)
                    m.next = "Below"
                with m.Elif(full):
                    goes(OutcomeKind.OVERFLOW)
                    done()
                with m.Else():
                    m.next = "Move"
            with m.State("Below"):
                read_at(place - 1)
                m.next = "Compare"
            with m.State("Move"):       # ``carry`` to its ``place``, and what is there one up
                read_at(place)
                m.next = "Put"
            with m.State("Put"):
                write_at(place)
                m.d.sync += [place.eq(place + 1), carry.pc.eq(read.data.pc), carry.mask.eq(read.data.mask)]
                m.next = "Move"
                with m.If(place == level):
                    m.d.sync += levels[wavefront].eq(level + 1)
                    done()

        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                m.d.sync += [levels[number].eq(0), has_parked[number].eq(0), self.waits[number].eq(0)]
        return m
