"""Benchmarks with local memory beside those without."""

from collections.abc import Collection
from statistics import geometric_mean
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from fgpu.config import Config

from .report import print_table

if TYPE_CHECKING:
    from fgpu.benchmarks import Record

__all__ = ["print_comparison", "with_all_units"]


def with_all_units(config: Config, given: Collection[str]) -> Config:
    """``config`` with local memory, atomic operations and floating point, but for parameters that were ``given``.

    ``local_memory=0``, if given, has the compiler keep local memory in global memory.
    """
    from fgpu.benchmarks.work_groups import CONFIG

    wanted = ("local_memory", "atomics", "float_ops")
    return config.replace(**{name: getattr(config, name) or getattr(CONFIG, name)
                             for name in wanted if name not in given})


def print_comparison(records: "list[Record]") -> None:
    """For each benchmark with local memory, launches and cycles of the one without and its own, if both were run."""
    from fgpu.benchmarks import EVERY

    cores = sorted({(record.cus, record.latency or 0) for record in records})
    found = {(record.kernel, record.size, record.cus, record.latency or 0): record for record in records
             if record.cycles is not None and record.engine != "scalar"}
    table = Table("kernel", pad_edge=False, box=None, title="Without local memory and with it", title_justify="left")
    titles = (f"{units} CU{'s' * (units > 1)}, latency {cycles}" for units, cycles in cores)
    for title in ("size", "launches", *titles):
        table.add_column(title, justify="right")
    speedups: dict[tuple[int, int], list[float]] = {core: [] for core in cores}
    for kernel, size in dict.fromkeys((record.kernel, record.size) for record in records):
        name = EVERY[kernel].without
        pairs = {core: (found[name, size, *core], found[kernel, size, *core]) for core in cores
                 if (name, size, *core) in found and (kernel, size, *core) in found}
        if not pairs:
            continue
        cells = []
        for core in cores:
            if core not in pairs:
                cells.append("")
                continue
            before, after = (record.cycles or 0 for record in pairs[core])
            speedups[core].append(before / after)
            cells.append(f"{before:,} {after:>9,} {before / after:6.2f}")
        launches = " ".join(str(record.launches) for record in next(iter(pairs.values())))
        table.add_row(kernel, str(size), launches, *cells)
    if not table.row_count:
        return
    table.add_row("geometric mean", "", "", *(f"{geometric_mean(ratios):.2f}" if ratios else ""
                                              for ratios in speedups.values()))
    console = Console(highlight=False)
    console.print()
    print_table(console, table)
