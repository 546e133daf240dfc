"""Local ids against division with remainder."""

import random

import pytest

from fgpu.config import PE_COUNT, PHASES, WAVEFRONT_SIZE
from fgpu.dispatcher.local_ids import LocalIdGenerator

from ..core.program_statements import random_index_space
from ..streams import simulate


def shapes(seed: int, count: int) -> list[tuple[int, ...]]:
    rng = random.Random(seed)
    corners = [(1,), (512,), (511,), (1, 1, 1), (8, 8, 8), (7, 73), (1, 512), (512, 1, 1), (1, 1, 512), (2, 3, 85),
               (3, 5), (9, 7), (1, 3, 100)]
    return [*corners, *(random_index_space(rng, 8)[0] for _ in range(count))] if seed == 0 else \
        [random_index_space(rng, 8)[0] for _ in range(count)]


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
        ctx.set(dut.sizes, [*shape, 1, 1][:3])
        ctx.set(dut.dimensions_minus_1, len(shape) - 1)
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
        assert len(memory) == len(shape) * wavefronts * PHASES
        for item in range(items):
            phase, lane = divmod(item, PE_COUNT)
            rest = item
            for dimension, extent in enumerate(shape):
                rest, expected = divmod(rest, extent)
                word = memory[dimension << 6 | phase]
                assert word >> 9 * lane & 511 == expected, f"{shape}: work-item {item}, dimension {dimension}"

    simulate(dut, testbench)
