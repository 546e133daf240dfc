"""What the cache promises besides data: reset, errors, idle, cleaning, and what the probe counts."""

import pytest

from fgpu.config import Config

from .bench import Bench, Request
from .memory import Timing
from .test_random import random_requests, rounds

SMALL = Config(cache_size=4, cache_banks=4, cache_ways=1, global_stations=32, tag_managers=4, statistics=True)


def full_row(bench: Bench, line: int, row: int) -> Request:
    return Request(line, 1 << row, True, bench.rng.randbytes(bench.row_bytes), (1 << bench.row_bytes) - 1)


async def settle(bench: Bench, cycles: int = 400) -> None:
    """Time for early write-backs, of which those of incomplete lines have no end that could be waited for."""
    for _ in range(cycles):
        await bench.step()


def test_reset_forgets_dirty_lines() -> None:
    """Memories keep their contents over a reset; neither tags nor dirty bits may survive it."""
    async def script(bench: Bench) -> None:
        for _ in range(3):
            bench.units[0].requests.extend(random_requests(bench, 60))
            for _ in range(bench.rng.randrange(40, 200)):
                await bench.step()
            await bench.reset()
            bench.model.clear()
            assert not bench.idle
            await bench.drain()
            await bench.clean()
            assert not bench.memory.written_bytes, "dirty bytes survived the reset"
            await rounds(bench, 1, 60)

    Bench(SMALL, seed=3).simulate(script)


def test_a_new_cache_scrubs_itself() -> None:
    """A row a cycle; requests are served behind that."""
    async def script(bench: Bench) -> None:
        bench.units[0].requests.append(Request(5, 1))
        await bench.run()
        assert 0 <= bench.units[0].response_at[0] - SMALL.slice_lines * SMALL.line_rows < 16

    Bench(SMALL).simulate(script, wake=False)


@pytest.mark.parametrize("response", [2, 3])
def test_memory_errors_are_reported(response: int) -> None:
    async def script(bench: Bench) -> None:
        bench.units[0].requests.append(Request(5, 1))
        await bench.run()
        assert not bench.errors
        bench.memory.error_response = response
        bench.units[0].requests.append(Request(6, 1))
        await bench.run()
        bench.memory.error_response = 0
        await bench.drain()
        assert bench.errors
        bench.errors = 0
        bench.units[0].requests.append(full_row(bench, 7, 0))
        await bench.run()
        assert not bench.errors
        bench.memory.error_response = response
        await bench.clean()
        await bench.step()
        assert bench.errors == 1

    Bench(SMALL).simulate(script)


def test_cleaning_makes_the_cache_forget() -> None:
    """After cleaning, reads see what the host wrote, of clean lines and of dirty ones."""
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for _ in range(2):
            unit.requests.extend([Request(1, 1), full_row(bench, 2, 0), Request(3, 1), full_row(bench, 3, 0)])
            await bench.run()
            await bench.clean()
            for line in (1, 2, 3):
                bench.model[line][:] = bench.memory.line(line)[:] = bench.rng.randbytes(bench.config.cache_line)
            unit.requests.extend(Request(line, 3) for line in (1, 2, 3))
            await bench.run()

    Bench(SMALL).simulate(script)


def test_clean_during_requests_waits_for_them() -> None:
    async def script(bench: Bench) -> None:
        for _ in range(3):
            bench.units[0].requests.extend(random_requests(bench, 40))
            for _ in range(10):
                await bench.step()
            await bench.clean()
            assert not bench.units[0].requests
            assert not any(bench.units[0].expected)

    Bench(SMALL, seed=1).simulate(script)


def test_not_idle_while_a_write_back_is_unacknowledged() -> None:
    async def script(bench: Bench) -> None:
        bench.units[0].requests.extend([full_row(bench, 3, 0), Request(bench.line_of(1, 3), 1)])
        await bench.run()
        await bench.drain()
        assert bench.memory.write_bursts == 1
        await bench.clean()
        assert bench.memory.write_bursts == 1

    Bench(SMALL, timing=Timing(write_latency=(80, 80))).simulate(script)


def test_one_compute_unit_cannot_starve_another() -> None:
    """Hits of four compute units, served in turn."""
    async def script(bench: Bench) -> None:
        bench.units[0].requests.append(Request(9, 3))
        await bench.run()
        for unit in bench.units:
            unit.accepted_at.clear()
            unit.requests.extend(Request(9, 1) for _ in range(40))
        await bench.run()
        for unit in bench.units:
            assert unit.accepted_at[-1] - unit.accepted_at[0] == 39 * 4

    Bench(SMALL.replace(compute_units=4)).simulate(script)


def test_probe_counts() -> None:
    async def script(bench: Bench) -> None:
        unit, rival = bench.units[0], bench.line_of(1, 1)
        unit.requests.extend([
            Request(1, 1),                  # read miss, fill
            Request(1, 2),                  # read hit, while the line is filled
            full_row(bench, 1, 0),          # write hit, as early
            full_row(bench, 2, 0),          # write miss
            Request(2, 3),                  # read miss: not populated, fill around the row
            Request(rival, 1),              # read miss, fill, eviction
        ])
        await bench.run()
        await bench.drain()
        assert bench.events["read_hit"] == 1
        assert bench.events["read_miss"] == bench.events["fill"] == 3
        assert bench.events["write_hit"] == bench.events["write_miss"] == bench.events["eviction"] == 1
        assert (bench.events["pending_hit"], bench.events["fill_merge"]) == (2, 1)
        unit.requests.append(Request(rival, 2))     # read hit, the line is long there
        await bench.run()
        assert (bench.events["read_hit"], bench.events["pending_hit"]) == (2, 2)
        assert bench.events["axi_read"] == 3 * bench.config.burst_beats
        assert bench.events["axi_write"] == bench.config.row_words // bench.config.axi_words   # only what is dirty
        assert bench.events["data_busy"] == 3 * bench.config.line_rows + 4
        await bench.clean()
        assert bench.events["eviction"] == 2

    Bench(SMALL).simulate(script)


