"""Runs the cache between compute units that send lists of requests and the memory model."""

import random
from collections import deque
from dataclasses import dataclass, field

from amaranth.hdl import ClockDomain, Module, Value
from amaranth.lib import data
from amaranth.sim import Simulator

from fgpu.cache.cache import Cache
from fgpu.cache.probe import CacheProbe
from fgpu.config import Config
from fgpu.interfaces.line_map import LineMap
from fgpu.interfaces.memory_bus import AtomicOp, MemoryOp, rows_under_way

from .memory import AxiMemory, Timing


@dataclass
class Request:
    """A read of the rows in ``rows``, or a write of the one row in ``rows``, or an atomic operation on a word there.

    The word is the one whose bytes ``strobe`` has; ``row`` starts with the operand and the expected word.
    """

    line: int
    rows: int
    write: bool = False
    row: bytes = b""
    strobe: int = 0
    atomic: AtomicOp | None = None


@dataclass
class RowQueue:
    """Where a compute unit keeps the rows of a slice: with room for one more than may be under way."""

    spare: int
    """Rows that may be under way."""
    level: int = 0
    before: int = 0
    """The level a cycle ago."""

    @property
    def room(self) -> bool:
        return self.before <= 1

    def step(self, *, comes: bool, goes: bool) -> None:
        self.before = self.level
        self.level += comes - (goes and self.level > 0)
        assert self.level <= self.spare + 1, "a row that finds no room"


@dataclass
class Unit:
    """A compute unit: its requests, and the rows it must get. It takes one from each queue by ``ready_chance``."""

    requests: deque[Request] = field(default_factory=deque)
    expected: list[deque[tuple[int, int, bytes]]] = field(default_factory=list)
    """Of each slice."""
    request_chance: float = 1.0
    ready_chance: float = 1.0
    withdraw_chance: float = 0.0
    valid: bool = False
    queues: list[RowQueue] = field(default_factory=list)
    rows: int = 0
    accepted_at: list[int] = field(default_factory=list)
    valid_at: list[int] = field(default_factory=list)
    response_at: list[int] = field(default_factory=list)


