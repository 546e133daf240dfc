"""Who shall load, by how many scattered reads miss."""

from collections.abc import Callable

import pytest
from amaranth.sim import SimulatorContext

from fgpu.cache.reuse_monitor import ReuseMonitor
from fgpu.config import Config
from fgpu.interfaces.memory_bus import Loading

from ..streams import simulate

_ONE = Config(cache_size=4)
_FOUR = _ONE.replace(compute_units=4)
_LINES = _ONE.slice_lines
_LOOK, _TRIAL, _TRIAL_OF_FOUR = 4 * _LINES, 8 * _LINES, 16 * _LINES
_AGAIN = _LOOK * 3 // 8
"""Misses that tell that what helped before is needed again."""
_STREAM = 64
_LOST = 1
"""A read that comes while it is decided is not counted."""


class _Bench:
    """The monitor, and what it says after some reads of which a part missed."""

    def __init__(self, ctx: SimulatorContext, dut: ReuseMonitor) -> None:
        self.ctx, self.dut = ctx, dut

    async def after(self, reads: int, eighths: int, *, partial: int = 1, scattered: int | None = None,
                    whole: int = 0, passes: int = 1) -> Loading:
        """``reads``, of which so many of eight missed; each takes a cycle."""
        for number in range(reads):
            self.ctx.set(self.dut.passes, passes)
            self.ctx.set(self.dut.partial, partial)
            self.ctx.set(self.dut.scattered, partial if scattered is None else scattered)
            self.ctx.set(self.dut.whole, whole)
            self.ctx.set(self.dut.miss, number * eighths % 8 < eighths)
            await self.ctx.tick()
        self.ctx.set(self.dut.passes, 0)
        for _ in range(5):
            await self.ctx.tick()
        loading: Loading = self.ctx.get(self.dut.loading)
        return loading

    async def restart(self) -> None:
        self.ctx.set(self.dut.restart, 1)
        await self.ctx.tick()
        self.ctx.set(self.dut.restart, 0)


def _run(script: Callable, config: Config = _ONE) -> None:
    dut = ReuseMonitor(config)

    async def bench(ctx: SimulatorContext) -> None:
        await script(_Bench(ctx, dut))

    simulate(dut, bench)


def test_all_load_where_lines_are_used() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(4 * _LOOK, 2) == Loading.ALL

    _run(script)


@pytest.mark.parametrize("config", [_ONE, _FOUR])
def test_one_wavefront_loads_where_many_miss(config: Config) -> None:
    """As soon as so many reads are counted, and not before."""
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LOOK - 1, 4) == Loading.ALL
        assert await bench.after(1, 4) == Loading.ONE_WAVEFRONT

    _run(script, config)


@pytest.mark.parametrize("what", [{"partial": 0, "whole": 1}, {"scattered": 0}, {"partial": 0}, {"passes": 0}])
def test_other_requests_do_not_count(what: dict[str, int]) -> None:
    """Reads of whole lines, and of rows that work-items share, which all miss where a program streams; writes, and
    what only waits."""
    async def script(bench: _Bench) -> None:
        assert await bench.after(4 * _LOOK, 8, **what) == Loading.ALL

    _run(script)


def test_few_scattered_reads_among_others_do_not_count() -> None:
    """Those of one word at the end of 64, which is the first of its line: all miss, and the next ones find it."""
    async def script(bench: _Bench) -> None:
        for _ in range(_LOOK):
            assert await bench.after(1, 8) == Loading.ALL
            assert await bench.after(3, 0, scattered=0) == Loading.ALL

    _run(script)


def test_what_begins_misses_each_line_once() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LINES, 8) == Loading.ALL
        assert await bench.after(_LOOK - _LINES, 0) == Loading.ALL

    _run(script)


def test_where_it_helps_each_while_is_twice_as_long() -> None:
    async def script(bench: _Bench) -> None:
        for trials in (1, 2, 4):
            reads = _LOOK if trials == 1 else _AGAIN
            assert await bench.after(reads - 1, 8) == Loading.ALL
            assert await bench.after(1, 8) == Loading.ONE_WAVEFRONT
            assert await bench.after(_TRIAL, 8) == Loading.ONE_WAVEFRONT    # what was on its way
            assert await bench.after((trials + 1) * _TRIAL - 1, 1) == Loading.ONE_WAVEFRONT
            assert await bench.after(1 + _LOST * trials, 1) == Loading.ALL
        assert await bench.after(_LOOK, 0) == Loading.ALL       # something else: from the beginning
        assert await bench.after(_LOOK, 8) == Loading.ONE_WAVEFRONT
        assert await bench.after(3 * _TRIAL + _LOST * 2, 1) == Loading.ALL

    _run(script)


