"""How many lines a slice may have on their way."""

from collections.abc import Callable

import pytest
from amaranth.sim import SimulatorContext

from fgpu.cache.read_window import ReadWindow, has_read_window
from fgpu.config import Config

from ..streams import simulate

_EIGHT = Config(tag_managers=8)
_BURST = _EIGHT.burst_beats


class _Bench:
    """The window, and what it says after some cycles of the same inputs."""

    def __init__(self, ctx: SimulatorContext, dut: ReadWindow) -> None:
        self.ctx, self.dut = ctx, dut

    async def after(self, cycles: int, *, arrives: int = 0, are_full: int = 0, restart: int = 0) -> int:
        for name, value in (("arrives", arrives), ("are_full", are_full), ("restart", restart)):
            self.ctx.set(getattr(self.dut, name), value)
        for _ in range(cycles):
            await self.ctx.tick()
        return self.ctx.get(self.dut.most_reads)


def _run(script: Callable, config: Config = _EIGHT) -> None:
    dut = ReadWindow(config)

    async def bench(ctx: SimulatorContext) -> None:
        await script(_Bench(ctx, dut))

    simulate(dut, bench)


def test_a_busy_port_is_wanted_no_more_of() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(1000, arrives=1, are_full=1) == 4

    _run(script)


def test_a_slice_that_wants_no_more_does_not_widen_it() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(1000) == 4

    _run(script)


@pytest.mark.parametrize(("slices", "least"), [(1, 4), (2, 2), (4, 1)])
def test_it_is_a_line_wider_for_the_time_of_a_burst_without_one(slices: int, least: int) -> None:
    """Of a burst of each slice, where these share the port; up to the number of tag managers."""
    async def script(bench: _Bench) -> None:
        time = slices * _BURST
        assert await bench.after(1) == least
        for lines in range(least + 1, 9):
            assert await bench.after(time - 1, are_full=1 << slices - 1) == lines - 1
            assert await bench.after(1, are_full=1) == lines
        assert await bench.after(10 * time, are_full=1) == 8

    _run(script, _EIGHT.replace(cache_slices=slices))


def test_a_kernel_begins_anew() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(4 * _BURST, are_full=1) == 8
        assert await bench.after(1, restart=1, are_full=1) == 4
        assert await bench.after(_BURST - 1, are_full=1) == 4

    _run(script)


def test_few_tag_managers_need_none() -> None:
    assert [has_read_window(Config(tag_managers=number)) for number in (1, 2, 4, 8)] == [False, False, False, True]
    assert has_read_window(Config(tag_managers=4, cache_slices=4))
    assert not has_read_window(Config(tag_managers=1, cache_slices=4))
