"""Results of different latencies: each leaves in its cycle, as whose it is, and never with another."""

import random
from dataclasses import dataclass

import pytest

from fgpu.config import PE_COUNT, PHASES, WAVEFRONTS
from fgpu.cu.float.operations import BASE_LATENCY, LATENCY, FloatOp
from fgpu.cu.float_results import FloatResults
from fgpu.cu.pipeline import OPERAND_STAGE

from ..streams import simulate

HALF = PHASES // 2
CYCLES = 4000


@dataclass
class Phase:
    """A phase of an instruction under way."""

    operation: FloatOp
    wavefront: int
    phase: int
    register: int
    lanes: int


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_random_instructions(share: float) -> None:
    """``share`` of the free slots of issue get an instruction; every other of them may be for the vector."""
    rng = random.Random(str(share))
    dut = FloatResults()
    issues: dict[int, Phase] = {}       # by cycle
    leaving: dict[int, Phase] = {}
    refused = 0

    async def testbench(ctx) -> None:
        nonlocal refused
        for op in FloatOp:
            ctx.set(dut.slots[op.value], (LATENCY[op] - BASE_LATENCY) // 4)
        busy_until = 0
        for cycle in range(CYCLES):
            ctx.set(dut.beat, cycle % 4)
            ctx.set(dut.commit.accept, 0)
            # The vector's instructions pass by, too: only what was accepted may be taken for a float.
            phase = issues.get(cycle)
            ctx.set(dut.issue, {"wavefront": phase.wavefront, "phase": phase.phase, "lanes": phase.lanes} if phase
                    else {"valid": rng.getrandbits(1), "wavefront": rng.randrange(WAVEFRONTS), "lanes": 0xFF})
            ctx.set(dut.rd, phase.register if phase else rng.randrange(32))
            if cycle % 4 == 3 and cycle >= busy_until and rng.random() < share:
                refused += not commit(ctx, cycle)
                if ctx.get(dut.commit.accept):
                    busy_until = max(issues)
            check(ctx, cycle)
            await ctx.tick()

    def commit(ctx, cycle: int) -> bool:
        operation = rng.choice([FloatOp.FADD, FloatOp.FDIV, FloatOp.FSQRT, *FloatOp])
        phases = rng.choice([range(HALF), range(HALF, PHASES), range(PHASES), range(PHASES)])
        first = cycle + 1 + OPERAND_STAGE + LATENCY[operation]
        is_clear = all(first + at not in leaving for at in range(len(phases)))
        ctx.set(dut.commit.operation, operation)
        ctx.set(dut.commit.both_halves, len(phases) == PHASES)
        assert ctx.get(dut.commit.slots) == (LATENCY[operation] - BASE_LATENCY) // 4
        assert ctx.get(dut.commit.clear) == is_clear
        if is_clear:
            ctx.set(dut.commit.accept, 1)
            wavefront, register = rng.randrange(WAVEFRONTS), rng.choice([0, rng.randrange(32)])
            for at, number in enumerate(phases):
                phase = Phase(operation, wavefront, number, register, rng.getrandbits(PE_COUNT))
                issues[cycle + 1 + at] = leaving[first + at] = phase
        return is_clear

    def check(ctx, cycle: int) -> None:
        entering = issues.get(cycle - OPERAND_STAGE)
        if entering:
            assert ctx.get(dut.operation) == entering.operation
        assert ctx.get(dut.valid_next) == (cycle + 1 in leaving)
        assert ctx.get(dut.valid) == (cycle in leaving)
        place = ctx.get(dut.place)
        if cycle not in leaving:
            assert place.lanes == 0
            return
        phase = leaving[cycle]
        assert ctx.get(dut.select) == phase.operation
        assert (place.wavefront, place.phase, place.register) == (phase.wavefront, phase.phase, phase.register)
        assert place.lanes == (phase.lanes if phase.register else 0)
        assert place.phase % 4 == (cycle + 1) % 4, "the register file's bank"

    simulate(dut, testbench)
    assert len(leaving) > CYCLES * share / 3
    assert refused > 20
