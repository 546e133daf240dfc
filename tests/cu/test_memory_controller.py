"""The memory controller between random wavefront instructions and a model of the cache."""

import random
from collections import deque
from dataclasses import dataclass, field
from functools import partial

import pytest

from fgpu.config import ATOMICS, BANK_WORDS, PE_COUNT, PHASES, WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.cu.control_word import Width
from fgpu.cu.memory_controller import MemoryController
from fgpu.interfaces.line_map import LineMap
from fgpu.interfaces.memory_bus import AtomicOp, MemoryOp, rows_under_way

from ..cache.bench import updated
from ..streams import random_waits, simulate, stream_get
from ..tiers import quick

COMMIT_TO_ACCESS = 10
"""Cycles from an instruction's commitment until its first phase leaves the vector."""
BASE = 0x4000_0000
SPAN = 4096
"""The lower half has a part for each wavefront, the upper half nobody writes: stores pass loads of others."""


@dataclass
class Access:
    """A load or store of a wavefront, or an atomic operation, which is a load too."""

    load: bool
    wavefront: int
    mask: int
    rd: int
    width: Width
    addresses: list[int]
    values: list[int]
    atomic: AtomicOp | None = None
    expected: list[int] = field(default_factory=lambda: [0] * WAVEFRONT_SIZE)

    @property
    def phases(self) -> range:
        return range(0 if self.mask & 0xFFFF_FFFF else 4, PHASES if self.mask >> 32 else 4)


@dataclass
class Traffic:
    """Requests that reached the cache."""

    reads: list[int] = field(default_factory=list)      # rows of each
    writes: list[int] = field(default_factory=list)     # strobe of each
    atomics: list[int] = field(default_factory=list)    # strobe of each


