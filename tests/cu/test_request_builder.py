"""The request builder alone: what it asks the cache for, and in which order, while the cache accepts little."""

import random
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import pytest

from fgpu.config import Config
from fgpu.cu.request_builder import RequestBuilder
from fgpu.interfaces.line_map import LineMap
from fgpu.interfaces.memory_bus import AtomicOp, MemoryOp

from ..streams import simulate

CONFIG = Config(compute_units=2, axi_ports=2, cache_banks=2, cache_line=64, atomics=frozenset({"add"}))
Weights = tuple[int, int, int]
"""Of loads, stores and atomic operations."""
_MIXED, _LOADS = (6, 1, 2), (1, 0, 0)
_LANES = {MemoryOp.READ: [0xFF, 0x18, 1, 0x80, 0x10, 2], MemoryOp.WRITE: [1], MemoryOp.ATOMIC: [1]}


@dataclass(eq=False)
class Access:
    """A row access, and what the coalescer says of the one before it."""

    op: MemoryOp
    line: int
    row: int
    last: bool
    lanes: int
    new_row: bool = True
    ascends: bool = False
    shared: bool = False
    """Whether its row is for several work-items, or later accesses to the row are."""

    @property
    def asks(self) -> bool:
        """Whether the cache answers it with a row of its own."""
        return self.op is MemoryOp.ATOMIC or (self.op is MemoryOp.READ and self.new_row)


def instruction(rng: random.Random, lines: list[int], weights: Weights) -> list[Access]:
    """All accesses of a load, of a store, or of an atomic operation."""
    (op,), count = rng.choices([*MemoryOp], weights), rng.choice([1, 2, 8])
    lines = rng.sample(lines, rng.choice([1, 1, 2]))
    places = [(rng.choice(lines), rng.randrange(CONFIG.line_rows)) for _ in range(count)]
    if rng.random() < 0.5:
        places.sort()
    accesses = [Access(op, *place, number == count - 1, rng.choice(_LANES[op]))
                for number, place in enumerate(places)]
    return accesses


def instructions(rng: random.Random, count: int, weights: Weights) -> list[Access]:
    """Accesses of several, with what the coalescer says: of lines and rows across instructions, too."""
    lines = rng.sample(range(256), 2)
    groups = [instruction(rng, lines, weights) for _ in range(count)]
    accesses = [access for group in groups for access in group]
    for before, access in pairwise(accesses):
        access.new_row = (before.last or access.op is MemoryOp.ATOMIC
                          or (before.line, before.row) != (access.line, access.row))
        access.ascends = before.line == access.line and before.row < access.row
    shared = False
    for access in reversed(accesses):
        access.shared = access.lanes.bit_count() > 1 or shared
        shared = access.shared and not access.new_row
    return accesses


