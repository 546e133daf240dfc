"""Local memory between random instructions of wavefronts and a model of its bytes, beside global memory."""

import random
from collections import deque
from dataclasses import dataclass
from functools import partial

import pytest
from amaranth.hdl import Const

from fgpu.config import ATOMICS, FLOAT_OPS, PE_COUNT, WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.cu.control_word import Width
from fgpu.interfaces.memory_bus import AtomicOp

from ..cache.bench import updated
from ..core.test_collisions import Wrong
from ..streams import simulate
from ..tiers import quick
from .test_memory_controller import COMMIT_TO_ACCESS, Access, Bench, random_access

FULL = (1 << WAVEFRONT_SIZE) - 1


@dataclass
class LocalAccess(Access):
    """The same in local memory, where addresses count from a row."""

    base: int = 0


class LocalBench(Bench):
    """Issues accesses to both memories as the scheduler does: of each wavefront one load there and one here."""

    def __init__(self, config: Config, rng: random.Random, *, fast: bool = False) -> None:
        super().__init__(config, rng, fast=fast)
        self.local = bytearray(config.local_memory * 1024)
        self.expected: dict[tuple[int, bool], tuple[int, dict[int, int]]] = {}
        self.started = self.finished = self.cycle = 0
        self.phases = self.conflicts = self.others = 0

    def run(self, accesses: list[Access], gap: float = 0.1) -> None:
        respond = [partial(self._respond, part=part) for part in range(self.config.axi_ports)]
        simulate(self.dut, lambda ctx: self._issue(ctx, deque(accesses), gap),
                 background=[self._serve, *respond, self._observe])
        assert self.memory == self.reference
        assert not self.expected

    def _perform(self, access: Access) -> None:
        if not isinstance(access, LocalAccess):
            super()._perform(access)
            if access.load:
                self.loading.pop(access.wavefront)
                self.got.pop(access.wavefront)
            return
        for lane in range(WAVEFRONT_SIZE):
            if access.mask >> lane & 1:
                at = self._place(access, lane) & -(1 << access.width.value)
                word = at & ~3
                if access.atomic is not None:
                    self.local[word:word + 4] = updated(
                        access.atomic, bytes(self.local[word:word + 4]), access.values[lane].to_bytes(4, "little"),
                        access.expected[lane].to_bytes(4, "little"))
                elif not access.load:
                    size = 1 << access.width.value
                    self.local[at:at + size] = (access.values[lane] % (1 << 8 * size)).to_bytes(size, "little")

    def _place(self, access: LocalAccess, lane: int) -> int:
        return (access.addresses[lane] + 32 * access.base) % len(self.local)

    def _words(self, access: Access) -> dict[int, int]:
        """What a load gets, by lane; of atomic operations each sees those of lower lanes."""
        memory, found = bytearray(self.reference), {}
        if isinstance(access, LocalAccess):
            memory = bytearray(self.local)
        for lane in range(WAVEFRONT_SIZE):
            if access.mask >> lane & 1:
                local = isinstance(access, LocalAccess)
                at = (self._place(access, lane) if local else access.addresses[lane] - 0x4000_0000) & ~3
                found[lane] = int.from_bytes(memory[at:at + 4], "little")
                if access.atomic is not None:
                    memory[at:at + 4] = updated(access.atomic, bytes(memory[at:at + 4]),
                                                access.values[lane].to_bytes(4, "little"),
                                                access.expected[lane].to_bytes(4, "little"))
        return found

    async def _issue(self, ctx, accesses: deque[Access], gap: float) -> None:
        dut = self.dut
        phases: dict[int, tuple[Access, int]] = {}
        busy_slots, cycle = 0, 0
        while ctx.get(dut.clear):
            await ctx.tick()
        while accesses or phases or self.expected or not ctx.get(dut.idle) or cycle < 3:
            ctx.set(dut.beat, cycle % 4)
            ctx.set(dut.reserve, 0)
            ctx.set(dut.local_reserve, 0)
            if self.config.float_ops:
                ctx.set(dut.float_next, self.rng.getrandbits(1))
            if cycle % 4 == 3:
                if busy_slots:
                    busy_slots -= 1
                elif self.rng.random() >= gap:
                    access = next((each for each in accesses if self._can(ctx, each)), None)
                    if access is not None:
                        accesses.remove(access)
                        busy_slots = self._begin(ctx, access, phases, cycle)
            access, phase = phases.pop(cycle, (None, 0))
            local = isinstance(access, LocalAccess)
            ctx.set(dut.access_valid, access is not None and not local)
            ctx.set(dut.local_valid, local)
            if access is not None:
                ctx.set(dut.local if local else dut.access, self._phase(access, phase))
            await ctx.tick()
            cycle += 1
            self.cycle = cycle

    def _can(self, ctx, access: Access) -> bool:
        local = isinstance(access, LocalAccess)
        return bool(ctx.get(self.dut.local_ready if local else self.dut.ready)) \
            and (access.wavefront, local) not in self.expected

    def _begin(self, ctx, access: Access, phases: dict, cycle: int) -> int:
        local = isinstance(access, LocalAccess)
        if access.load:
            key = access.wavefront, local
            self.expected[key] = access.rd, self._words(access) if access.rd else {}
            self.got[key] = {}
        self._perform(access)
        ctx.set(self.dut.local_reserve if local else self.dut.reserve, len(access.phases))
        for at, phase in enumerate(access.phases):
            phases[cycle + COMMIT_TO_ACCESS + at] = access, phase
        self.started = self.started or cycle + COMMIT_TO_ACCESS
        return len(access.phases) // 4 - 1

    def _phase(self, access: Access, phase: int) -> dict:
        made = super()._phase(access, phase)
        if isinstance(access, LocalAccess):
            lanes = slice(PE_COUNT * phase, PE_COUNT * (phase + 1))
            rows = len(self.local) // 32
            made |= {
                "atomic": access.atomic is not None, "operation": access.atomic or AtomicOp.ADD, "base": access.base,
                "expected": access.expected[lanes],
                "addresses": [{"byte": at & 3, "bank": at >> 2 & 7, "row": (at >> 5) % rows}
                              for at in access.addresses[lanes]],
            }
        return made

    async def _observe(self, ctx) -> None:
        dut = self.dut
        floats = False
        while True:
            *_, beat, load, clear, done, wavefront, local, float_next = await ctx.tick().sample(
                dut.beat, dut.load, dut.clear, dut.done, dut.done_wavefront, dut.done_local,
                dut.float_next if self.config.float_ops else Const(0))
            if self.config.statistics:
                self.phases += ctx.get(dut.local_probe.phase)
                self.conflicts += ctx.get(dut.local_probe.conflict)
            if load.lanes and not clear:
                assert load.phase % 4 != (beat + 2) % 4, "the vector writes this bank now"
                assert not (floats and load.phase % 4 == (beat + 1) % 4), "a floating-point unit writes this bank now"
                key = load.wavefront, load.register > 15
                assert load.register == self.expected[key][0] != 0
                for lane in range(PE_COUNT):
                    if load.lanes >> lane & 1:
                        word = load.halves[0][lane] | load.halves[1][lane]
                        assert self.got[key].setdefault(PE_COUNT * load.phase + lane, word) == word
            floats = float_next
            if done:
                rd, expected = self.expected.pop((wavefront, bool(local)))
                assert not rd or (rd > 15) == bool(local)
                assert self.got.pop((wavefront, bool(local))) == expected
                self.finished = self.cycle


