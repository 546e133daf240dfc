"""The scoreboard beside lists of destinations, with random loads, answers and instructions."""

import random

import pytest

from fgpu.config import WAVEFRONTS
from fgpu.cu.control_word import Flow, MemoryAccess
from fgpu.cu.pipeline import LOADS
from fgpu.cu.scoreboard import Scoreboard

from ..streams import simulate
from ..tiers import quick


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("seed", quick(range(3), [0]))
def test_random_loads(seed: int, local: bool) -> None:
    """With local memory its loads overtake those of global memory, and the other way round."""
    print(f"seed {seed}")
    rng = random.Random(seed)
    dut = Scoreboard(local=local)
    waiting: list[list[int]] = [[] for _ in range(WAVEFRONTS)]
    places: list[list[bool]] = [[] for _ in range(WAVEFRONTS)]     # whether they are local
    seen = {"together": 0, "depends": 0, "independent": 0} | ({"overtaken": 0} if local else {})

    async def testbench(ctx) -> None:
        asked: list[int] | None = None      # what the wavefront waited for when it was asked about
        for _ in range(4000):
            assert ctx.get(dut.loading) == sum(1 << slot for slot in range(WAVEFRONTS) if waiting[slot])
            if asked is not None:
                instruction(ctx, asked)
            slot = rng.choice([slot for slot in range(WAVEFRONTS) if waiting[slot]] or [0])
            ctx.set(dut.wavefront, slot)
            asked = list(waiting[slot])
            comes, goes = rng.randrange(3), rng.randrange(3)     # few wavefronts, so that both are often the same
            load = len(waiting[comes]) < LOADS and rng.random() < 0.5
            done = bool(waiting[goes]) and rng.random() < 0.5
            rd = rng.randrange(8)
            ctx.set(dut.load, {"valid": load, "wavefront": comes, "rd": rd})
            ctx.set(dut.done, done)
            ctx.set(dut.done_wavefront, goes)
            to, of = local and rng.random() < 0.5, bool(places[goes]) and rng.choice(places[goes])
            if local:
                ctx.set(dut.load_local, to)
                ctx.set(dut.done_local, of)
            await ctx.tick()
            seen["together"] += load and done and comes == goes
            if done:
                first = places[goes].index(of)
                del waiting[goes][first], places[goes][first]
                if first:
                    seen["overtaken"] += 1
            if load:
                waiting[comes].append(rd)
                places[comes].append(to)

    def instruction(ctx, waits: list[int]) -> None:
        control = {
            "rd": rng.randrange(8), "rs": rng.randrange(8), "rt": rng.randrange(8),
            "memory": rng.choice([MemoryAccess.NONE, MemoryAccess.LOAD, rng.choice(list(MemoryAccess))]),
            "flow": rng.choice([Flow.NEXT, Flow.NEXT, rng.choice(list(Flow))]),
        }
        reads_rs, reads_rt = rng.getrandbits(1), rng.getrandbits(1)
        ctx.set(dut.control, control)
        ctx.set(dut.reads_rs, reads_rs)
        ctx.set(dut.reads_rt, reads_rt)
        last, writes = rng.randrange(8), rng.getrandbits(1)
        ctx.set(dut.last, {"write": writes, "rd": last})
        registers = {control["rd"], *([control["rs"]] if reads_rs else []), *([control["rt"]] if reads_rt else [])}
        assert ctx.get(dut.follows) == (writes and last in registers)
        if not waits:
            return      # then nobody asks
        is_load = control["memory"] is MemoryAccess.LOAD
        depends = (not registers.isdisjoint(waits) or control["flow"] is not Flow.NEXT
                   or not (is_load or control["memory"] is MemoryAccess.NONE)
                   or (is_load and len(waits) == LOADS))
        assert ctx.get(dut.depends) == depends
        seen["depends" if depends else "independent"] += 1

    simulate(dut, testbench)
    assert min(seen.values()) > 100
