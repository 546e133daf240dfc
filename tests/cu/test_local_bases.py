"""The first rows of the wavefronts' work-groups in local memory."""

import random
from collections import deque

from fgpu.config import WAVEFRONTS, Config
from fgpu.cu.local_bases import LocalBases
from fgpu.cu.pipeline import MEMORY_STAGE

from ..streams import simulate


def test_a_base_is_that_of_the_issue() -> None:
    """Wavefronts start in slots whose last accesses are still on their way through the vector."""
    rng = random.Random(1)
    dut = LocalBases(Config(local_memory=16))
    rows = 61
    bases: dict[int, int] = {}
    issued: deque[int | None] = deque([None] * MEMORY_STAGE)

    async def testbench(ctx) -> None:
        ctx.set(dut.kernel.local_rows, rows)
        started: int | None = None
        for _ in range(500):
            slot = rng.randrange(WAVEFRONTS)
            ctx.set(dut.wavefront, slot)
            issued.append(bases.get(slot) if slot != started else None)
            expected = issued.popleft()
            if expected is not None:
                assert ctx.get(dut.base) == expected
            starts = rng.random() < 0.3
            started, group = rng.randrange(WAVEFRONTS), rng.randrange(8)
            ctx.set(dut.start, starts << started)
            ctx.set(dut.group, group)
            # What is issued in the cycle of the start and in the next one is not that wavefront's.
            await ctx.tick()
            if starts:
                bases[started] = rows * group
            else:
                started = None

    simulate(dut, testbench)
    assert len(bases) == WAVEFRONTS
