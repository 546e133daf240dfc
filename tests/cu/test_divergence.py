"""The divergence unit against a model of link and enable stacks, with all wavefronts at once."""

import itertools
import random
from dataclasses import dataclass, field

import pytest

from fgpu.config import PE_COUNT, PHASES, WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.cu.control_word import Flow
from fgpu.cu.divergence import OutcomeKind
from fgpu.cu.divergence.stack import DivergenceStack

from ..streams import simulate


@dataclass
class Wavefront:
    """A wavefront's state in the model, and what it waits for."""

    mask: int
    depth: int
    stack: list[tuple[int, int, bool]] = field(default_factory=list)
    """Of each entry the address, the work-items, and whether it is a branch's."""
    parked: int = 0
    behind: int = 0
    expected: tuple[OutcomeKind, int | None] | None = None
    retired: bool = False

    def push(self, pc: int, mask: int, is_branch: bool) -> bool:
        """False if there is no room: the wavefront stops."""
        if len(self.stack) == self.depth:
            self.expected, self.retired = (OutcomeKind.OVERFLOW, None), True
            return False
        self.stack.append((pc, mask, is_branch))
        return True

    def branch(self, taken: int, following: int, target: int) -> None:
        others = self.mask & ~taken
        if not taken:
            self.expected = OutcomeKind.RESUME, None
        elif not others:
            self.expected = OutcomeKind.JUMP, target
        elif taken.bit_count() < others.bit_count():
            if self.push(following, others, True):
                self.mask, self.expected = taken, (OutcomeKind.JUMP, target)
        elif self.push(target, taken, True):
            self.mask, self.expected = others, (OutcomeKind.JUMP, following)

    def call(self, following: int, target: int) -> None:
        if self.push(following, self.mask, False):
            self.expected = OutcomeKind.JUMP, target

    def sync(self, following: int) -> None:
        self.parked, self.behind = self.parked | self.mask, following
        if self.stack and self.stack[-1][2]:
            self.pop()
        else:
            self.arrive()

    def arrive(self) -> None:
        self.mask, self.parked, self.expected = self.parked, 0, (OutcomeKind.ARRIVE, self.behind)

    def pop(self) -> None:
        pc, self.mask, _ = self.stack.pop()
        self.expected = OutcomeKind.JUMP, pc

    def ret(self) -> None:
        if self.stack:
            self.pop()
        elif self.parked:
            self.arrive()
        else:
            self.expected, self.retired = (OutcomeKind.RETIRE, None), True


@pytest.mark.parametrize("depth", [8, 16, 32])
def test_random_control_flow(depth: int) -> None:
    rng = random.Random(depth)
    config = Config(link_stack_depth=depth)
    dut = DivergenceStack(config)
    fresh = (1 << WAVEFRONT_SIZE) - 1
    wavefronts = [Wavefront(fresh, depth) for _ in range(WAVEFRONTS)]
    masks = [each.mask for each in wavefronts]      # as the hardware changes them
    ended: set[int] = set()
    # Cycles from request to first phase: 6 in the vector, where branches never resolve while a call waits.
    delay = {8: 6, 16: 7, 32: 9}[depth]
    overflows = 0
    outcomes = 0
    arrivals = dict.fromkeys(itertools.product((Flow.SYNC, Flow.RETURN), (False, True)), 0)     # of parts

    async def monitor(ctx) -> None:
        """Masks before outcomes, as both come in one cycle."""
        nonlocal outcomes
        while True:
            *_, outcome, mask_write = await ctx.tick().sample(dut.outcome, dut.mask_write)
            if mask_write.valid:
                masks[mask_write.wavefront] = mask_write.mask
            if outcome.valid:
                outcomes += 1
                wavefront = wavefronts[outcome.wavefront]
                assert wavefront.expected is not None
                kind, pc = wavefront.expected
                assert outcome.kind == kind
                if pc is not None:
                    assert outcome.pc == pc
                assert masks[outcome.wavefront] == wavefront.mask or wavefront.retired
                if wavefront.retired:
                    ended.add(outcome.wavefront)
                else:
                    wavefront.expected = None

    def choose(wavefront: Wavefront, deeper: bool) -> Flow:
        flows = [Flow.BRANCH, Flow.BRANCH, Flow.CALL, Flow.CALL] * 3 * deeper
        return rng.choice([*flows, Flow.BRANCH, Flow.RETURN, Flow.RETURN, Flow.SYNC])

    async def drive(ctx) -> None:
        """An instruction in each slot of four cycles; the phases of a branch come later."""
        nonlocal overflows
        phases: dict[int, dict] = {}        # by cycle
        busy_slots = 0
        for cycle in range(5000):
            ctx.set(dut.start, sum(1 << number for number in ended))
            for number in ended:
                masks[number] = rng.choice([fresh, rng.getrandbits(64) | 1])
                wavefronts[number] = Wavefront(masks[number], depth)
            ended.clear()
            if cycle % 4 == 0:
                ctx.set(dut.request_valid, 0)
                ready = [n for n, each in enumerate(wavefronts) if each.expected is None]
                if busy_slots:
                    busy_slots -= 1
                elif ready and rng.random() < 0.9:
                    number = rng.choice(ready)
                    wavefront = wavefronts[number]
                    flow = choose(wavefront, deeper=cycle % 2500 < 2000)
                    following, target = rng.getrandbits(12), rng.getrandbits(12)
                    ctx.set(dut.request_valid, 1)
                    ctx.set(dut.request, {"flow": flow, "wavefront": number, "next": following, "target": target,
                                          "mask": wavefront.mask})
                    if flow is Flow.BRANCH:
                        busy_slots = issue_branch(cycle, number, wavefront, following, target, phases)
                    elif flow is Flow.CALL:
                        wavefront.call(following, target)
                    else:
                        parts = bool(wavefront.parked)
                        if flow is Flow.SYNC:
                            wavefront.sync(following)
                        else:
                            wavefront.ret()
                        assert wavefront.expected is not None
                        arrivals[flow, parts] += wavefront.expected[0] is OutcomeKind.ARRIVE
                    overflows += wavefront.expected == (OutcomeKind.OVERFLOW, None)
            else:
                ctx.set(dut.request_valid, 0)
            ctx.set(dut.branch, phases.pop(cycle, {"valid": 0}))
            await ctx.tick()

    def issue_branch(cycle: int, number: int, wavefront: Wavefront, following: int, target: int,
                     phases: dict[int, dict]) -> int:
        """Schedules the phases; returns the slots that the branch takes beyond the first."""
        mask = wavefront.mask
        taken = mask & rng.choice([0, fresh, rng.getrandbits(64), rng.getrandbits(64) & rng.getrandbits(64),
                                   0xFFFF_FFFF, 1 << rng.randrange(64)])
        low, high = mask & 0xFFFF_FFFF, mask >> 32
        used = range(0 if low else 4, PHASES if high else 4)
        for at, phase in enumerate(used):
            lanes = mask >> PE_COUNT * phase & 0xFF
            taking = taken >> PE_COUNT * phase & 0xFF
            phases[cycle + delay + at] = {
                "valid": 1, "wavefront": number, "phase": phase, "taken": taking, "not_taken": lanes & ~taking,
                "first": phase == used[0], "last": phase == used[-1]}
        wavefront.branch(taken, following, target)
        return len(used) // 4 - 1

    simulate(dut, drive, background=[monitor])
    assert overflows
    assert outcomes > 500
    assert not arrivals.pop((Flow.RETURN, False))
    assert all(arrivals.values())