class Bench:
    """Checks requests and stations in each cycle.

    Rows that the cache answers are asked for in the order of the accesses, and so are writes; no access passes a
    write that came before it, and no atomic operation a load. Stations find no more room once the rows of ``room`` of
    them are still to be asked for.
    """

    def __init__(self, accesses: list[Access], rng: random.Random, room: int) -> None:
        self.accesses, self.rng, self.room = accesses, rng, room
        self.dut = RequestBuilder(CONFIG)
        self.lines = LineMap(CONFIG)
        self.owed: deque[Access] = deque()      # rows to read and to write that were not asked for yet
        self.stations = deque(access for access in accesses if access.op is not MemoryOp.WRITE)
        self.unanswered = 0                     # stations whose row was not asked for yet
        self.most = 0                           # loads that waited at once
        self.came = self.foreseen = 0           # requests that followed another or none, and whose slice was told
        self.scattered = 0                      # requests

    def run(self) -> None:
        simulate(self.dut, self._offer, background=[self._watch], limit=5000)
        assert not self.owed
        assert not self.stations

    async def _offer(self, ctx) -> None:
        dut = self.dut
        for number, access in enumerate(self.accesses):
            while self.rng.random() < 0.2:
                await ctx.tick()
            ctx.set(dut.accesses.payload, {
                "load": access.op is not MemoryOp.WRITE, "atomic": access.op is MemoryOp.ATOMIC,
                "operation": AtomicOp.ADD, "new_row": access.new_row, "ascends": access.ascends,
                "line": access.line, "row_index": access.row,
                "wavefront": number % 8, "phase": number // 8 % 8, "rd": 1 + number % 31, "last": access.last,
                "lanes": access.lanes, "words": [0] * 8, "writes": [0xF] + [0] * 7,
            })
            ctx.set(dut.accesses.valid, 1)
            while not (await ctx.tick().sample(dut.accesses.ready))[-1]:
                pass
            ctx.set(dut.accesses.valid, 0)
            if access.asks or access.op is MemoryOp.WRITE:
                self.owed.append(access)
                self.most = max(self.most, sum(each.op is MemoryOp.READ for each in self.owed))
        for _ in range(2000):
            await ctx.tick()
            if not self.owed and ctx.get(dut.idle):
                return

    async def _watch(self, ctx) -> None:
        dut, chance = self.dut, 1.0
        likely = 0          # of a request that is new in this cycle
        while True:
            if self.rng.random() < 0.02:
                chance = self.rng.choice([0.01, 0.3, 1.0])
            ctx.set(dut.requests.ready, self.rng.random() < chance)
            ctx.set(dut.stations.ready, self.unanswered < self.room)
            *_, next_slice, asks, accepted, request, waits, room, station = await ctx.tick().sample(
                dut.next_slice, dut.requests.valid, dut.requests.ready, dut.requests.payload,
                dut.stations.valid, dut.stations.ready, dut.stations.payload)
            if waits and room:
                access = self.stations.popleft()
                assert bool(station.new_row) == access.asks
                assert station.slice == self.lines.slice(access.line)
                assert bool(station.last) == access.last
                self.unanswered += access.asks
            if asks and accepted:
                self._check(request)
            if asks and likely is not None:
                self.came += 1
                self.foreseen += likely == 1 << request.slice
            likely = None if asks and not accepted else next_slice

    def _check(self, request) -> None:
        op, line = MemoryOp(request.op), self.lines.line(request.slice, request.line)
        asked = []
        for row in range(CONFIG.line_rows):
            if not request.rows >> row & 1:
                continue
            # A write may pass the loads before it, all else leaves in order.
            access = next(each for each in self.owed if op is not MemoryOp.WRITE or each.op is not MemoryOp.READ)
            assert (op, line, row) == (access.op, access.line, access.row)
            self.owed.remove(access)
            asked.append(access)
            self.unanswered -= op is not MemoryOp.WRITE
        if op is MemoryOp.READ and request.scattered:
            assert all(access.lanes.bit_count() == 1 for access in asked)
            self.scattered += 1
        elif op is MemoryOp.READ:
            assert any(access.shared for access in asked)


@pytest.mark.parametrize(("weights", "waiting"), [(_MIXED, 6), (_LOADS, 30)])
def test_what_is_answered_keeps_its_order(weights: Weights, waiting: int) -> None:
    """Of loads alone more wait than the queue takes."""
    rng = random.Random(1)
    bench = Bench(instructions(rng, 60, weights), rng, room=64)
    bench.run()
    assert bench.most > waiting
    assert bench.scattered > 10


def test_a_request_does_not_wait_for_stations() -> None:
    """Else those that are full would wait for its rows."""
    rng = random.Random(1)
    Bench(instructions(rng, 20, _MIXED), rng, room=1).run()


@pytest.mark.parametrize("weights", [_MIXED, _LOADS, (0, 1, 0)])
def test_requests_are_foreseen(weights: Weights) -> None:
    """Who chooses between compute units a cycle before is told of the slice that the next request goes to."""
    rng = random.Random(1)
    bench = Bench(instructions(rng, 60, weights), rng, room=64)
    bench.run()
    assert bench.came > 100
    assert bench.foreseen == bench.came
