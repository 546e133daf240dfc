"""Cycles and instructions of the benchmarks today, checked in: whoever moves one says so in the same commit."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from fgpu.config import Config
from fgpu.errors import SimulationError

from .checked_in import read_figures, write_figures
from .record import run_benchmark
from .registry import BENCHMARKS, EVERY, WORK_GROUPS
from .work_groups import CONFIG

__all__ = ["BASELINE", "REWRITE", "RUNS", "differences", "load", "measure", "save"]

BASELINE: Final = Path(__file__).parent / "baseline.json"
REWRITE: Final = "fgpu bench --write-baseline"
"""The command that measures the baselines anew."""
RUNS: Final = (
    *((name, size) for name in BENCHMARKS for size in (256, 1024)),
    ("stride2", 1024), ("stride32", 256), ("reverse", 1024), ("gather", 1024), ("scatter", 1024),
    ("broadcast", 1024), ("row_sum", 1024), ("transpose", 1024), ("char_copy", 1024),
    *((name, benchmark.sizes[0]) for name, benchmark in WORK_GROUPS.items() if benchmark.without),
)
"""Benchmarks and sizes, on one compute unit of the default configuration, or on that of the work-groups."""

Counts = dict[str, dict[str, int]]
"""For each run, as ``copy 256``, its ``cycles`` and wavefront ``instructions``."""


def measure(progress: Callable[[int, int], None] = lambda done, total: None) -> Counts:
    """Run everything. ``progress`` is told how many of the runs are done.

    Raises :class:`~fgpu.errors.SimulationError` when a result is wrong.
    """
    counts: Counts = {}
    for name, size in RUNS:
        record = run_benchmark(name, size, config=CONFIG if EVERY[name].without else Config())
        if record.cycles is None:
            raise SimulationError(f"{name} {size}: {record.failure}")
        counts[f"{name} {size}"] = {"cycles": record.cycles, "instructions": record.instructions}
        progress(len(counts), len(RUNS))
    return counts


def load() -> Counts:
    """The checked-in baselines."""
    counts: Counts = read_figures(BASELINE)
    return counts


def save(counts: Counts) -> None:
    """Make these the baselines."""
    write_figures(BASELINE, counts)


def differences(baseline: Counts, counts: Counts) -> Iterator[str]:
    """What moved, for better or worse, a line each."""
    for run in baseline | counts:
        if run not in counts or run not in baseline:
            yield f"{run} is {'not run any more' if run not in counts else 'new'}"
            continue
        for what, before in baseline[run].items():
            now = counts[run][what]
            if now != before:
                change = f" ({100 * (now / before - 1):+.1f} %)" if before else ""
                yield f"{run}: {before:,} {what} became {now:,}{change}"
