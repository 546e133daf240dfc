"""Link and enable stacks: branches, calls and returns of diverged wavefronts (section 3.4.2, figure 3.3).

A stack entry is an instruction address and the work-items that continue there. A branch that splits a
wavefront pushes the larger part and follows the smaller one, so that divergence alone never needs more
than log2(64) entries; a call pushes the return address with the current work-items; ``ret`` pops. Since a
call's entry lies below those of branches inside the callee, each part of a split callee returns to the
other part first and all leave it together.

At a barrier a part waits for the others of its wavefront: if the top entry is a branch's, the part joins those that
are parked, and ``sync`` pops like ``ret``. Otherwise no part is left, and the wavefront has arrived, with all that
were parked; so it has if the last part retires instead. The parked work-items, and where they go on, have an entry of
their own in the stack's memory.
"""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.utils import exact_log2

from fgpu.config import WAVEFRONT_BITS, WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS
from fgpu.gateware.block_ram import BlockRam

from ..control_word import Flow
from .interface import BranchParts, DivergenceUnit, FlowRequest, Outcome, OutcomeKind

__all__ = ["DivergenceStack"]


class _Held:
    """A call, return or barrier, until a cycle in which no branch resolves: then ``call``, ``back`` or ``sync``.

    A barrier where others are parked is there for a third such cycle: in the first one it ``gathers``, which the unit
    tells, in the second one they are read, and from then on it has ``gathered`` them, in a register.
    """

    def __init__(self, m: Module, unit: "DivergenceStack", resolved: Signal) -> None:
        request: Any = unit.request
        self.waiting = Signal()
        self.gathers = Signal()
        self.gathering = Signal()
        self.gathered = Signal()
        self.request: Any = Signal(FlowRequest, name="held")
        with m.If(~resolved):
            m.d.sync += [self.waiting.eq(self.gathers | self.gathering), self.gathering.eq(self.gathers),
                         self.gathered.eq(self.gathering)]
        calls, returns, syncs = Signal(), Signal(), Signal()    # what is held, decoded
        with m.If(unit.request_valid & (request.flow != Flow.BRANCH)):
            m.d.sync += [self.waiting.eq(1), self.request.eq(request), calls.eq(request.flow == Flow.CALL),
                         returns.eq(request.flow == Flow.RETURN), syncs.eq(request.flow == Flow.SYNC)]
        self.call, self.back, self.sync = (self.waiting & ~resolved & kind for kind in (calls, returns, syncs))


class _Levels:
    """Of each wavefront its stack's level, whether the entry on top is a branch's, and whether some are parked.

    Those of the wavefront whose branch may resolve and of that which is held were looked up a cycle before they are
    needed: nothing changes them while the wavefront waits for its outcome.
    """

    def __init__(self, m: Module, unit: "DivergenceStack") -> None:
        request: Any = unit.request
        bits = unit.depth_bits
        self.levels = Array(Signal(bits + 1, name=f"level{number}") for number in range(WAVEFRONTS))
        self.tops = Array(Signal(name=f"top_is_branch{number}") for number in range(WAVEFRONTS))
        self.parked = Array(Signal(name=f"parked{number}") for number in range(WAVEFRONTS))
        self.layout = data.StructLayout({"level": bits + 1, "top": 1, "parked": 1, "empty": 1})
        self.of_branch: Any = Signal(self.layout)
        self.of_held: Any = Signal(self.layout)
        self.one_hot_branch = Signal(WAVEFRONTS)
        self.one_hot_held = Signal(WAVEFRONTS)
        m.d.sync += [self.of_branch.eq(self._of(unit.branch.wavefront)),
                     self.one_hot_branch.eq(1 << unit.branch.wavefront)]
        with m.If(unit.request_valid & (request.flow != Flow.BRANCH)):
            m.d.sync += [self.of_held.eq(self._of(request.wavefront)), self.one_hot_held.eq(1 << request.wavefront)]

    def _of(self, number: Any) -> Value:
        level = self.levels[number]
        return Cat(level, self.tops[number], self.parked[number], level == 0)


