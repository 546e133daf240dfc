"""Which lines the early cleaner offers."""

from amaranth.sim import Simulator

from fgpu.cache.early_cleaner import EarlyCleaner
from fgpu.config import Config


def offers(premature_at: int, lines: int) -> list[int]:
    """After how many allocated lines each one is offered, if one was premature after ``premature_at``."""
    dut = EarlyCleaner(Config.preset("tiny"))
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
                    assert ctx.get(dut.finished.payload) <= line - 8
                    told.append(line)
                await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return told


def test_lines_are_offered_when_eight_younger_ones_came() -> None:
    assert offers(premature_at=-1, lines=20) == list(range(8, 20))


def test_a_premature_line_stops_that_for_63_lines() -> None:
    told = offers(premature_at=30, lines=110)
    assert set(range(8, 30)) <= set(told)
    assert not set(told) & set(range(32, 92))
    assert {95, 100, 109} <= set(told)
