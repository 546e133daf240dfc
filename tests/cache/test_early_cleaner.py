"""Which lines the early cleaner offers."""

import pytest
from amaranth.sim import Simulator

from fgpu.cache.early_cleaner import EarlyCleaner
from fgpu.config import Config

_TINY = Config.preset("tiny")


def offers(lines: int, config: Config = _TINY, *, patience: int = 8, are_complete: bool = False,
           premature_at: int = -1, repeated_at: int = -1) -> list[int]:
    """After how many allocated lines each one is offered, if one was premature or repeated after so many; or, where
    all ``are_complete`` as soon as they are allocated, each of the complete ones."""
    dut = EarlyCleaner(config)
    complete = 1000     # is added to the addresses of complete lines here, so that nobody takes one for the other
    told: list[int] = []

    async def bench(ctx):
        ctx.set(dut.allowed, 1)
        ctx.set(dut.finished.ready, 1)
        for line in range(lines):
            for cycle in range(9):
                first = cycle == 0
                ctx.set(dut.written.valid, first)
                ctx.set(dut.written.payload, line)
                ctx.set(dut.completed.valid, first & are_complete)
                ctx.set(dut.completed.payload, complete + line)
                ctx.set(dut.premature, first & (line == premature_at))
                ctx.set(dut.repeated, first & (line == repeated_at))
                offered = ctx.get(dut.finished.valid)
                ctx.set(dut.retired, offered)
                if offered:
                    of = ctx.get(dut.finished.payload)
                    assert of >= complete or of <= line - patience
                    if (of >= complete) == are_complete:
                        told.append(line)
                await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return told


def test_lines_are_offered_when_eight_younger_ones_came() -> None:
    assert offers(20) == list(range(8, 20))


@pytest.mark.parametrize(("units", "slices", "patience"), [(2, 1, 8), (4, 1, 16), (4, 2, 8), (8, 4, 4), (8, 8, 4)])
def test_slices_share_the_patience(units: int, slices: int, patience: int) -> None:
    config = Config(compute_units=units, cache_slices=slices)
    assert offers(30, config, patience=patience) == list(range(patience, 30))


def test_a_premature_line_stops_that_for_63_lines() -> None:
    told = offers(110, premature_at=30)
    assert set(range(8, 30)) <= set(told)
    assert not set(told) & set(range(32, 92))
    assert {95, 100, 109} <= set(told)


def test_complete_lines_are_offered_at_once() -> None:
    assert set(offers(20, are_complete=True)) == set(range(20))


def test_a_line_that_is_written_again_stops_that_for_63_lines() -> None:
    told = offers(110, are_complete=True, repeated_at=30)
    assert set(range(30)) <= set(told)
    assert not set(told) & set(range(32, 92))
    assert {95, 100, 109} <= set(told)
