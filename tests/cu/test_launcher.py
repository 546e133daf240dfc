"""The launcher: every wavefront of every work-group on a free slot, with its mask, number and runtime values."""

import random

import pytest

from fgpu.config import WAVEFRONTS
from fgpu.cu.launcher import Launcher

from ..streams import random_waits, simulate, stream_put

FULL = (1 << 64) - 1


@pytest.mark.parametrize("wavefronts", [1, 2, 3, 5, 8])
def test_random_work_groups(wavefronts: int) -> None:
    rng = random.Random(wavefronts)
    dut = Launcher()
    last_mask = rng.choice([1, 0xFF, FULL])
    groups = [{"ids": [rng.getrandbits(32) for _ in range(3)], "offsets": [rng.getrandbits(32) for _ in range(3)]}
              for _ in range(30)]
    free = [True] * WAVEFRONTS
    running: dict[int, int] = {}        # slot: cycles left
    memory: dict[int, int] = {}
    started: list[tuple[int, int]] = []
    wait = random_waits(rng)

    async def drive(ctx) -> None:
        ctx.set(dut.clearing, 1)
        for _ in range(20):
            *_, room, ready = await ctx.tick().sample(dut.room, dut.work_groups.ready)
            assert not room
            assert not ready
        ctx.set(dut.clearing, 0)
        ctx.set(dut.kernel, {"wavefronts_minus_1": wavefronts - 1, "last_mask": last_mask})
        for group in groups:
            await stream_put(ctx, dut.work_groups, group, wait())
        while len(started) < len(groups) * wavefronts:
            await ctx.tick()

    async def slots(ctx) -> None:
        """Slots become free after random times; now and then another mask is written."""
        while True:
            ctx.set(dut.free, sum(each << slot for slot, each in enumerate(free)))
            ctx.set(dut.mask_ready, rng.random() < 0.8)
            *_, start, number, mask, mask_ready, write, room, ready = await ctx.tick().sample(
                dut.start, dut.number, dut.mask_write, dut.mask_ready, dut.runtime_write, dut.room,
                dut.work_groups.ready)
            assert ready == room
            if room:
                assert sum(free) >= wavefronts
            if write.valid:
                memory[write.address] = write.word
            for slot in list(running):
                running[slot] -= 1
                if not running[slot]:
                    del running[slot]
                    free[slot] = True
            if start:
                slot = start.bit_length() - 1
                assert start == 1 << slot
                check(slot, number, mask, mask_ready)
                free[slot] = False
                running[slot] = rng.randint(5, 60)
                started.append((slot, number))

    def check(slot: int, number: int, mask, mask_ready: int) -> None:
        assert free[slot]
        group = groups[len(started) // wavefronts]
        assert number == len(started) % wavefronts
        assert mask.valid
        assert mask_ready
        assert mask.wavefront == slot
        assert mask.mask == (last_mask if number == wavefronts - 1 else FULL)
        for dimension in range(3):
            address = 0b1_1000_0000 | slot << 2 | dimension & 3
            assert memory[address] == group["offsets"][dimension] | group["ids"][dimension] << 32

    simulate(dut, drive, background=[slots])