class _Step:
    """What is done in the first cycle, of a branch that resolves or of what is held."""

    def __init__(self, m: Module, unit: "DivergenceStack", parts: BranchParts, held: _Held, levels: _Levels,
                 successors: Any) -> None:
        bits = unit.depth_bits
        resolved, of_branch, of_held = parts.resolved, levels.of_branch, levels.of_held
        self.wavefront = Signal(WAVEFRONT_BITS)
        self.next_pc = Signal(FAULT_PC_BITS, name="next_pc")
        self.target = Signal(FAULT_PC_BITS)
        self.splits = Signal()
        self.follow_taken = Signal()
        self.pushes = Signal(name="pushes")
        self.full = Signal(name="full")
        self.pops = Signal(name="pops")
        self.parks = Signal(name="parks")           # at a barrier, behind which others of the wavefront go on first
        self.arrives = Signal(name="arrives")       # all of the wavefront are at the barrier, or have ended
        comes = held.sync & (~of_held.parked | held.gathered)
        is_part = ~of_held.empty & of_held.top
        m.d.comb += [
            self.wavefront.eq(Mux(resolved, parts.wavefront, held.request.wavefront)),
            self.next_pc.eq(Mux(resolved, successors.next, held.request.next)),
            self.target.eq(Mux(resolved, successors.target, held.request.target)),
            self.splits.eq(resolved & parts.any_taken & parts.any_not_taken),
            # The smaller part runs first; if equal, the one that does not jump.
            self.follow_taken.eq(parts.taken_count < parts.not_taken_count),
            self.pushes.eq((self.splits & ~of_branch.level[bits]) | (held.call & ~of_held.level[bits])),
            self.full.eq((self.splits & of_branch.level[bits]) | (held.call & of_held.level[bits])),
            held.gathers.eq(held.sync & of_held.parked & ~held.gathering & ~held.gathered),
            self.parks.eq(comes & is_part),
            self.pops.eq(self.parks | (held.back & ~of_held.empty)),
            self.arrives.eq((comes & ~is_part) | (held.back & of_held.empty & of_held.parked)),
        ]