def test_where_it_does_not_help_all_load_for_long() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LOOK, 8) == Loading.ONE_WAVEFRONT
        assert await bench.after(2 * _TRIAL + _LOST, 7) == Loading.ALL
        assert await bench.after(64 * _TRIAL, 8) == Loading.ALL
        assert await bench.after(_LOOK + 128 * _LOST, 8) == Loading.ONE_WAVEFRONT

    _run(script)


def test_while_one_wavefront_loads_reads_of_shared_rows_count() -> None:
    """Where a program goes on with these, that nobody is spared a miss is found."""
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LOOK, 8) == Loading.ONE_WAVEFRONT
        assert await bench.after(2 * _TRIAL + _LOST, 7, scattered=0) == Loading.ALL

    _run(script)


@pytest.mark.parametrize(("before", "then", "helps"), [(8, 7, False), (8, 5, True), (4, 4, False), (4, 2, True)])
def test_it_helps_where_a_quarter_of_the_misses_is_spared(before: int, then: int, helps: bool) -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LOOK, before) == Loading.ONE_WAVEFRONT
        last = Loading.ONE_WAVEFRONT if helps else Loading.ALL
        assert await bench.after(2 * _TRIAL + _LOST, then) == last

    _run(script)


def test_of_several_units_one_loads_where_one_wavefront_of_each_is_too_much() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LOOK, 8) == Loading.ONE_WAVEFRONT
        assert await bench.after(_TRIAL_OF_FOUR + _LOST, 8) == Loading.ONE_WAVEFRONT    # what was on its way
        assert await bench.after(_TRIAL_OF_FOUR // 2 - 1, 8) == Loading.ONE_WAVEFRONT
        assert await bench.after(1, 8) == Loading.ONE_UNIT
        assert await bench.after(3 * _TRIAL_OF_FOUR + 2 * _LOST, 1) == Loading.ALL
        assert await bench.after(_AGAIN, 8) == Loading.ONE_UNIT     # at once
        assert await bench.after(2 * _TRIAL_OF_FOUR + _LOST, 7) == Loading.ALL
        assert await bench.after(_LOOK, 8) == Loading.ALL

    _run(script, _FOUR)


@pytest.mark.parametrize("config", [_ONE, _FOUR])
def test_who_streams_loads_with_all_others(config: Config) -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LOOK, 8) == Loading.ONE_WAVEFRONT
        assert await bench.after(_STREAM - 1, 8, partial=0, whole=1) == Loading.ONE_WAVEFRONT
        assert await bench.after(_STREAM, 8, partial=0, whole=1, passes=0) == Loading.ONE_WAVEFRONT
        assert await bench.after(_STREAM, 8, partial=0) == Loading.ONE_WAVEFRONT              # writes
        assert await bench.after(1, 8, partial=0, whole=1) == Loading.ALL
        assert await bench.after(_LOOK - 1, 8) == Loading.ALL
        assert await bench.after(1, 8) == Loading.ONE_WAVEFRONT

    _run(script, config)


def test_whole_lines_between_scattered_reads_are_no_stream() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LOOK, 8) == Loading.ONE_WAVEFRONT
        for _ in range(8):
            assert await bench.after(_STREAM // 2, 8, partial=0, whole=1) == Loading.ONE_WAVEFRONT
            assert await bench.after(_STREAM // 2, 0) == Loading.ONE_WAVEFRONT
        for _ in range(2):
            assert await bench.after(_STREAM - 8, 8, partial=0, whole=1) == Loading.ONE_WAVEFRONT
            assert await bench.after(_STREAM, 0) == Loading.ONE_WAVEFRONT                       # not below zero

    _run(script, _FOUR)


def test_a_kernel_begins_anew() -> None:
    async def script(bench: _Bench) -> None:
        assert await bench.after(_LOOK, 8) == Loading.ONE_WAVEFRONT
        await bench.restart()
        assert await bench.after(_LOOK - 1, 8) == Loading.ALL
        await bench.restart()
        assert await bench.after(_LOOK - 1, 8) == Loading.ALL
        assert await bench.after(1, 8) == Loading.ONE_WAVEFRONT

    _run(script)
