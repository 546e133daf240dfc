"""The units of the schemes but ``stack`` against their models of the functional engine, all wavefronts at once."""

import random
from dataclasses import dataclass
from typing import Any

import pytest

from fgpu.config import ANNOTATED, DIVERGENCE, PE_COUNT, PHASES, WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.cu.control_word import Flow
from fgpu.cu.divergence import HARDWARE, OutcomeKind
from fgpu.sim.functional.divergence import SCHEMES
from fgpu.sim.functional.divergence.annotated import Counters
from fgpu.sim.functional.divergence.interface import FullStack, Paths

from ..streams import simulate
from ..tiers import quick

FRESH = (1 << WAVEFRONT_SIZE) - 1
CODE = 12       # few addresses, so that paths meet
CANCELLED = 0.05        # of what a wavefront might do next: another starts in its place, as after a cancelled kernel
DELAY = 7       # cycles from request to first phase


@dataclass
class Wavefront:
    """A wavefront in the model, where it is, and what it waits for."""

    paths: Paths
    pc: int
    parked: int = 0
    behind: int = 0
    back: int = 0       # where its last call returns to
    expected: tuple[OutcomeKind, int | None] | None = None
    ended: bool = False

    def move(self, goes_on: Any) -> None:
        """Take the step that ``goes_on`` tells the PC of; None if nobody does, but those at a barrier."""
        try:
            pc = goes_on()
        except FullStack:
            self.expected, self.ended = (OutcomeKind.OVERFLOW, None), True
            return
        if pc is not None:
            self.pc, self.expected = pc, (OutcomeKind.JUMP, pc)
        elif self.parked:
            self.paths.mask, self.parked, self.pc = self.parked, 0, self.behind
            self.expected = OutcomeKind.ARRIVE, self.behind
        else:
            self.expected, self.ended = (OutcomeKind.RETIRE, None), True