class Bench:
    """A cache under test. ``script`` functions call ``await bench.run(...)`` and friends.

    The cache serves requests in the order in which it accepts them, so ``model`` (the memory as the compute
    units see it) is updated at acceptance, and tells every row to come. ``places`` and ``tags`` are for random
    traffic.
    """

    def __init__(self, config: Config, *, timing: Timing | None = None, seed: int = 0) -> None:
        print(f"seed {seed}, {config}, {timing}")
        self.config = config
        self.rng = random.Random(seed)
        self.cache = Cache(config)
        self.memories = [AxiMemory(config, axi, timing or Timing(), self.rng, port)
                         for port, axi in enumerate(self.cache.axi)]
        self.memory = self.memories[0]
        for memory in self.memories:
            memory.share(self.memory)
        self.lines = LineMap(config)
        self.units = [Unit(expected=[deque() for _ in range(config.slices)],
                           queues=[RowQueue(rows_under_way(config)) for _ in range(config.slices)])
                      for _ in range(config.compute_units)]
        self.model: dict[int, bytearray] = {}
        self.row_bytes = 4 * config.row_words
        self.places = self.rng.sample(range(config.cache_lines), 12)
        self.tags = self.rng.sample(range(2**32 // config.cache_kib // 1024), 4)
        self.cycle = 0
        self.errors = 0
        self.done = False
        self.idle = False
        self.events: dict[str, int] = {}
        cache = self.cache
        self._watched = [
            *(signal for memory in self.memories for signal in memory.watched),
            cache.clean_done, cache.idle, cache.error,
            *(port.ready for port in cache.requests),
            *(port.valid for ports in cache.responses for port in ports),
            *(Value.cast(port.payload) for ports in cache.responses for port in ports),
            *([Value.cast(cache.probe)] if config.statistics else []),
        ]
        self._probe_names = [name for name, _ in data.Layout.cast(CacheProbe)] if config.statistics else []
        self._axi_inputs = [{name: Value.cast(getattr(axi, name)) for name in self.memory.drive} for axi in cache.axi]
        self._payloads = [Value.cast(port.payload) for port in cache.requests]
        self._driven: dict[int, int] = {}

    # -- test scripts ---------------------------------------------------------------------------

    def simulate(self, script, *, wake: bool = True) -> None:
        """Run a script, once the cache has scrubbed itself if ``wake``."""
        m = Module()
        m.domains.sync = self._domain = ClockDomain()
        m.submodules.cache = self.cache
        simulator = Simulator(m)
        simulator.add_clock(1e-6)

        async def testbench(ctx):
            self._ctx = ctx
            if wake:
                await ctx.tick().repeat(self.scrub_cycles)
            await script(self)

        simulator.add_testbench(testbench)
        simulator.run()

    @property
    def scrub_cycles(self) -> int:
        """Cycles after a reset until a cache is ready, at most."""
        return self.config.slice_lines * self.config.line_rows + 8

    async def run(self, limit: int = 20000) -> int:
        """Until all requests are served; returns the cycles."""
        start = self.cycle
        while any(unit.requests or any(unit.expected) for unit in self.units):
            await self.step()
            assert self.cycle - start < limit, "the cache hangs"
        return self.cycle - start

    async def drain(self, limit: int = 5000) -> int:
        """Until the cache is idle."""
        start = self.cycle
        await self.step()
        while not self.idle:
            await self.step()
            assert self.cycle - start < limit, "the cache does not become idle"
        cycles = self.cycle - start
        while not self.memory_idle:     # early write-backs go on
            await self.step()
            assert self.cycle - start < limit, "memory does not become idle"
        return cycles

    @property
    def memory_idle(self) -> bool:
        return all(memory.idle for memory in self.memories)

    @property
    def write_bursts(self) -> int:
        return sum(memory.write_bursts for memory in self.memories)

    async def clean(self, limit: int = 20000) -> int:
        """Cleans the cache, compares memory with the model, and returns the cycles from start to done."""
        start = self.cycle
        self._set(self.cache.clean_start, 1)
        await self.step()
        self._set(self.cache.clean_start, 0)
        while not self.done:
            await self.step()
            assert self.cycle - start < limit, "the cleaner hangs"
        cycles = self.cycle - start
        assert self.memory_idle, "done before the last write response"
        for line, contents in self.model.items():
            assert self.memory.line(line) == contents, f"line {line:#x}"
        return cycles

    async def reset(self) -> None:
        """Resets cache and memory port."""
        self._set(self._domain.rst, 1)
        for unit in self.units:
            unit.requests.clear()
            for expected in unit.expected:
                expected.clear()
            unit.valid = False
        for memory in self.memories:
            memory.reset()
        self._apply()
        await self._ctx.tick()
        self._set(self._domain.rst, 0)
        for memory in self.memories:
            memory.reset()
        self._apply()

    # -- one cycle ------------------------------------------------------------------------------

    def _set(self, signal, value: int) -> None:
        if self._driven.get(id(signal)) != value:
            self._driven[id(signal)] = value
            self._ctx.set(signal, value)

    def line_of(self, tag: int, place: int) -> int:
        """The line of one of the ``tags`` that lives at one of the ``places``."""
        number, slices = tag * self.config.cache_lines + place, self.config.slices
        return self.lines.line(number % slices, number // slices)

    def model_line(self, line: int) -> bytearray:
        if line not in self.model:
            self.model[line] = bytearray(self.memory.line(line))
        return self.model[line]

    def _apply(self) -> None:
        for memory, inputs in zip(self.memories, self._axi_inputs, strict=True):
            for name, value in memory.drive.items():
                self._set(inputs[name], value)
        for n, unit in enumerate(self.units):
            self._set(self.cache.requests[n].valid, int(unit.valid))
            for port, queue in zip(self.cache.responses[n], unit.queues, strict=True):
                self._set(port.room, int(queue.room))
            if unit.valid:
                self._set(self._payloads[n], self._packed(unit.requests[0]))

    def _packed(self, request: Request) -> int:
        """The bits of a :class:`~fgpu.interfaces.memory_bus.MemoryRequest`, faster than through its layout."""
        bits, at = 0, 0
        op = MemoryOp.ATOMIC if request.atomic else MemoryOp.WRITE if request.write else MemoryOp.READ
        for value, width in ((op.value, 2), (self.lines.slice(request.line), self.config.slice_bits),
                             (self.lines.place(request.line), self.config.line_address_bits),
                             (request.rows, self.config.line_rows),
                             (int.from_bytes(request.row, "little"), 8 * self.row_bytes),
                             (request.strobe, self.row_bytes), (int(request.strobe + 1 == 1 << self.row_bytes), 1),
                             (request.atomic.value if request.atomic else 0, 4)):
            bits |= value << at
            at += width
        return bits

    async def step(self) -> None:
        rng, config = self.rng, self.config
        for unit in self.units:
            if not unit.valid and unit.requests and rng.random() < unit.request_chance:
                unit.valid = True
                unit.valid_at.append(self.cycle)
            elif unit.valid and rng.random() < unit.withdraw_chance:
                self._withdraw(unit)
        self._apply()
        _clk, _rst, *sampled = await self._ctx.tick().sample(*self._watched)
        for memory in self.memories:
            count = len(memory.watched)
            memory.step(tuple(sampled[:count]))
            del sampled[:count]
        done, idle, error, *rest = sampled
        self.errors += error
        self.done, self.idle = bool(done), bool(idle)
        assert not (idle and any(any(unit.expected) for unit in self.units)), "idle, but an answer is due"
        n, ports = config.compute_units, config.slices
        accepted: list[int] = []
        answers = list(zip(rest[n:n + n * ports], rest[n + n * ports:n + 2 * n * ports], strict=True))
        for number, (unit, ready) in enumerate(zip(self.units, rest[:n], strict=True)):
            for part, (valid, payload) in enumerate(answers[number * ports:(number + 1) * ports]):
                unit.queues[part].step(comes=bool(valid), goes=rng.random() < unit.ready_chance)
                if not valid:
                    continue
                assert unit.expected[part], "a response that was not asked for"
                line, row, data = unit.expected[part].popleft()
                got = payload.to_bytes(self.row_bytes, "little")
                if len(data) == 4:
                    got = got[:4]           # an old word
                assert got == data, f"line {line:#x} row {row}: {got.hex()} instead of {data.hex()}"
                unit.response_at.append(self.cycle)
            if ready and unit.valid:
                accepted.append(self.lines.slice(unit.requests[0].line))
                unit.valid = False
                unit.accepted_at.append(self.cycle)
                self._accept(unit, unit.requests.popleft())
        assert len(accepted) == len(set(accepted)), "a slice accepts one request a cycle"
        for index, name in enumerate(self._probe_names):
            events = rest[-1] >> index * ports & (1 << ports) - 1
            self.events[name] = self.events.get(name, 0) + events.bit_count()
        self.cycle += 1

    @staticmethod
    def _withdraw(unit: Unit) -> None:
        """A read that waits gives way to the next write."""
        write = next((request for request in unit.requests if request.write), None)
        if write is not None and not unit.requests[0].atomic:
            unit.requests.remove(write)
            unit.requests.appendleft(write)

    def _accept(self, unit: Unit, request: Request) -> None:
        contents = self.model_line(request.line)
        for row in range(self.config.line_rows):
            if request.rows >> row & 1:
                start = row * self.row_bytes
                if request.atomic:
                    self._operate(unit, request, row, contents)
                elif request.write:
                    for byte in range(self.row_bytes):
                        if request.strobe >> byte & 1:
                            contents[start + byte] = request.row[byte]
                else:
                    answer = (request.line, row, bytes(contents[start:start + self.row_bytes]))
                    unit.expected[self.lines.slice(request.line)].append(answer)

    def _operate(self, unit: Unit, request: Request, row: int, contents: bytearray) -> None:
        assert request.atomic is not None
        start = row * self.row_bytes + (request.strobe & -request.strobe).bit_length() - 1
        old = bytes(contents[start:start + 4])
        operand, expected = request.row[:4], request.row[4:8]
        contents[start:start + 4] = updated(request.atomic, old, operand, expected)
        unit.expected[self.lines.slice(request.line)].append((request.line, row, old))


def updated(operation: AtomicOp, old: bytes, operand: bytes, expected: bytes) -> bytes:
    """The new word."""
    signed = operation in (AtomicOp.MAX, AtomicOp.MIN)
    a, b = (int.from_bytes(word, "little", signed=signed) for word in (old, operand))
    new = {
        AtomicOp.ADD: a + b, AtomicOp.MAX: max(a, b), AtomicOp.MIN: min(a, b), AtomicOp.UMAX: max(a, b),
        AtomicOp.UMIN: min(a, b), AtomicOp.AND: a & b, AtomicOp.OR: a | b, AtomicOp.XOR: a ^ b, AtomicOp.XCHG: b,
        AtomicOp.CMPXCHG: b if old == expected else a,
    }[operation]
    return (new % (1 << 32)).to_bytes(4, "little")
