"""Cycles that the cache takes, with the memory timing of the reference and with a slow memory."""

import pytest

from fgpu.config import Config

from .bench import Bench, Request
from .memory import Timing

BASE = 0x10000000
"""The inputs and outputs of the reference's kernels are 256 KiB apart, so they alias in the cache."""


def reads(config: Config, lines: int, base: int = BASE) -> list[Request]:
    return [Request(base // config.cache_line + n, (1 << config.line_rows) - 1) for n in range(lines)]


def writes(bench: Bench, line: int) -> list[Request]:
    config = bench.config
    return [Request(line, 1 << row, True, bench.rng.randbytes(bench.row_bytes), (1 << bench.row_bytes) - 1)
            for row in range(config.line_rows)]


def words_per_cycle(config: Config, lines: int, timing: Timing | None = None) -> float:
    """Reading ``lines`` lines that aren't in the cache."""
    result = []

    async def script(bench: Bench) -> None:
        bench.units[0].requests.extend(reads(config, lines))
        result.append(lines * config.line_words / await bench.run())

    Bench(config, timing=timing).simulate(script)
    print(f"{result[0]:.3f} words a cycle")
    return result[0]


def test_read_hits_take_a_cycle_for_each_row() -> None:
    config = Config()

    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        unit.requests.extend(reads(config, 4))
        await bench.run()
        unit.response_at.clear()
        for _ in range(10):
            unit.requests.extend(reads(config, 4))
            unit.requests.extend(Request(BASE // config.cache_line + n % 4, 1 << n % 3) for n in range(20))
        await bench.run()
        assert unit.response_at[-1] - unit.response_at[0] == len(unit.response_at) - 1

    Bench(config).simulate(script)


def test_write_hits_take_a_cycle() -> None:
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for _ in range(20):
            for line in range(4):
                unit.requests.extend(writes(bench, BASE // bench.config.cache_line + line))
        await bench.run()
        # Some cycles for the early write-backs: the lines are complete again and again.
        assert unit.accepted_at[-1] - unit.accepted_at[0] <= 1.05 * len(unit.accepted_at)
        assert await bench.drain() <= 16
        await bench.clean()

    Bench(Config()).simulate(script)


@pytest.mark.ci
def test_reads_and_writes_that_alternate() -> None:
    """Rows written and read at once: one row a cycle, but for a read right after the write of the same row."""
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        line = BASE // bench.config.cache_line
        unit.requests.extend(reads(bench.config, 1))
        await bench.run()
        unit.response_at.clear()
        for _ in range(50):
            unit.requests.extend(writes(bench, line)[:1])
            unit.requests.append(Request(line, 2))
        assert await bench.run() <= 100 + 8

    Bench(Config()).simulate(script)


def test_latency_of_a_hit() -> None:
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for _ in range(2):
            unit.requests.extend(reads(bench.config, 1))
            await bench.run()
            await bench.drain()
        assert unit.response_at[bench.config.line_rows] - unit.valid_at[1] == 5

    Bench(Config()).simulate(script)


def test_latency_of_a_miss() -> None:
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        await bench.drain()
        unit.requests.extend(reads(bench.config, 1))
        await bench.run()
        cycles = [at - unit.valid_at[0] for at in unit.response_at]
        assert cycles == [11, 15, 19, 23]

    Bench(Config()).simulate(script)


@pytest.mark.ci
def test_streaming_misses_keep_the_port_busy() -> None:
    assert words_per_cycle(Config(), 96) > 0.95 * 2
    assert words_per_cycle(Config.preset("reference"), 48) > 0.85 * 2
    assert words_per_cycle(Config(axi_data_width=32), 32) > 0.95
    assert words_per_cycle(Config(cache_banks=1), 32) > 0.9


@pytest.mark.ci
def test_streaming_misses_hide_the_latency_of_memory() -> None:
    assert words_per_cycle(Config(), 96, Timing(read_latency=(30, 30))) > 1.6
    assert words_per_cycle(Config(), 96, Timing(read_latency=(10, 30))) > 1.6


def copy(config: Config, lines: int, timing: Timing | None = None) -> tuple[float, int]:
    """Copies line by line: words a cycle, of reading and writing each, in the second half; and cycles of all."""
    result = []
    cycles = []

    async def script(bench: Bench) -> None:
        source, target = BASE // config.cache_line, (BASE + 0x80000) // config.cache_line
        unit = bench.units[0]
        ahead = 8
        for n in range(lines + ahead):
            if n < lines:
                unit.requests.extend(reads(config, 1, (source + n) * config.cache_line))
            if n >= ahead:
                unit.requests.extend(writes(bench, target + n - ahead))
        await bench.run()
        beats = bench.memory.read_beats
        first, last = unit.response_at[len(unit.response_at) // 2], unit.response_at[-1]
        result.append(config.axi_words * beats / 2 / (last - first))
        cycles.append(last)
        print(f"{result[0]:.3f} words a cycle, {bench.memory.write_bursts} lines written, {last} cycles,",
              f"{await bench.clean()} to clean")

    Bench(config, timing=timing).simulate(script)
    return result[0], cycles[0]


@pytest.mark.ci
def test_copy_keeps_both_channels_busy() -> None:
    assert copy(Config(cache_size=4), 80)[0] > 0.95 * 2
    assert copy(Config(cache_size=4), 80, Timing(read_latency=(30, 30)))[0] > 1.6
    assert copy(Config.preset("reference", cache_size=4), 80)[0] > 1.2


@pytest.mark.ci
def test_many_tag_managers_cost_no_time() -> None:
    """Reads come in order from a memory that serves the lowest id first, however many are on their way."""
    few, many = (copy(Config(tag_managers=number), 64)[1] for number in (4, 16))
    assert many <= 1.02 * few


@pytest.mark.ci
def test_tag_managers_hide_a_memory_far_away() -> None:
    far = Timing(read_latency=(60, 100), write_latency=(60, 100))
    assert copy(Config(tag_managers=8), 96, far)[0] > 1.7


def test_cleaning_a_clean_cache_is_quick() -> None:
    async def script(bench: Bench) -> None:
        assert await bench.clean() <= bench.config.cache_lines // 8 + 4
        bench.units[0].requests.extend(reads(bench.config, 4))
        await bench.run()
        assert await bench.clean() <= bench.config.cache_lines // 8 + 10

    Bench(Config()).simulate(script)


@pytest.mark.ci
def test_cleaning_keeps_the_port_busy() -> None:
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for line in range(64):
            unit.requests.extend(writes(bench, BASE // bench.config.cache_line + line)[:1])
        await bench.run()
        cycles = await bench.clean()
        print(cycles)
        assert cycles <= 64 * bench.config.burst_beats + bench.config.cache_lines // 8 + 30

    Bench(Config()).simulate(script)
