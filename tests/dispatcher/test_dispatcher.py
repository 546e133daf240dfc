"""The dispatcher: each work-group once, with its ids and offsets; what it tells the compute units."""

import random
from itertools import product

import pytest

from fgpu.address_map import DESCRIPTOR_WORDS, DescriptorWord
from fgpu.config import KERNEL_SLOTS, PE_COUNT, Config
from fgpu.dispatcher.dispatcher import Dispatcher
from fgpu.sim.descriptor import KernelDescriptor

from ..core.program_statements import random_index_space
from ..formal.prover import mutant
from ..streams import random_waits, simulate, stream_get

WORD = 1 << 32


def random_descriptor(rng: random.Random, small: bool) -> KernelDescriptor:
    local, groups = random_index_space(rng, rng.choice([2, 10, 24]))
    if small:
        local = tuple(min(extent, 4) for extent in local)
    return KernelDescriptor(
        entry=rng.randrange(1 << 12), local_size=local, work_groups=groups,
        global_size=tuple(rng.randint(1, WORD - 1) for _ in local),
        global_offset=tuple(rng.getrandbits(32) for _ in local),
        parameters=tuple(rng.getrandbits(32) for _ in range(rng.choice([0, 1, 2, 3, 7, 15, 16]))))


class Bench:
    """Plays LRAM, compute units and cache."""

    def __init__(self, count: int, rng: random.Random) -> None:
        self.dut = Dispatcher(Config(compute_units=count))
        self.count, self.rng = count, rng
        self.lram = [rng.getrandbits(32) for _ in range(KERNEL_SLOTS * DESCRIPTOR_WORDS)]
        self.descriptors: dict[int, KernelDescriptor] = {}
        self.pending = self.clean = self.initialize = 0
        self.runtime: dict[int, int] = {}
        self.groups: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        self.of_unit = [0] * count
        self.cleaned = 0
        self.busy = [0] * count         # work-groups that run
        self.finished: list[int] = []
        self.kernel = None
        self.cleaning = False

    def load(self, slot: int, descriptor: KernelDescriptor) -> None:
        self.descriptors[slot] = descriptor
        self.lram[slot * DESCRIPTOR_WORDS:(slot + 1) * DESCRIPTOR_WORDS] = descriptor.words()
        self.local = self.rng.getrandbits(16)       # rows, limit and place
        self.lram[slot * DESCRIPTOR_WORDS + DescriptorWord.SIZE] |= self.local << 10

    async def memory(self, ctx) -> None:
        dut = self.dut
        while True:
            ctx.set(dut.pending, self.pending)
            ctx.set(dut.clean_cache, self.clean)
            ctx.set(dut.initialize, self.initialize)
            ctx.set(dut.idle, sum((not busy) << unit for unit, busy in enumerate(self.busy)))
            done = self.cleaning and self.rng.random() < 0.1
            ctx.set(dut.clean_done, done)
            *_, address, read, write, loading, start, finished, accepted, kernel = await ctx.tick().sample(
                dut.lram_address, dut.lram_read, dut.runtime_write, dut.loading, dut.clean_start, dut.finished,
                dut.accepted, dut.kernel)
            ctx.set(dut.lram_data, self.lram[address] if read else self.rng.getrandbits(32))
            if write.valid:
                assert loading      # nothing is issued then
                self.runtime[write.address] = write.word
            assert not (loading and (start or finished))
            self.pending &= ~accepted
            if start:
                assert not any(self.busy)
                self.cleaned, self.cleaning = self.cleaned + 1, True
            if done:
                self.cleaning = False
            if finished:
                assert not self.cleaning
                assert not any(self.busy)
                self.finished.append(finished.bit_length() - 1)
                self.kernel = kernel

    async def unit(self, ctx, number: int) -> None:
        """Takes work-groups when it has room, and runs each for a while."""
        wait = random_waits(self.rng)
        while True:
            ctx.set(self.dut.room[number], 0)
            for _ in range(wait()):
                await ctx.tick()
            ctx.set(self.dut.room[number], 1)
            group = await stream_get(ctx, self.dut.work_groups[number])
            self.busy[number] += 1
            self.groups.append((tuple(group.ids), tuple(group.offsets)))
            self.of_unit[number] += 1
            ctx.set(self.dut.room[number], 0)
            for _ in range(self.rng.randint(6, 12)):
                await ctx.tick()
            self.busy[number] -= 1

    def check(self, descriptor: KernelDescriptor) -> None:
        """What a kernel's compute units saw."""
        local, dimensions = descriptor.local_size, descriptor.dimensions

        def padded(values: tuple[int, ...], filler: int) -> list[int]:
            return [*values, filler, filler][:3]

        expected = []
        for ids in product(*(range(count) for count in reversed(padded(descriptor.work_groups, 1)))):
            ids = ids[::-1]
            offsets = [(origin + number * extent) % WORD for origin, number, extent in zip(
                padded(descriptor.global_offset, 0), ids, padded(local, 1), strict=True)]
            expected.append((ids, tuple(offsets)))
        if self.count == 1:
            assert self.groups == expected
        assert sorted(self.groups) == sorted(expected)
        assert self.kernel.entry == descriptor.entry
        assert self.kernel.wavefronts_minus_1 + 1 == descriptor.wavefronts
        assert self.kernel.dimensions_minus_1 + 1 == dimensions
        assert self.kernel.local_rows | self.kernel.local_groups << 12 | self.kernel.place << 15 == self.local
        assert self.kernel.last_mask.bit_count() == (descriptor.work_items - 1) % 64 + 1
        assert self.kernel.last_mask & 1
        for number, word in enumerate(descriptor.parameters):
            assert self.runtime[0b1_0000_0000 | number] % WORD == word
        for dimension in range(3):
            size = padded(descriptor.global_size, 1)[dimension] | padded(local, 1)[dimension] << 32
            assert self.runtime[0b1_0001_0000 | dimension] == size
        for item in range(descriptor.work_items):
            phase, lane = divmod(item, PE_COUNT)
            for dimension, extent in enumerate(local):
                item, expected_id = divmod(item, extent)
                assert self.runtime[dimension << 6 | phase] >> 9 * lane & 511 == expected_id


