"""Which lines the early cleaner offers."""

import pytest
from amaranth.sim import Simulator

from fgpu.cache.early_cleaner import EarlyCleaner
from fgpu.config import Config

_TINY = Config.preset("tiny")


def offers(premature_at: int, lines: int, config: Config = _TINY, patience: int = 8) -> list[int]:
    """After how many allocated lines each one is offered, if one was premature after ``premature_at``."""
    dut = EarlyCleaner(config)
    told: list[int] = []

    async def bench(ctx):
        ctx.set(dut.allowed, 1)
        ctx.set(dut.finished.ready, 1)
        for line in range(lines):
            for cycle in range(9):
                ctx.set(dut.written.valid, cycle == 0)
                ctx.set(dut.written.payload, line)
                ctx.set(dut.premature, (cycle == 0) & (line == premature_at))
                offered = ctx.get(dut.finished.valid)
                ctx.set(dut.retired, offered)
                if offered:
                    assert ctx.get(dut.finished.payload) <= line - patience
                    told.append(line)
                await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return told


def test_lines_are_offered_when_eight_younger_ones_came() -> None:
    assert offers(premature_at=-1, lines=20) == list(range(8, 20))


@pytest.mark.parametrize(("units", "slices", "patience"), [(2, 1, 8), (4, 1, 16), (4, 2, 8), (8, 4, 4), (8, 8, 4)])
def test_slices_share_the_patience(units: int, slices: int, patience: int) -> None:
    config = Config(compute_units=units, cache_slices=slices)
    assert offers(-1, 30, config, patience) == list(range(patience, 30))


def test_a_premature_line_stops_that_for_63_lines() -> None:
    told = offers(premature_at=30, lines=110)
    assert set(range(8, 30)) <= set(told)
    assert not set(told) & set(range(32, 92))
    assert {95, 100, 109} <= set(told)


def complete_offers(repeated_at: int, lines: int) -> list[int]:
    """Which lines are offered that are complete as soon as they are allocated, in the turn of each one; if one was
    written again after ``repeated_at``."""
    dut = EarlyCleaner(_TINY)
    others = 1000       # as allocated they have other addresses here, so that nobody takes one for the other
    told: list[int] = []

    async def bench(ctx):
        ctx.set(dut.allowed, 1)
        ctx.set(dut.finished.ready, 1)
        for line in range(lines):
            for cycle in range(9):
                for event, payload in ((dut.written, others + line), (dut.completed, line)):
                    ctx.set(event.valid, cycle == 0)
                    ctx.set(event.payload, payload)
                ctx.set(dut.repeated, (cycle == 0) & (line == repeated_at))
                offered = ctx.get(dut.finished.valid)
                ctx.set(dut.retired, offered)
                if offered and ctx.get(dut.finished.payload) < others:
                    told.append(line)
                await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return told


def test_complete_lines_are_offered_at_once() -> None:
    assert set(complete_offers(repeated_at=-1, lines=20)) == set(range(20))


def test_a_line_that_is_written_again_stops_that_for_63_lines() -> None:
    told = complete_offers(repeated_at=30, lines=110)
    assert set(range(30)) <= set(told)
    assert not set(told) & set(range(32, 92))
    assert {95, 100, 109} <= set(told)