@pytest.mark.parametrize("scheme", quick(DIVERGENCE[1:], DIVERGENCE[1:3]))
def test_random_control_flow(scheme: str) -> None:
    depth = 8
    rng = random.Random(depth)
    dut: Any = HARDWARE[scheme](Config(link_stack_depth=depth, divergence=scheme))

    def fresh() -> Wavefront:
        mask = rng.choice([FRESH, rng.getrandbits(64) | 1])
        return Wavefront(SCHEMES[scheme](mask, depth), rng.randrange(CODE))

    wavefronts = [fresh() for _ in range(WAVEFRONTS)]
    masks = [each.paths.mask for each in wavefronts]      # as the hardware changes them
    renewed: set[int] = set()
    cancelled: dict[int, int] = {}      # by the cycle in which another starts
    kinds = dict.fromkeys([*OutcomeKind, "join", "meet"], 0)

    async def monitor(ctx: Any) -> None:
        looks: list[tuple[int, int | None]] = []
        while True:
            *_, outcome, write = await ctx.tick().sample(dut.outcome, dut.mask_write)
            for number, watch in looks:     # a cycle after the outcome
                assert ctx.get(dut.waits) >> number & 1 == (watch is not None)
                assert watch is None or ctx.get(dut.tops[number]) == watch
            looks.clear()
            if write.valid:
                masks[write.wavefront] = write.mask
            if outcome.valid:
                wavefront = wavefronts[outcome.wavefront]
                assert wavefront.expected is not None
                kind, pc = wavefront.expected
                kinds[kind] += 1
                assert outcome.kind == kind
                assert pc is None or outcome.pc == pc
                assert wavefront.ended or masks[outcome.wavefront] == wavefront.paths.mask
                if wavefront.ended:
                    renewed.add(outcome.wavefront)
                else:
                    looks.append((outcome.wavefront, wavefront.paths.watch))
                    wavefront.expected = None

    def request(number: int, flow: Flow, following: int, target: int) -> dict[str, int]:
        return {"flow": flow, "wavefront": number, "next": following, "target": target,
                "mask": wavefronts[number].paths.mask}

    def step(number: int, cycle: int, phases: dict[int, dict[str, int]]) -> tuple[dict[str, int], int]:
        """A request of the wavefront, and the slots that it takes beyond the first."""
        wavefront = wavefronts[number]
        paths, pc = wavefront.paths, wavefront.pc
        following, target = pc + 1, wavefront.back if rng.random() < 0.2 else rng.randrange(CODE)
        if paths.is_due(pc):
            asked = request(number, Flow.JOIN, pc, 0)
            kinds["join"] += 1
            kinds["meet"] += paths.watch == pc
            wavefront.move(lambda: paths.join(pc))
            return asked, 0
        flows = [Flow.BRANCH] * 10 + [Flow.CALL] * 2 + [Flow.RETURN, Flow.RETURN, Flow.SYNC]
        flow = rng.choice(flows + [Flow.MEET] * 8 * (scheme in ANNOTATED))
        if flow is Flow.SYNC and isinstance(paths, Counters) and paths.calls:
            flow = Flow.RETURN      # who does not return from a call is not among those who go on behind it
        asked = request(number, flow, following, target)
        if flow is Flow.CALL:
            wavefront.back = following
            wavefront.move(lambda: paths.call(target, following))
        elif flow is Flow.RETURN:
            wavefront.move(paths.ret)
        elif flow is Flow.MEET:
            paths.place = target
            wavefront.pc, wavefront.expected = following, (OutcomeKind.RESUME, None)
        elif flow is Flow.SYNC:
            wavefront.parked, wavefront.behind = wavefront.parked | paths.mask, following
            wavefront.move(paths.park)
        else:
            return asked, branch(number, cycle, target, phases)
        return asked, 0

    def branch(number: int, cycle: int, target: int, phases: dict[int, dict[str, int]]) -> int:
        wavefront = wavefronts[number]
        paths, following = wavefront.paths, wavefront.pc + 1
        mask = paths.mask
        taken = mask & rng.choice([0, FRESH, rng.getrandbits(64), rng.getrandbits(64), 0xFFFF_FFFF,
                                   1 << rng.randrange(64)])
        used = range(0 if mask & 0xFFFF_FFFF else 4, PHASES if mask >> 32 else 4)
        for at, phase in enumerate(used):
            lanes, taking = mask >> PE_COUNT * phase & 0xFF, taken >> PE_COUNT * phase & 0xFF
            phases[cycle + DELAY + at] = {
                "valid": 1, "wavefront": number, "phase": phase, "taken": taking, "not_taken": lanes & ~taking,
                "first": phase == used[0], "last": phase == used[-1]}
        if taken in (0, mask):
            paths.place = None
            wavefront.pc = target if taken else following
            wavefront.expected = (OutcomeKind.JUMP, target) if taken else (OutcomeKind.RESUME, None)
        else:
            wavefront.move(lambda: paths.branch(following - 1, taken, target, following))
        return len(used) // 4 - 1

    async def drive(ctx: Any) -> None:
        phases: dict[int, dict[str, int]] = {}
        busy = 0
        for cycle in range(5000):
            ctx.set(dut.start, sum(1 << number for number in renewed))
            for number in renewed:
                wavefronts[number] = fresh()
                masks[number] = wavefronts[number].paths.mask
            renewed.clear()
            if cycle in cancelled:
                renewed.add(cancelled.pop(cycle))
            ctx.set(dut.request_valid, 0)
            if cycle % 4 == 0:
                ready = [number for number, each in enumerate(wavefronts)
                         if each.expected is None and number not in cancelled.values()]
                if busy:
                    busy -= 1
                elif ready and rng.random() < CANCELLED:
                    cancelled[cycle + 3] = rng.choice(ready)
                elif ready:
                    asked, busy = step(rng.choice(ready), cycle, phases)
                    ctx.set(dut.request, asked)
                    ctx.set(dut.request_valid, 1)
            ctx.set(dut.branch, phases.pop(cycle, {"valid": 0}))
            await ctx.tick()

    simulate(dut, drive, background=[monitor])
    assert all(kinds.values()), kinds