class DivergenceStack(DivergenceUnit):
    """Resolves control instructions, one a cycle.

    ``request`` is a control instruction at issue (one in four cycles at most). Calls, returns and barriers have
    their outcome 3 cycles later (one more for each branch that resolves at that time, and two for a barrier where
    others are parked); a branch 3 cycles after the last of its phases has arrived in ``branch``. ``start`` empties
    the stacks of wavefronts.
    """

    def __init__(self, config: Config) -> None:
        self.depth_bits = exact_log2(config.link_stack_depth)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        parts = BranchParts(m, self.branch)
        held = _Held(m, self, parts.resolved)
        levels = _Levels(m, self)
        step = _Step(m, self, parts, held, levels, self._successors(m, parts.wavefront))
        popped_entry, with_parked = self._access(m, parts, held, levels, step)
        self._change(m, parts, held, levels, step)
        self._tell(m, parts, held, levels, step, popped_entry, with_parked)
        return m

    def _successors(self, m: Module, wavefront: Signal) -> Any:
        """Those of each wavefront's branch are kept until its phases have passed the vector; of this one's."""
        request: Any = self.request
        m.submodules.successors = successors = Memory(
            shape=data.StructLayout({"next": FAULT_PC_BITS, "target": FAULT_PC_BITS}), depth=WAVEFRONTS, init=[])
        note, lookup = successors.write_port(), successors.read_port(domain="comb")
        m.d.comb += [
            note.addr.eq(request.wavefront), note.en.eq(self.request_valid),
            note.data.next.eq(request.next), note.data.target.eq(request.target),
            lookup.addr.eq(wavefront),
        ]
        return lookup.data

    def _access(self, m: Module, parts: BranchParts, held: _Held, levels: _Levels, step: _Step
                ) -> tuple[Any, Value]:
        """First cycle: push or start to pop. The entry, a cycle later; who is held, with those gathered."""
        resolved, bits = parts.resolved, self.depth_bits
        # ``on_branch``: the entry below it is a branch's. The upper half of the memory is for the parked.
        entry = data.StructLayout({"pc": FAULT_PC_BITS, "mask": WAVEFRONT_SIZE, "on_branch": 1})
        m.submodules.stack = stack = BlockRam(entry, 2 * WAVEFRONTS << bits)
        push, pop = stack.write_port(), stack.read_port()
        now: Any = data.View(levels.layout, Mux(resolved, levels.of_branch.as_value(), levels.of_held.as_value()))
        reads_parked = held.gathers | levels.of_held.empty
        m.d.comb += [
            push.addr.eq(Cat(Mux(step.parks, 0, now.level[:bits]), step.wavefront, step.parks)),
            push.en.eq(step.pushes | step.parks),
            push.data.pc.eq(Mux(resolved & ~step.follow_taken, step.target, step.next_pc)),
            push.data.on_branch.eq(now.top),
            pop.en.eq(~resolved),
            pop.addr.eq(Cat(Mux(reads_parked, 0, (now.level - 1)[:bits]), step.wavefront, reads_parked)),
        ]
        parked_mask = Signal(WAVEFRONT_SIZE)
        with m.If(held.gathering):
            m.d.sync += parked_mask.eq(pop.data.mask)
        mask = held.request.mask
        with_parked = mask | parked_mask            # if gathered
        other = Signal()                            # so that it takes one LUT a bit
        m.d.comb += [
            other.eq(Mux(resolved, step.follow_taken, held.gathered)),
            push.data.mask.eq(Mux(
                resolved, Mux(other, parts.not_taken, parts.taken), Mux(other, with_parked, mask))),
        ]
        return pop.data, with_parked

    def _change(self, m: Module, parts: BranchParts, held: _Held, levels: _Levels, step: _Step) -> None:
        """First cycle: what is kept of the wavefronts."""
        resolved = parts.resolved
        level: Any = data.View(levels.layout, Mux(
            resolved, levels.of_branch.as_value(), levels.of_held.as_value())).level
        changes_level = Signal(WAVEFRONTS)
        m.d.comb += changes_level.eq(Mux(resolved, levels.one_hot_branch, levels.one_hot_held)
                                     & (step.pushes | step.pops).replicate(WAVEFRONTS))
        with m.If(step.parks | step.arrives):
            m.d.sync += levels.parked[held.request.wavefront].eq(step.parks)
        for number in range(WAVEFRONTS):
            with m.If(changes_level[number]):
                m.d.sync += levels.levels[number].eq(Mux(step.pushes, level + 1, level - 1))
                with m.If(step.pushes):
                    m.d.sync += levels.tops[number].eq(resolved)
            with m.If(self.start[number]):
                m.d.sync += [levels.levels[number].eq(0), levels.parked[number].eq(0)]

    def _tell(self, m: Module, parts: BranchParts, held: _Held, levels: _Levels, step: _Step,
              popped_entry: Any, with_parked: Value) -> None:
        """Second cycle: the outcome. Third one: what block RAM has read is in a register."""
        resolved, empty = parts.resolved, levels.of_held.empty
        popped, changes = Signal(), Signal()
        outcome = Signal(Outcome)
        mask = Signal(WAVEFRONT_SIZE)
        jumps = held.call | (resolved & parts.any_taken)
        m.d.sync += [
            outcome.valid.eq(resolved | (held.waiting & ~held.gathers & ~held.gathering)),
            outcome.wavefront.eq(step.wavefront),
            outcome.pc.eq(Mux((step.splits & ~step.follow_taken) | held.sync, step.next_pc, step.target)),
            popped.eq(step.pops | (held.back & levels.of_held.parked)),
            changes.eq(step.splits | (step.arrives & held.gathered)),
            mask.eq(Mux(held.gathered & ~resolved, with_parked,
                        Mux(step.follow_taken, parts.taken, parts.not_taken))),
        ]
        with m.If(step.arrives):
            m.d.sync += outcome.kind.eq(OutcomeKind.ARRIVE)
        with m.Elif(held.back & empty):
            m.d.sync += outcome.kind.eq(OutcomeKind.RETIRE)
        with m.Elif(step.full):
            m.d.sync += outcome.kind.eq(OutcomeKind.OVERFLOW)
        with m.Elif(step.pops | jumps):
            m.d.sync += outcome.kind.eq(OutcomeKind.JUMP)
        with m.Else():
            m.d.sync += outcome.kind.eq(OutcomeKind.RESUME)
        m.d.sync += [
            self.outcome.eq(outcome),
            self.mask_write.valid.eq(changes | popped),
            self.mask_write.wavefront.eq(outcome.wavefront),
            self.mask_write.mask.eq(Mux(popped, popped_entry.mask, mask)),
        ]
        with m.If(popped):
            m.d.sync += self.outcome.pc.eq(popped_entry.pc)
            m.d.sync += levels.tops[outcome.wavefront].eq(popped_entry.on_branch)
