"""Atomic operations in the cache: mixed with plain traffic, under back-pressure, and one a cycle."""

import random

import pytest

from fgpu.config import ATOMICS, Config
from fgpu.interfaces.memory_bus import AtomicOp

from ..seeds import seed_of_test
from ..tiers import quick
from .bench import Bench, Request
from .memory import Timing
from .test_random import random_requests

SMALL = Config(cache_size=4, global_stations=32, tag_managers=4, atomics=ATOMICS)
CONFIGS = {
    "basic": Config(atomics=ATOMICS),
    "1 bank": Config(cache_banks=1, axi_data_width=32, cache_size=4, tag_managers=2, atomics=ATOMICS - {"cmpxchg"}),
    "2 banks": Config(cache_banks=2, cache_size=4, cache_line=64, tag_managers=1, compute_units=2, atomics=ATOMICS),
    "4 CUs": Config(compute_units=4, cache_banks=4, cache_size=4, tag_managers=8, global_stations=32,
                    atomics=ATOMICS),
    "2 ports": Config(compute_units=2, axi_ports=2, cache_size=8, tag_managers=2, atomics=ATOMICS),
    "add": Config(cache_size=4, compute_units=2, atomics=frozenset({"add"})),
    "min, umax": Config(cache_size=4, cache_line=64, atomics=frozenset({"min", "umax"})),
}
CORNERS = (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)


def word(rng: random.Random) -> bytes:
    return rng.choice([rng.choice(CORNERS), rng.getrandbits(32)]).to_bytes(4, "little")


def operation(bench: Bench, line: int, row: int, number: int, kind: AtomicOp | None = None,
              operand: bytes = b"", expected: bytes = b"") -> Request:
    """An atomic operation on word ``number`` of ``row``."""
    rng = bench.rng
    built = [each for each in AtomicOp if each.name.lower() in bench.config.atomics]
    content = (operand or word(rng)) + (expected or word(rng)) + rng.randbytes(bench.row_bytes)
    return Request(line, 1 << row, row=content[:bench.row_bytes], strobe=0xF << 4 * number,
                   atomic=kind or rng.choice(built))


def exchange(bench: Bench, line: int, row: int, number: int) -> list[Request]:
    """An exchange, and soon one that expects what it left."""
    left = word(bench.rng)
    first = operation(bench, line, row, number, AtomicOp.XCHG, left)
    between = [operation(bench, line, row, bench.rng.randrange(bench.config.row_words))
               for _ in range(bench.rng.randrange(3))]
    return [first, *between, operation(bench, line, row, number, AtomicOp.CMPXCHG, expected=left)]


def mixed_requests(bench: Bench, count: int) -> list[Request]:
    """Runs of operations on a few words of the lines that the plain traffic uses too, and on its rows."""
    rng, config = bench.rng, bench.config
    requests: list[Request] = []
    plain = random_requests(bench, count)
    share = rng.choice([0.2, 0.5, 0.9])
    few = [(rng.choice(plain).line, rng.randrange(config.line_rows), rng.randrange(config.row_words))
           for _ in range(rng.choice([1, 3, 10]))]
    while len(requests) < count:
        if rng.random() >= share:
            requests.append(rng.choice(plain))
            continue
        for _ in range(rng.choice([1, 1, 2, 5])):
            line, row, number = rng.choice(few)
            kind = rng.choice(["atomic"] * 4 + ["exchange", "read", "write"])
            if kind == "read":
                requests.append(Request(line, 1 << row))
            elif kind == "write":
                requests.append(Request(line, 1 << row, True, rng.randbytes(bench.row_bytes),
                                        rng.choice([0xF << 4 * number, rng.getrandbits(bench.row_bytes)])))
            elif kind == "exchange" and "cmpxchg" in config.atomics:
                requests.extend(exchange(bench, line, row, number))
            else:
                requests.append(operation(bench, line, row, number))
    return requests