@pytest.mark.parametrize("count", [1, 2, 8])
def test_random_kernels(count: int) -> None:
    rng = random.Random(count)
    bench = Bench(count, rng)

    async def drive(ctx) -> None:
        descriptor, cleaned = None, 0
        for index in range(12):
            if descriptor is None or rng.random() < 0.7:
                descriptor = random_descriptor(rng, small=index % 3 == 0)
            slot = rng.randrange(KERNEL_SLOTS)
            bench.load(slot, descriptor)
            bench.clean, bench.initialize = rng.getrandbits(16), rng.getrandbits(16)
            cleaned += bench.clean >> slot & 1
            bench.groups.clear()
            bench.finished.clear()
            bench.pending |= 1 << slot
            while not bench.finished:
                await ctx.tick()
            assert bench.finished == [slot]
            assert bench.cleaned == cleaned
            bench.check(descriptor)
        assert all(bench.of_unit)

    units = [lambda ctx, number=number: bench.unit(ctx, number) for number in range(count)]
    simulate(bench.dut, drive, background=[bench.memory, *units])


@pytest.mark.ci
@pytest.mark.parametrize(("old", "new"), [
    ("self.loading.eq(generating)", "self.loading.eq(0)"),
    ("self.loading.eq(generating)", "self.loading.eq(generates)"),
    ("with m.If(local_ids.last):", "with m.If(local_ids.write.valid):"),
    ("with m.If(parameter == last_parameter):", "with m.If(parameter == 0):"),
    ("size_pair.low.eq(self.lram_data)", "size_pair.low.eq(descriptor.origins[0])"),
])
def test_what_is_not_loaded_is_missed(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted faults, after which the units are told too early that the runtime memories are filled."""
    monkeypatch.setattr(f"{__name__}.Dispatcher", mutant("fgpu.dispatcher.dispatcher", old, new).Dispatcher)
    with pytest.raises((AssertionError, KeyError)):
        test_random_kernels(1)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_times(dimensions: int) -> None:
    """From the acceptance to the first work-group, and until all is loaded, as docs/architecture.md has it."""
    rng = random.Random(dimensions)
    bench = Bench(1, rng)
    bench.load(0, KernelDescriptor(entry=0, local_size=(2,) * dimensions, work_groups=(1,) * dimensions,
                                   global_size=(2,) * dimensions, parameters=(1, 2, 3)))
    times: list[tuple[int, int]] = []

    async def drive(ctx) -> None:
        for initialize in (1, 0):
            bench.initialize, bench.pending, bench.finished = initialize, 1, []
            accepted = handed = loaded = cycle = 0
            while not bench.finished:
                _, _, took, valid, loading = await ctx.tick().sample(
                    bench.dut.accepted, bench.dut.work_groups[0].valid, bench.dut.loading)
                cycle += 1
                accepted = cycle if took else accepted
                handed = handed or (valid and cycle)
                loaded = cycle if loading else loaded
            times.append((handed - accepted, loaded - accepted))

    simulate(bench.dut, drive, background=[bench.memory, lambda ctx: bench.unit(ctx, 0)])
    first, last = 8 + dimensions, 10 + dimensions + 3       # parameters
    assert times[1] == (first, last)
    assert times[0][0] == first
    assert times[0][1] == max(last, 14) + 8 * dimensions


def test_pending_kernels_run_lowest_slot_first() -> None:
    rng = random.Random(5)
    bench = Bench(1, rng)
    for slot in range(KERNEL_SLOTS):
        bench.load(slot, random_descriptor(rng, small=True))

    async def drive(ctx) -> None:
        bench.pending = 0b1010_0000_0001_0110
        while len(bench.finished) < 5:
            await ctx.tick()
        assert bench.finished == [1, 2, 4, 13, 15]

    simulate(bench.dut, drive, background=[bench.memory, lambda ctx: bench.unit(ctx, 0)])
