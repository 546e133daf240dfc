"""The barrier unit with random work-groups: nobody goes on too early, and nobody waits for long."""

import random
from dataclasses import dataclass, field

import pytest

from fgpu.config import WAVEFRONTS
from fgpu.cu.barrier import Barrier

from ..streams import simulate

LATENCY = 2
"""Cycles from the arrival or the end of the last one to the release."""


@dataclass
class Group:
    """A work-group that has started ``slots``, of ``count`` wavefronts."""

    count: int
    slots: list[int] = field(default_factory=list)
    awaited: int = 0
    """The cycle until which somebody was awaited."""


@pytest.mark.parametrize("most", range(1, WAVEFRONTS + 1))
def test_random_work_groups(most: int) -> None:
    rng = random.Random(most)
    dut = Barrier()
    groups: dict[int, Group] = {}
    starting: int | None = None
    runs_until: dict[int, int] = {}     # slot: the cycle in which its wavefront does something
    waits: set[int] = set()
    members: dict[int, int] = {}        # slot: the number of its work-group, a cycle longer than that is there
    released = together = 0

    def end(slot: int) -> None:
        number = members[slot]
        del runs_until[slot]
        groups[number].slots.remove(slot)
        if not groups[number].slots and starting != number:
            del groups[number]

    async def drive(ctx) -> None:
        nonlocal starting, released, together
        wait_to_start = 0
        for cycle in range(3000):
            ended = set(members) - set(runs_until) - waits
            ctx.set(dut.groups, {"members": [1 << members[slot] if slot in members else 0
                                             for slot in range(WAVEFRONTS)],
                                 "starting": 0 if starting is None else 1 << starting})
            ctx.set(dut.arrived, sum(1 << slot for slot in waits))
            for number, group in groups.items():
                if starting == number or any(slot not in waits for slot in [*group.slots,
                                             *(slot for slot in ended if members[slot] == number)]):
                    group.awaited = cycle
            *_, release = await ctx.tick().sample(dut.release)
            assert not release & ~sum(1 << slot for slot in waits)
            together = max(together, len(groups))
            for slot in ended:
                del members[slot]
            for number, group in groups.items():
                here = [slot for slot in group.slots if slot in waits and release >> slot & 1]
                if here:
                    assert starting != number
                    assert set(here) == set(group.slots)    # all of them, and at once
                    released += len(here)
                    for slot in here:
                        waits.remove(slot)
                        runs_until[slot] = cycle + rng.randint(3, 30)
                else:
                    assert cycle - group.awaited < LATENCY or not group.slots
            for slot in [slot for slot, until in runs_until.items() if until <= cycle]:
                if rng.random() < 0.8:
                    waits.add(slot)
                    del runs_until[slot]
                else:
                    end(slot)
            free = [slot for slot in range(WAVEFRONTS) if slot not in runs_until and slot not in waits]
            if starting is None:
                count = rng.randint(1, most)
                numbers = set(range(WAVEFRONTS)) - set(groups) - set(members.values())
                if numbers and len(free) >= count and rng.random() < 0.2:
                    starting = min(numbers)
                    groups[starting] = Group(count)
                    wait_to_start = cycle + 3
            elif cycle >= wait_to_start:
                wait_to_start, slot = cycle + rng.choice([3, 20]), rng.choice(free)
                group, members[slot] = groups[starting], starting
                group.slots.append(slot)
                group.count -= 1
                runs_until[slot] = cycle + rng.randint(3, 60)
                if not group.count:
                    starting = None

    simulate(dut, drive)
    assert released > 300
    assert together > (most < WAVEFRONTS)