class Bench:
    """Issues accesses as the scheduler and the vector do; serves requests in order, after random waits."""

    def __init__(self, config: Config, rng: random.Random, *, fast: bool = False) -> None:
        self.config, self.rng = config, rng
        self.dut = MemoryController(config)
        self.lines = LineMap(config)
        self.reference = bytearray(rng.randbytes(SPAN))     # changes at issue
        self.memory = bytearray(self.reference)             # changes at the cache
        self.traffic = Traffic()
        self.loading: dict[int, tuple[int, dict[int, int]]] = {}    # wavefront: rd, expected word of each lane
        self.got: dict[int, dict[int, int]] = {}
        self.responses: list[deque[bytes]] = [deque() for _ in range(config.slices)]
        self.request_wait = (lambda: 0) if fast else random_waits(rng)
        self.response_wait = (lambda: 0) if fast else random_waits(rng)
        self.quiet = 0      # cycles since the last instruction

    def run(self, accesses: list[Access], gap: float = 0.1) -> None:
        respond = [partial(self._respond, part=part) for part in range(self.config.slices)]
        simulate(self.dut, lambda ctx: self._issue(ctx, deque(accesses), gap),
                 background=[self._serve, *respond, self._observe])
        assert self.memory == self.reference
        assert not self.loading
        assert not any(self.responses)

    def _perform(self, access: Access) -> None:
        """The access's meaning."""
        expected = {}
        for lane in range(WAVEFRONT_SIZE):
            if access.mask >> lane & 1:
                at = access.addresses[lane] - BASE
                if access.load:
                    at &= ~3
                    expected[lane] = int.from_bytes(self.reference[at:at + 4], "little")
                if access.atomic is not None:
                    self.reference[at:at + 4] = updated(access.atomic, bytes(self.reference[at:at + 4]),
                                                        _bytes(access.values[lane]), _bytes(access.expected[lane]))
                elif not access.load:
                    size = 1 << access.width.value
                    at &= -size
                    self.reference[at:at + size] = (access.values[lane] % (1 << 8 * size)).to_bytes(size, "little")
        if access.load:
            self.loading[access.wavefront] = access.rd, expected
            self.got[access.wavefront] = {}

    async def _issue(self, ctx, accesses: deque[Access], gap: float) -> None:
        dut = self.dut
        phases: dict[int, dict] = {}
        busy_slots, cycle = 0, 0
        while ctx.get(dut.clear):
            await ctx.tick()
        while accesses or phases or self.loading or not ctx.get(dut.idle) or cycle < 3:
            ctx.set(dut.beat, cycle % 4)
            ctx.set(dut.reserve, 0)
            if cycle % 4 == 3:
                ready = [each for each in accesses if each.wavefront not in self.loading]
                if busy_slots:
                    busy_slots -= 1
                elif ready and ctx.get(dut.ready) and self.rng.random() >= gap:
                    access = self._first(accesses, ready[0])
                    self._perform(access)
                    self.quiet = 0
                    ctx.set(dut.reserve, len(access.phases))
                    busy_slots = len(access.phases) // 4 - 1
                    for at, phase in enumerate(access.phases):
                        phases[cycle + COMMIT_TO_ACCESS + at] = self._phase(access, phase)
            access_now = phases.pop(cycle, None)
            ctx.set(dut.access_valid, access_now is not None)
            if access_now is not None:
                ctx.set(dut.access, access_now)
            await ctx.tick()
            cycle += 1
            self.quiet += 1

    @staticmethod
    def _first(accesses: deque[Access], access: Access) -> Access:
        accesses.remove(access)
        return access

    def _phase(self, access: Access, phase: int) -> dict:
        lanes = slice(PE_COUNT * phase, PE_COUNT * (phase + 1))
        more: dict = {}
        if self.config.atomics:
            more = {"atomic": access.atomic is not None, "operation": access.atomic or AtomicOp.ADD}
        if "cmpxchg" in self.config.atomics and access.atomic is not None:
            more["expected"] = access.expected[lanes]
        return {**more, "load": access.load, "width": access.width, "wavefront": access.wavefront, "phase": phase,
                "rd": access.rd, "last": phase == access.phases[-1], "lanes": access.mask >> PE_COUNT * phase & 0xFF,
                "addresses": access.addresses[lanes], "store_data": access.values[lanes]}

    async def _serve(self, ctx) -> None:
        while True:
            request = await stream_get(ctx, self.dut.requests, self.request_wait())
            row_bytes = 4 * self.config.row_words
            responses = self.responses[request.slice]
            line = (self.lines.line(request.slice, request.line) << self.config.line_offset_bits) - BASE
            assert request.rows
            for row in range(self.config.line_rows):
                at = line + row * row_bytes
                if not request.rows >> row & 1:
                    continue
                if request.op == MemoryOp.READ:
                    responses.append(bytes(self.memory[at:at + row_bytes]))
                elif request.op == MemoryOp.ATOMIC:
                    assert request.rows == 1 << row
                    responses.append(self._operate(request, at) + self.rng.randbytes(row_bytes - 4))
                else:
                    assert request.rows == 1 << row
                    data = request.row.as_bits().to_bytes(row_bytes, "little")
                    for byte in range(row_bytes):
                        if request.strobe >> byte & 1:
                            self.memory[at + byte] = data[byte]
            if request.op == MemoryOp.READ:
                self.traffic.reads.append(request.rows)
            elif request.op == MemoryOp.ATOMIC:
                self.traffic.atomics.append(request.strobe)
            else:
                self.traffic.writes.append(request.strobe)

    def _operate(self, request, at: int) -> bytes:
        number = [0xF << 4 * word for word in range(self.config.row_words)].index(request.strobe)
        at += 4 * number
        old, operation = bytes(self.memory[at:at + 4]), AtomicOp(request.operation)
        expected = _bytes(request.row[1]) if operation is AtomicOp.CMPXCHG else b""
        self.memory[at:at + 4] = updated(operation, old, _bytes(request.row[0]), expected)
        return old

    async def _respond(self, ctx, part: int) -> None:
        """Rows are begun where there is room, and come as late as they may."""
        responses, port = self.responses[part], self.dut.responses[part]
        begun: deque[bytes | None] = deque([None] * (rows_under_way(self.config) - 2))
        wait = 0
        while True:
            begins = bool(responses) and not wait and ctx.get(port.room)
            begun.append(responses.popleft() if begins else None)
            wait = self.response_wait() if begins else max(0, wait - bool(responses))
            row = begun.popleft()
            ctx.set(port.valid, row is not None)
            if row is not None:
                ctx.set(port.payload, [int.from_bytes(row[at:at + 4], "little") for at in range(0, len(row), 4)])
            await ctx.tick()

    async def _observe(self, ctx) -> None:
        dut = self.dut
        while True:
            *_, beat, load, clear, done, wavefront, idle = await ctx.tick().sample(
                dut.beat, dut.load, dut.clear, dut.done, dut.done_wavefront, dut.idle)
            if load.lanes and not clear:
                assert load.phase % 4 != (beat + 2) % 4, "the vector writes this bank now"
                rd, _ = self.loading[load.wavefront]
                assert load.register == rd != 0
                for lane in range(PE_COUNT):
                    if load.lanes >> lane & 1:
                        word = load.halves[0][lane] | load.halves[1][lane]
                        assert self.got[load.wavefront].setdefault(PE_COUNT * load.phase + lane, word) == word
            if done:
                rd, expected = self.loading.pop(wavefront)
                assert self.got.pop(wavefront) == (expected if rd else {})
            if idle and self.quiet > 2:     # it tells of the cycle before
                assert self.memory == self.reference, "idle, but a store is under way"
                assert not any(self.responses)