@pytest.mark.parametrize("name", quick(CONFIGS, ["2 banks"]))
def test_random_traffic(name: str) -> None:
    async def script(bench: Bench) -> None:
        for _ in range(2):
            bench.memory.timing = Timing.random(bench.rng)
            for unit in bench.units:
                unit.request_chance = bench.rng.choice([0.2, 0.7, 1.0])
                unit.ready_chance = bench.rng.choice([0.1, 0.3, 0.9, 1.0])
                unit.requests.extend(mixed_requests(bench, 120 // len(bench.units)))
            await bench.run()
            if bench.rng.random() < 0.7:
                await bench.clean()
        await bench.clean()

    Bench(CONFIGS[name], seed=seed_of_test()).simulate(script)


@pytest.mark.parametrize("units", quick([1, 4], [1]))
@pytest.mark.parametrize("words", [1, 2, 8])
def test_an_operation_a_cycle(units: int, words: int) -> None:
    """On one word, and on several in turn; of one compute unit or of several."""
    async def script(bench: Bench) -> None:
        def add(number: int) -> Request:
            return operation(bench, 5, number % words % 2, number % words, AtomicOp.ADD)

        bench.units[0].requests.append(add(0))
        await bench.run()
        for unit in bench.units:
            unit.response_at.clear()
            unit.requests.extend(add(number) for number in range(100))
        await bench.run()
        times = sorted(at for unit in bench.units for at in unit.response_at)
        assert times[-1] - times[0] == len(times) - 1
        await bench.clean()

    Bench(SMALL.replace(compute_units=units)).simulate(script)


def test_latency_of_an_operation() -> None:
    """One cycle more than a read."""
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for _ in range(2):
            unit.requests.append(operation(bench, 5, 1, 1))
            await bench.run()
            await bench.drain()
        assert unit.response_at[1] - unit.valid_at[1] == 6

    Bench(SMALL).simulate(script)


@pytest.mark.ci
def test_plain_traffic_between_operations_costs_little() -> None:
    """A read behind an operation loses one cycle to it."""
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        unit.requests.append(Request(5, 0xF))
        await bench.run()
        for number in range(60):
            unit.requests.append(operation(bench, 5, 1, number % 8))
            unit.requests.append(Request(5, 1))
        assert await bench.run() <= 60 * 3 + 10

    Bench(SMALL).simulate(script)


def test_operations_that_miss_are_written_back() -> None:
    """Every operation evicts the line of the one before it, whose new word must reach memory."""
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for number in range(60):
            unit.requests.append(operation(bench, bench.line_of(number % 3, 3), number % 4, number % 8, AtomicOp.ADD))
        await bench.run()
        await bench.drain()
        assert bench.memory.write_bursts == 60 - bench.config.cache_ways
        await bench.clean()
        assert bench.memory.write_bursts == 60

    Bench(SMALL).simulate(script)


def test_a_line_is_evicted_behind_the_operations_on_it() -> None:
    """The compute unit takes no answers for a while, so that the next line is there when it goes on."""
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for turn in range(10):
            unit.ready_chance = 0.0
            unit.requests.extend(operation(bench, bench.line_of(number // 3 % 2, 3), 0, turn % 8, AtomicOp.ADD)
                                 for number in range(9))
            for _ in range(120):
                await bench.step()
            unit.ready_chance = 1.0
            await bench.run()
        await bench.clean()

    Bench(SMALL).simulate(script)


def test_an_operation_merges_with_bytes_written_before() -> None:
    """The line was allocated by a store, so the operation brings in the rest of it."""
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for line in range(20):
            unit.requests.append(Request(line, 2, True, bench.rng.randbytes(bench.row_bytes), 0b0110))
            unit.requests.append(operation(bench, line, 1, line % 2, AtomicOp.ADD))
        await bench.run()
        await bench.clean()

    Bench(SMALL).simulate(script)


def test_no_atomics_no_unit() -> None:
    from amaranth.back import rtlil

    from fgpu.cache.cache import Cache

    assert "data_stage.atomic" not in rtlil.convert(Cache(Config()))
    assert "data_stage.atomic" in rtlil.convert(Cache(SMALL))
