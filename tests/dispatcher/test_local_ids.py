"""Local ids against division with remainder."""

import random
from functools import partial

import numpy as np
import pytest

from fgpu.config import PE_COUNT, PHASES, WAVEFRONT_SIZE
from fgpu.dispatcher.local_ids import LocalIdGenerator
from fgpu.sim.functional.local_ids import local_ids

from ..core.program_statements import random_index_space
from ..streams import simulate


def shapes(seed: int, count: int) -> list[tuple[int, ...]]:
    rng = random.Random(seed)
    corners = [(1,), (512,), (511,), (1, 1, 1), (8, 8, 8), (7, 73), (1, 512), (512, 1, 1), (1, 1, 512), (2, 3, 85),
               (3, 5), (9, 7), (1, 3, 100)]
    return [*corners, *(random_index_space(rng, 8)[0] for _ in range(count))] if seed == 0 else \
        [random_index_space(rng, 8)[0] for _ in range(count)]


def random_sizes(rng: random.Random) -> tuple[tuple[int, ...], int]:
    """Extents of which a descriptor need not make as many wavefronts."""
    extent = partial(rng.choice, [0, 1, 1, 2, 3, 5, 7, 8, 9, 63, 64, 511, 512, 513, 1023])
    shape = tuple(extent() if rng.random() < 0.5 else rng.randrange(1, 12) for _ in range(rng.randint(1, 3)))
    return shape, rng.randint(1, 8)


@pytest.mark.parametrize("seed", range(2))
def test_functional_engine_counts_alike(seed: int) -> None:
    """For every content of the descriptor's words."""
    rng = random.Random(seed)
    dut = LocalIdGenerator()
    cases = [((n,), 1) for n in (0, 1, 8, 600)] + [((1, 1, 1), 2), ((2, 1, 3), 1)] if seed == 0 else []

    async def testbench(ctx) -> None:
        for shape, wavefronts in [*cases, *(random_sizes(rng) for _ in range(12))]:
            sizes = (*shape, 1, 1)[:3]
            memory = await generate(ctx, dut, rng, sizes, len(shape), wavefronts)
            expected = local_ids(sizes, len(shape), wavefronts)
            for (dimension, item), number in np.ndenumerate(expected):
                phase, lane = divmod(item, PE_COUNT)
                found = memory[dimension << 6 | phase] >> 9 * lane & 511
                assert found == number, f"{shape}: work-item {item}, dimension {dimension}"

    simulate(dut, testbench)


async def generate(ctx, dut: LocalIdGenerator, rng: random.Random, sizes: tuple[int, ...], dimensions: int,
                   wavefronts: int) -> dict[int, int]:
    """What the generator writes, by address."""
    ctx.set(dut.sizes, list(sizes))
    ctx.set(dut.dimensions_minus_1, dimensions - 1)
    ctx.set(dut.wavefronts_minus_1, wavefronts - 1)
    ctx.set(dut.start, 1)
    await ctx.tick()
    ctx.set(dut.start, 0)
    memory: dict[int, int] = {}
    while ctx.get(dut.busy):
        enable = rng.random() < 0.8
        ctx.set(dut.enable, enable)
        *_, write = await ctx.tick().sample(dut.write)
        if write.valid:
            assert enable
            assert write.address not in memory
            memory[write.address] = write.word
    assert len(memory) == dimensions * wavefronts * PHASES
    return memory


@pytest.mark.parametrize("seed", range(3))
def test_ids_of_every_work_item(seed: int) -> None:
    rng = random.Random(seed)
    dut = LocalIdGenerator()

    async def testbench(ctx) -> None:
        for shape in shapes(seed, 8):
            await one(ctx, shape)

    async def one(ctx, shape: tuple[int, ...]) -> None:
        items = 1
        for extent in shape:
            items *= extent
        wavefronts = -(-items // WAVEFRONT_SIZE)
        memory = await generate(ctx, dut, rng, (*shape, 1, 1)[:3], len(shape), wavefronts)
        for item in range(items):
            phase, lane = divmod(item, PE_COUNT)
            rest = item
            for dimension, extent in enumerate(shape):
                rest, expected = divmod(rest, extent)
                word = memory[dimension << 6 | phase]
                assert word >> 9 * lane & 511 == expected, f"{shape}: work-item {item}, dimension {dimension}"

    simulate(dut, testbench)