def _bytes(word: int) -> bytes:
    return word.to_bytes(4, "little")


def test_registers_are_cleared_after_a_reset() -> None:
    """Each place of a bank once, with zeros."""
    dut = MemoryController(Config.preset("tiny"))

    async def testbench(ctx) -> None:
        places = []
        while ctx.get(dut.clear):
            load = ctx.get(dut.load)
            assert load.lanes == (1 << PE_COUNT) - 1
            assert not any(word for half in load.halves for word in half)
            places.append((load.wavefront << 1 | load.phase >> 2) << 5 | load.register)
            await ctx.tick()
        assert places == list(range(BANK_WORDS))
        assert not ctx.get(dut.load.lanes)

    simulate(dut, testbench)


def random_access(rng: random.Random, config: Config) -> Access:
    """Any pattern of addresses."""
    full = (1 << 64) - 1
    mask = rng.choice([full, full, rng.getrandbits(64), rng.getrandbits(32), rng.getrandbits(32) << 32,
                       1 << rng.randrange(64), rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64)]) or 1
    start = rng.randrange(SPAN // 2)
    span = rng.choice([SPAN, SPAN, 32])     # now and then all in one row, again and again
    stride = rng.choice([0, 1, 2, 4, 4, 4, 8, 12, 32])
    offsets = [start + lane * stride for lane in range(64)]
    way = rng.random()
    if way < 0.2:
        rng.shuffle(offsets)
    elif way < 0.4:
        offsets = [rng.randrange(SPAN) for _ in range(64)]
    elif way < 0.5:
        offsets.reverse()
    widths = list(Width) if config.sub_integer_stores else [Width.WORD]
    access = Access(rng.random() < 0.5, rng.randrange(WAVEFRONTS), mask, rng.choice([0, *range(1, 32)]),
                    rng.choice(widths), [], [rng.getrandbits(32) for _ in range(64)])
    if config.atomics and rng.random() < 0.5:
        access.load, access.width = True, Width.WORD
        access.atomic = rng.choice([each for each in AtomicOp if each.name.lower() in config.atomics])
        access.values = [rng.choice([lane & 3, rng.getrandbits(32)]) for lane in range(64)]
        access.expected = [rng.choice([lane & 3, 0]) for lane in range(64)]
    first, size = access.wavefront * SPAN // 16, SPAN // 16
    if access.load and access.atomic is None and rng.random() < 0.5:
        first, size = SPAN // 2, SPAN // 2
    access.addresses = [BASE + first + each % min(span, size) for each in offsets]
    return access


CONFIGS = {
    "8 banks": Config(),
    "1 bank": Config(cache_banks=1, cu_stations=16, cache_line=64),
    "4 banks": Config(cache_banks=4, cu_stations=24),
    "2 banks": Config(cache_banks=2, cache_line=64, sub_integer_stores=False, cu_stations=16),
    "atomics": Config(atomics=ATOMICS),
    "atomics, 1 bank": Config(cache_banks=1, cu_stations=16, cache_line=64, atomics=frozenset({"add", "min"})),
    "atomics, 2 banks": Config(cache_banks=2, sub_integer_stores=False, atomics=ATOMICS),
    "4 ports": Config(axi_ports=4, cache_banks=4, atomics=frozenset({"add"})),
}


@pytest.mark.parametrize("name", quick(CONFIGS, ["atomics, 1 bank"]))
@pytest.mark.parametrize("run", [0, *(pytest.param(run, marks=pytest.mark.long) for run in range(1, 4))])
def test_random_accesses(name: str, run: int) -> None:
    config, rng = CONFIGS[name], random.Random(run)
    bench = Bench(config, rng)
    bench.run([random_access(rng, config) for _ in range(40)], gap=rng.choice([0.0, 0.2, 0.8]))


def linear(load: bool, addresses: list[int], wavefront: int = 0) -> Access:
    return Access(load, wavefront, (1 << 64) - 1, 5, Width.WORD, addresses, list(range(64)))


@pytest.mark.parametrize(("load", "stride", "reads", "writes"), [
    (True, 4, [0b1111, 0b1111], 0),      # two whole lines
    pytest.param(True, 0, [0b0001], 0, marks=pytest.mark.ci),              # one word for all
    pytest.param(True, 32, [0b1111] * 16, 0, marks=pytest.mark.ci),        # a row for each
    pytest.param(True, 64, [0b0101] * 32, 0, marks=pytest.mark.ci),        # every other row
    (False, 4, [], 8),                   # a row for each phase
    pytest.param(False, 0, [], 8, marks=pytest.mark.ci),
    pytest.param(False, 32, [], 64, marks=pytest.mark.ci),
])
def test_coalescing(load: bool, stride: int, reads: list[int], writes: int) -> None:
    """Requests for a whole wavefront, with 8 banks and lines of 128 bytes."""
    bench = Bench(Config(), random.Random(1), fast=True)
    bench.reference = bytearray(64 * 64)
    bench.memory = bytearray(64 * 64)
    bench.run([linear(load, [BASE + stride * lane for lane in range(64)])])
    assert bench.traffic.reads == reads
    assert len(bench.traffic.writes) == writes


def test_the_highest_lane_wins() -> None:
    bench = Bench(Config(), random.Random(1), fast=True)
    bench.run([linear(False, [BASE + 4 * (lane % 3) for lane in range(64)])])
    assert [bench.memory[4 * word] for word in range(3)] == [63, 61, 62]


def test_each_work_item_operates_by_itself() -> None:
    """In the order of the work-items, although several want the same word."""
    bench = Bench(Config(atomics=ATOMICS), random.Random(1), fast=True)
    access = linear(True, [BASE + 4 * (lane % 3) for lane in range(64)])
    access.atomic = AtomicOp.XCHG
    bench.run([access])
    assert bench.traffic.atomics == [0xF << 4 * (lane % 3) for lane in range(64)]
    assert not bench.traffic.reads
    assert not bench.traffic.writes
