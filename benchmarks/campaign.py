"""Many benchmark runs: which there are, in processes beside each other, without those that are done."""

from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from typing import Final

from fgpu.config import Config
from fgpu.errors import SimulationError, ToolError
from fgpu.extras import demand
from fgpu.sim.device import MAX_CYCLES, Latency

from .benchmark import GROUP_SIZE
from .record import Record, run_benchmark, version
from .registry import EVERY
from .scalar import SCALAR, run_scalar

__all__ = ["ACCURATE_CYCLES", "Point", "run_points"]

ACCURATE_CYCLES: Final = 100_000_000
"""Longer runs go to the functional engine, unless said otherwise: some minutes of simulation."""
_SAMPLE: Final = 256
_SCALAR_CYCLES: Final = 2
"""Of the scalar processor, for an instruction of a work-item."""
_FIXED: Final = ("functional", SCALAR)
"""Engines that no other takes the place of."""
_SLACK: Final = 20
"""A run is stopped when it takes so many times as long as expected."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One run that is to be made."""

    kernel: str
    size: int
    config: Config
    engine: str = "verilator"
    accurate_cycles: int | None = ACCURATE_CYCLES
    """The functional engine takes runs that will probably need more; None: no run."""
    group_size: int = GROUP_SIZE
    seed: int = 0
    latency: Latency | None = None
    max_cycles: int | None = None
    """Watchdog limit of a launch; None: several times what is expected."""

    @property
    def key(self) -> str:
        """The same text for the same run of the same hardware, compiler and kernels."""
        return " ".join(map(str, (self.kernel, self.size, self.config.key, self.engine, self.group_size, self.seed,
                                  self.latency or 0, version())))

    def expected_cycles(self) -> int:
        """By the instructions of a small run, and how they grow."""
        benchmark = EVERY[self.kernel]
        sample = min(_SAMPLE, self.size)
        growth = benchmark.growth(self.size) / max(benchmark.growth(sample), 1)
        instructions, of_items = _instructions(self.kernel, sample, self.config)
        cycles = _SCALAR_CYCLES * of_items if self.engine == SCALAR else 8 * instructions / self.config.compute_units
        return round(cycles * growth)

    def run(self) -> Record:
        """Run it, on the functional engine if it is long."""
        engine, note, expected = self.engine, None, 0
        if self.max_cycles is None or (engine not in _FIXED and self.accurate_cycles is not None):
            expected = self.expected_cycles()
        if engine not in _FIXED and self.accurate_cycles is not None and expected > self.accurate_cycles:
            engine, note = "functional", f"about {expected:,} cycles, too long for {engine}: functional engine"
        limit = self.max_cycles or max(MAX_CYCLES, _SLACK * expected)
        if engine == SCALAR:
            record = run_scalar(self.kernel, self.size, seed=self.seed, memory_latency=self.latency, max_cycles=limit)
            return replace(record, point=self.key)
        record = run_benchmark(self.kernel, self.size, config=self.config, engine=engine, group_size=self.group_size,
                               seed=self.seed, memory_latency=self.latency, max_cycles=limit)
        return replace(record, point=self.key, note=note)


@cache
def _instructions(kernel: str, size: int, config: Config) -> tuple[int, int]:
    record = run_benchmark(kernel, size, config=config, engine="functional")
    return record.instructions, record.work_item_instructions


def run_points(points: Iterable[Point], *, jobs: int = 1, dask: str | None = None) -> Iterator[Record]:
    """Run all points, in ``jobs`` processes or on the workers of a Dask scheduler; records come as runs end.

    Raises :class:`~fgpu.errors.MissingExtraError` without the package ``distributed``,
    :class:`~fgpu.errors.ToolError` without its scheduler, and
    :class:`~fgpu.errors.SimulationError` when a process dies.
    """
    points = list(points)
    if dask is None and min(jobs, len(points)) <= 1:
        yield from (point.run() for point in points)
        return
    with _executor(min(jobs, len(points)), dask) as executor:
        futures: list[Future[Record]] = [executor.submit(Point.run, point) for point in points]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenExecutor as error:
            raise SimulationError(f"a process of the benchmark runs died: {error}") from None
        finally:
            for future in futures:
                future.cancel()


@contextmanager
def _executor(jobs: int, dask: str | None) -> Iterator[Executor]:
    if dask is None:
        # A fork of a process with threads, such as that of the progress bar, may hang.
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            yield pool
        return
    demand("runs on a Dask scheduler", "dask")
    from distributed import Client

    try:
        client = Client(dask)
    except (OSError, ValueError) as error:
        raise ToolError(f"there is no Dask scheduler at {dask!r}: {error}") from None
    with client:
        yield client.get_executor()
