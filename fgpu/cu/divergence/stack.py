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


class DivergenceStack(DivergenceUnit):
    """Resolves control instructions, one a cycle.

    ``request`` is a control instruction at issue (one in four cycles at most). Calls, returns and barriers have
    their outcome 3 cycles later (one more for each branch that resolves at that time, and two for a barrier where
    others are parked); a branch 3 cycles after the last of its phases has arrived in ``branch``. ``start`` empties
    the stacks of wavefronts.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        request: Any = self.request

        # Successors of each wavefront's branch, until its phases have passed the vector.
        m.submodules.successors = successors = Memory(
            shape=data.StructLayout({"next": FAULT_PC_BITS, "target": FAULT_PC_BITS}), depth=WAVEFRONTS, init=[])
        note = successors.write_port()
        m.d.comb += [
            note.addr.eq(request.wavefront), note.en.eq(self.request_valid),
            note.data.next.eq(request.next), note.data.target.eq(request.target),
        ]

        parts = BranchParts(m, self.branch)
        taken, not_taken, resolved = parts.taken, parts.not_taken, parts.resolved
        taken_count, not_taken_count = parts.taken_count, parts.not_taken_count

        # Calls, returns and barriers wait here for a cycle in which no branch resolves; a barrier where others are
        # parked for a third one, after these were read and are in a register.
        waiting, gathers, gathering, gathered = Signal(), Signal(), Signal(), Signal()
        held = Signal(FlowRequest)
        with m.If(~resolved):
            m.d.sync += [waiting.eq(gathers | gathering), gathering.eq(gathers), gathered.eq(gathering)]
        calls, returns, syncs = Signal(), Signal(), Signal()    # what is held, decoded
        with m.If(self.request_valid & (request.flow != Flow.BRANCH)):
            m.d.sync += [waiting.eq(1), held.eq(request), calls.eq(request.flow == Flow.CALL),
                         returns.eq(request.flow == Flow.RETURN), syncs.eq(request.flow == Flow.SYNC)]

        # First cycle: decide, push or start to pop.
        lookup = successors.read_port(domain="comb")
        wavefront = Signal(WAVEFRONT_BITS)
        call, back, sync = (waiting & ~resolved & kind for kind in (calls, returns, syncs))
        next_pc, target = Signal(FAULT_PC_BITS), Signal(FAULT_PC_BITS)
        m.d.comb += lookup.addr.eq(parts.wavefront)
        m.d.comb += [
            wavefront.eq(Mux(resolved, parts.wavefront, held.wavefront)),
            next_pc.eq(Mux(resolved, lookup.data.next, held.next)),
            target.eq(Mux(resolved, lookup.data.target, held.target)),
        ]
        splits = Signal()
        follow_taken = Signal()
        m.d.comb += [
            splits.eq(resolved & parts.any_taken & parts.any_not_taken),
            # The smaller part runs first; if equal, the one that does not jump.
            follow_taken.eq(taken_count < not_taken_count),
        ]
        depth_bits = exact_log2(config.link_stack_depth)
        # ``on_branch``: the entry below it is a branch's. The upper half of the memory is for the parked.
        entry = data.StructLayout({"pc": FAULT_PC_BITS, "mask": WAVEFRONT_SIZE, "on_branch": 1})
        m.submodules.stack = stack = BlockRam(entry, 2 * WAVEFRONTS * config.link_stack_depth)
        push, pop = stack.write_port(), stack.read_port()
        levels = Array(Signal(depth_bits + 1, name=f"level{number}") for number in range(WAVEFRONTS))
        tops = Array(Signal(name=f"top_is_branch{number}") for number in range(WAVEFRONTS))
        parked = Array(Signal(name=f"parked{number}") for number in range(WAVEFRONTS))
        # Looked up a cycle before they are needed: nothing changes them while the wavefront waits for its outcome.
        state = data.StructLayout({"level": depth_bits + 1, "top": 1, "parked": 1, "empty": 1})
        of_branch, of_held = Signal(state), Signal(state)
        one_hot_branch, one_hot_held = Signal(WAVEFRONTS), Signal(WAVEFRONTS)

        def look_up(number: Any) -> Value:
            level = levels[number]
            return Cat(level, tops[number], parked[number], level == 0)

        m.d.sync += [of_branch.eq(look_up(self.branch.wavefront)), one_hot_branch.eq(1 << self.branch.wavefront)]
        with m.If(self.request_valid & (request.flow != Flow.BRANCH)):
            m.d.sync += [of_held.eq(look_up(request.wavefront)), one_hot_held.eq(1 << request.wavefront)]
        now: Any = data.View(state, Mux(resolved, of_branch.as_value(), of_held.as_value()))
        level, top = now.level, now.top
        has_parked, empty = of_held.parked, of_held.empty       # only what is held asks
        pushes, full, pops, parks, arrives = (Signal() for _ in range(5))
        changes_level = Signal(WAVEFRONTS)
        comes, is_part = sync & (~has_parked | gathered), ~empty & of_held.top
        m.d.comb += [
            pushes.eq((splits & ~of_branch.level[depth_bits]) | (call & ~of_held.level[depth_bits])),
            full.eq((splits & of_branch.level[depth_bits]) | (call & of_held.level[depth_bits])),
            changes_level.eq(Mux(resolved, one_hot_branch, one_hot_held) & (pushes | pops).replicate(WAVEFRONTS)),
            gathers.eq(sync & has_parked & ~gathering & ~gathered),
            parks.eq(comes & is_part),
            pops.eq(parks | (back & ~empty)),
            arrives.eq((comes & ~is_part) | (back & empty & has_parked)),
            push.addr.eq(Cat(Mux(parks, 0, level[:depth_bits]), wavefront, parks)),
            push.en.eq(pushes | parks),
            push.data.pc.eq(Mux(resolved & ~follow_taken, target, next_pc)),
            push.data.on_branch.eq(top),
            pop.en.eq(~resolved),
            pop.addr.eq(Cat(Mux(gathers | empty, 0, (level - 1)[:depth_bits]), wavefront, gathers | empty)),
        ]
        parked_mask = Signal(WAVEFRONT_SIZE)
        with m.If(gathering):
            m.d.sync += parked_mask.eq(pop.data.mask)
        with_parked = held.mask | parked_mask       # if gathered
        other = Signal()                            # so that it takes one LUT a bit
        m.d.comb += [
            other.eq(Mux(resolved, follow_taken, gathered)),
            push.data.mask.eq(Mux(resolved, Mux(other, not_taken, taken), Mux(other, with_parked, held.mask))),
        ]
        with m.If(parks | arrives):
            m.d.sync += parked[held.wavefront].eq(parks)
        for number in range(WAVEFRONTS):
            with m.If(changes_level[number]):
                m.d.sync += levels[number].eq(Mux(pushes, level + 1, level - 1))
                with m.If(pushes):
                    m.d.sync += tops[number].eq(resolved)
            with m.If(self.start[number]):
                m.d.sync += [levels[number].eq(0), parked[number].eq(0)]

        # Second cycle: the outcome.
        popped, changes = Signal(), Signal()
        outcome = Signal(Outcome)
        mask = Signal(WAVEFRONT_SIZE)
        jumps = call | (resolved & parts.any_taken)
        m.d.sync += [
            outcome.valid.eq(resolved | (waiting & ~gathers & ~gathering)),
            outcome.wavefront.eq(wavefront),
            outcome.pc.eq(Mux((splits & ~follow_taken) | sync, next_pc, target)),
            popped.eq(pops | (back & has_parked)),
            changes.eq(splits | (arrives & gathered)),
            mask.eq(Mux(gathered & ~resolved, with_parked, Mux(follow_taken, taken, not_taken))),
        ]
        with m.If(arrives):
            m.d.sync += outcome.kind.eq(OutcomeKind.ARRIVE)
        with m.Elif(back & empty):
            m.d.sync += outcome.kind.eq(OutcomeKind.RETIRE)
        with m.Elif(full):
            m.d.sync += outcome.kind.eq(OutcomeKind.OVERFLOW)
        with m.Elif(pops | jumps):
            m.d.sync += outcome.kind.eq(OutcomeKind.JUMP)
        with m.Else():
            m.d.sync += outcome.kind.eq(OutcomeKind.RESUME)
        # Third cycle: what block RAM has read is in a register.
        m.d.sync += [
            self.outcome.eq(outcome),
            self.mask_write.valid.eq(changes | popped),
            self.mask_write.wavefront.eq(outcome.wavefront),
            self.mask_write.mask.eq(Mux(popped, pop.data.mask, mask)),
        ]
        with m.If(popped):
            m.d.sync += self.outcome.pc.eq(pop.data.pc)
            m.d.sync += tops[outcome.wavefront].eq(pop.data.on_branch)
        return m