def test_statistics_change_no_timing() -> None:
    cycles = []

    async def script(bench: Bench) -> None:
        bench.units[0].requests.extend(random_requests(bench, 80))
        await bench.run()
        cycles.append(bench.units[0].response_at)

    for statistics in (False, True):
        Bench(SMALL.replace(statistics=statistics), seed=7).simulate(script)
    assert cycles[0] == cycles[1]


def test_output_lines_are_written_back_early() -> None:
    """All but the last eight lines of a stream of output are in memory before the cleaner starts."""
    async def script(bench: Bench) -> None:
        unit, config = bench.units[0], bench.config
        for line in range(20):
            unit.requests.extend(full_row(bench, line, row) for row in range(config.line_rows))
        await bench.run()
        await settle(bench)
        assert bench.memory.write_bursts == 20
        unit.requests.extend(Request(line, 1) for line in range(20))
        await bench.run()
        assert bench.events["read_hit"] == 20
        assert await bench.clean() <= config.cache_lines // 8 + 10
        assert bench.memory.write_bursts == 20

    Bench(SMALL).simulate(script)


def test_incomplete_output_lines_are_written_back_when_younger_ones_came() -> None:
    """All but the last eight lines of a stream of output are in memory before the cleaner starts."""
    async def script(bench: Bench) -> None:
        config = bench.config
        bench.units[0].requests.extend(full_row(bench, line, 0) for line in range(20))
        await bench.run()
        await settle(bench)
        assert bench.memory.write_bursts == 12
        assert await bench.clean() <= 8 * config.burst_beats + config.cache_lines // 8 + 30
        assert bench.memory.write_bursts == 20

    Bench(SMALL).simulate(script)


def test_lines_that_are_written_again_after_an_early_write_back_stay() -> None:
    """The first such line shows that others are not finished either; the next kernel begins without doubts."""
    async def script(bench: Bench) -> None:
        for _ in range(2):
            start = bench.memory.write_bursts
            bench.units[0].requests.extend(full_row(bench, line, 0) for line in range(20))
            await bench.run()
            await settle(bench)
            assert bench.memory.write_bursts - start == 12
            bench.units[0].requests.extend(full_row(bench, line, 1) for line in range(12))
            await bench.run()
            await settle(bench)
            # One was chosen before it was known.
            assert bench.memory.write_bursts - start == 13
            bench.units[0].requests.extend(full_row(bench, 0, row) for row in range(bench.config.line_rows))
            await bench.run()
            await settle(bench)
            assert bench.memory.write_bursts - start == 14, "a complete line goes"
            await bench.clean()

    Bench(SMALL).simulate(script)


def test_lines_that_were_read_and_overwritten_are_written_back_early_once() -> None:
    """A kernel that works in place writes each line back, even though it was filled; one that comes back to its
    lines, as a sort does, writes them back again at its end."""
    async def script(bench: Bench) -> None:
        unit, config = bench.units[0], bench.config
        for bursts in (6, 6, 6):
            for line in range(6):
                unit.requests.append(Request(line, (1 << config.line_rows) - 1))
            for line in range(6):
                unit.requests.extend(full_row(bench, line, row) for row in range(config.line_rows))
            await bench.run()
            await settle(bench, 200)
            assert bench.memory.write_bursts == bursts
        assert bench.memory.read_bursts == 6
        await bench.clean()
        assert bench.memory.write_bursts == 12
        # The next kernel begins anew.
        unit.requests.extend(full_row(bench, line, row) for line in range(6) for row in range(config.line_rows))
        await bench.run()
        await settle(bench, 200)
        assert bench.memory.write_bursts == 18

    Bench(SMALL).simulate(script)


def test_a_write_back_does_not_overtake_an_early_one_of_the_same_line() -> None:
    """A line that is still on its way to memory is written again, and evicted: the memory model checks the order."""
    async def script(bench: Bench) -> None:
        unit, config = bench.units[0], bench.config
        for _ in range(4):
            unit.requests.extend(full_row(bench, 5, row) for row in range(config.line_rows))
            await bench.run()
            for _ in range(20):
                await bench.step()
            unit.requests.extend([full_row(bench, 5, 1), Request(bench.line_of(1, 5), 1)])
            await bench.run()
        await bench.clean()
        assert bench.events["stall_victim"] > 50

    Bench(SMALL, timing=Timing(write_latency=(80, 80))).simulate(script)


def test_lines_that_are_read_again_stay() -> None:
    """Output that the kernel reads again is no output: it is not written back early."""
    async def script(bench: Bench) -> None:
        unit = bench.units[0]
        for line in range(20):
            unit.requests.extend([full_row(bench, line, 0), Request(line, 2)])
        await bench.run()
        await bench.drain()
        assert bench.memory.write_bursts == 0

    Bench(SMALL).simulate(script)
