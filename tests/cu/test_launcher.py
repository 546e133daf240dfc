"""The launcher: every wavefront of every work-group on a free slot, with its mask, number and runtime values."""

import random

import pytest

from fgpu.config import WAVEFRONTS
from fgpu.cu.launcher import Launcher

from ..streams import random_waits, simulate, stream_put

FULL = (1 << 64) - 1


@pytest.mark.parametrize(("wavefronts", "limit", "place"), [
    (1, 0, 0), (2, 0, 1), (3, 0, 0), (5, 1, 0), (8, 0, 1), (1, 3, 1), (1, 7, 0), (2, 2, 0)])
def test_random_work_groups(wavefronts: int, limit: int, place: int) -> None:
    rng = random.Random(wavefronts)
    dut = Launcher()
    last_mask = rng.choice([1, 0xFF, FULL])
    groups = [{"ids": [rng.getrandbits(32) for _ in range(3)], "offsets": [rng.getrandbits(32) for _ in range(3)]}
              for _ in range(30)]
    free = [True] * WAVEFRONTS
    running: dict[int, int] = {}        # slot: cycles left
    numbers: dict[int, int] = {}        # slot that is not free: number of its work-group
    number_of_group: list[int] = []
    unit = rng.randrange(8)
    began = 0                           # in which cycle the turn of a wavefront began
    cycle = 0
    memory: dict[int, int] = {}
    started: list[int] = []             # numbers of work-groups
    seen_together = 0
    wait = random_waits(rng)

    async def drive(ctx) -> None:
        ctx.set(dut.clearing, 1)
        for _ in range(20):
            *_, room, ready = await ctx.tick().sample(dut.room, dut.work_groups.ready)
            assert not room
            assert not ready
        ctx.set(dut.clearing, 0)
        ctx.set(dut.kernel, {"wavefronts_minus_1": wavefronts - 1, "last_mask": last_mask, "local_groups": limit,
                             "place": place})
        ctx.set(dut.compute_unit, unit)
        for group in groups:
            await stream_put(ctx, dut.work_groups, group, wait())
        while len(started) < len(groups) * wavefronts:
            await ctx.tick()

    async def slots(ctx) -> None:
        """Slots become free after random times; now and then another mask is written."""
        nonlocal began, cycle, seen_together
        known: set[int] = set()         # numbers taken, as the launcher knows them: a cycle ago
        were_free, settled_at, not_ready, writes = 0, 30, 0, 0
        current: int | None = None      # the slot that has started, until all is written
        while True:
            cycle += 1
            ctx.set(dut.free, sum(each << slot for slot, each in enumerate(free)))
            ctx.set(dut.mask_ready, rng.random() < 0.8)
            ctx.set(dut.loading, cycle % 200 < 30 or rng.random() < 0.1)
            (*_, start, number, mask, mask_ready, write, room, ready, valid, group, groups, loading,
             busy) = await ctx.tick().sample(
                dut.start, dut.number, dut.mask_write, dut.mask_ready, dut.runtime_write, dut.room,
                dut.work_groups.ready, dut.work_groups.valid, dut.group, dut.groups, dut.loading, dut.busy)
            assert ready == room
            if room:
                assert sum(free) >= wavefronts
                assert len(known) < (limit or WAVEFRONTS)
            elif not limit and cycle >= settled_at and not busy:
                assert were_free < wavefronts       # it is not late
            were_free = sum(free)
            if valid and ready:
                number_of_group.append(min(set(range(WAVEFRONTS)) - known))
            assert write.valid == (busy and not loading)
            if busy:
                began = began or cycle
            if write.valid:
                memory[write.address] = write.word
                writes += 1
            for slot in range(WAVEFRONTS):
                assert groups.members[slot] in (0, 1 << numbers.get(slot, 8)) or free[slot]
            known = set(numbers.values())
            seen_together = max(seen_together, len(known))
            for slot in list(running):
                running[slot] -= 1
                if not running[slot]:
                    del running[slot], numbers[slot]
                    free[slot] = True
            if start:
                slot = start.bit_length() - 1
                assert start == 1 << slot
                assert current is None
                current = slot
                check(slot, number, mask, mask_ready)
                assert group == number_of_group[-1]
                assert groups.starting == 1 << group
                assert cycle - began == not_ready       # in the first cycle in which its mask is taken
                settled_at = cycle + 3 + place
                free[slot] = False
                running[slot] = rng.randint(5, 90)
                numbers[slot] = group
                started.append(number)
            else:
                assert groups.starting in (0, 1 << number_of_group[-1] if number_of_group else 0)
                not_ready += busy and current is None
            assert bool(groups.starting) == busy
            if busy and current is not None and writes >= 3 + place and not start:
                check_memory(current, (len(started) - 1) // wavefronts)
                if not loading:
                    began, not_ready, writes, current = 0, 0, 0, None

    def check(slot: int, number: int, mask, mask_ready: int) -> None:
        assert free[slot]
        assert number == len(started) % wavefronts
        assert mask.valid
        assert mask_ready
        assert mask.wavefront == slot
        assert mask.mask == (last_mask if number == wavefronts - 1 else FULL)

    def check_memory(slot: int, number: int) -> None:
        group = groups[number]
        for dimension in range(3):
            address = 0b1_1000_0000 | slot << 2 | dimension & 3
            assert memory.get(address) == group["offsets"][dimension] | group["ids"][dimension] << 32
        if place:
            assert memory.get(0b1_1000_0011 | slot << 2, 0) & 0xFFFF_FFFF == 8 * unit + number_of_group[-1]

    simulate(dut, drive, background=[slots])
    assert seen_together == limit or (not limit and seen_together >= WAVEFRONTS // wavefronts)