def local_access(rng: random.Random, config: Config) -> LocalAccess:
    """Any pattern: in few rows, so that accesses meet."""
    access = random_access(rng, config.replace(atomics=ATOMICS, sub_integer_stores=True))
    span = rng.choice([16, 64, 256, 1024, config.local_memory * 1024])
    start = rng.choice([0, rng.randrange(config.local_memory * 1024)])
    addresses = [(start + (at - access.addresses[0]) % span) % (1 << 32) for at in access.addresses]
    return LocalAccess(access.load, access.wavefront, access.mask, access.rd and 16 + access.rd % 16, access.width,
                       addresses, access.values, access.atomic, access.expected,
                       rng.choice([0, 1, rng.randrange(config.local_memory * 32)]))


def all_words(config: Config) -> list[LocalAccess]:
    """Loads of all that there is."""
    return [LocalAccess(True, number % WAVEFRONTS, FULL, 31, Width.WORD,
                        [256 * number + 4 * lane for lane in range(64)], [0] * 64)
            for number in range(config.local_memory * 4)]


TINY = Config.preset("tiny", local_memory=8)
CONFIGS = {
    "tiny": TINY,
    "default": Config(local_memory=16, statistics=True),
    "floats and ports": Config(local_memory=8, axi_ports=2, cache_banks=2, float_ops=FLOAT_OPS, atomics=ATOMICS),
    "64 KiB": Config(local_memory=64, sub_integer_stores=False),
}


@pytest.mark.parametrize("name", quick(CONFIGS, ["tiny"]))
@pytest.mark.parametrize("seed", [
    0, pytest.param(1, marks=pytest.mark.ci),
    *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 8))])
def test_random_accesses(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read in a cycle in which it is written is wrong, and must not matter."""
    monkeypatch.setattr("fgpu.cu.local_banks.BlockRam", Wrong)
    print(f"seed {seed}")
    config, rng = CONFIGS[name], random.Random(seed)
    bench = LocalBench(config, rng)
    accesses: list[Access] = []
    for _ in range(60):
        access: Access = local_access(rng, config)
        if rng.random() < 0.2:
            access = random_access(rng, config)
            access.rd %= 16
        accesses.append(access)
    bench.run([*accesses, *all_words(config)[:32]], gap=rng.choice([0.0, 0.2, 0.8]))


def cycles(accesses: list[LocalAccess], config: Config = TINY.replace(statistics=True)) -> tuple[int, int, int]:
    """Cycles from the first phase until the last word is written; phases and conflicts that were counted."""
    bench = LocalBench(config, random.Random(1), fast=True)
    bench.run(list(accesses), gap=0.0)
    return bench.finished - bench.started, bench.phases, bench.conflicts


def loads(offsets: list[int], count: int = 8, *, load: bool = True) -> list[LocalAccess]:
    return [LocalAccess(load, number % WAVEFRONTS, FULL, 31, Width.WORD, offsets, [0] * 64)
            for number in range(count)]


@pytest.mark.parametrize(("stride", "words"), [
    (1, 1), (4, 4), *(pytest.param(stride, words, marks=pytest.mark.ci)
                      for stride, words in ((2, 2), (3, 1), (5, 1), (7, 1), (8, 8), (9, 1), (0, 1)))])
def test_conflicts_take_a_cycle_each(stride: int, words: int) -> None:
    """Lanes at a distance of so many words: 64 phases take as many cycles as a bank has words of each.

    The last of four or eight meets the vector's write of registers and waits a cycle; that of two does now and then.
    """
    took, phases, conflicts = cycles(loads([4 * stride * lane for lane in range(64)]))
    assert phases == 64
    assert conflicts == 64 * (words - 1)
    waits = {2: 16, 4: 64, 8: 64}.get(words, 0)
    assert 64 * words <= took <= 64 * words + 12 + waits
