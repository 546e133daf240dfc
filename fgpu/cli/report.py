"""How runs look on the terminal."""

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS

if TYPE_CHECKING:
    import numpy as np

    from fgpu.sim import Run

__all__ = ["BUCKETS", "array_text", "counter_table", "print_table", "run_lines", "time_table"]

BUCKETS = {
    "issue": "issuing instructions",
    "execute": "waiting for results of earlier instructions",
    "fetch": "waiting for instruction fetch",
    "branch": "waiting for branches",
    "memory_read": "waiting for data from memory",
    "write_pressure": "memory accesses have to queue",
    "barrier": "waiting for others at barriers",
    "no_wavefront": "no work in the compute unit",
}
"""What each counter of a compute unit's time (:class:`fgpu.probe.Bucket`) means."""
_CACHE = {
    "read_hit": "reads that hit", "read_miss": "reads that missed", "write_hit": "writes that hit",
    "write_miss": "writes that missed", "pending_hit": "hits of lines still on their way",
    "fill": "lines read from memory", "fill_merge": "of these, around bytes already written",
    "eviction": "lines written to memory",
}
_ANY_WIDTH = 1000
_BAR = 32
_FEW = 8


def print_table(console: Console, table: Table) -> None:
    """All of ``table``, in lines longer than the terminal's if need be: a number that is cut short is another one."""
    width = console.width
    console.width = max(width, Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), table).maximum)
    console.print(table)
    console.width = width


def array_text(array: "np.ndarray") -> str:
    """The first elements."""
    items = " ".join(str(item) for item in array.flat[:_FEW])
    return f"{items} ..." if array.size > _FEW else items


def run_lines(run: "Run") -> list[str]:
    """A run in a few lines."""
    lines = [f"{run.instructions:,} wavefront instructions, {run.work_item_instructions:,} work-item instructions"]
    if run.cycles is not None:
        lines.insert(0, f"{run.cycles:,} cycles")
    if run.local_size:
        parts = f", launched in {run.parts} parts" if run.parts > 1 else ""
        local = f", each with {run.local_bytes:,} bytes of local memory" if run.local_bytes else ""
        lines.append(f"work-groups of {' x '.join(map(str, run.local_size))} work-items{local}{parts}")
    speed = run.cycles_per_second
    lines.append(f"simulated in {run.seconds:.2f} s" + (f", {speed:,.0f} cycles a second" if speed else ""))
    return lines


def time_table(stats: dict[str, int]) -> Table | None:
    """What the compute units did in their cycles; None if the engine does not count it."""
    cycles: Counter[str] = Counter()
    for key, count in stats.items():
        unit, _, bucket = key.partition(".")
        if unit.startswith("cu") and bucket in BUCKETS:
            cycles[bucket] += count
    total = cycles.total()
    if not total:
        return None
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for bucket, count in cycles.most_common():
        if count:
            table.add_row(f"{count:,}", f"{100 * count / total:.1f} %", "█" * max(1, round(_BAR * count / total)),
                          BUCKETS[bucket])
    return table


def counter_table(stats: dict[str, int]) -> Table:
    """What an engine with a clock counted besides time: divergence, cache, and the traffic of the AXI ports."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="cyan")
    table.add_column(justify="right", no_wrap=True)
    table.add_column()

    def units(prefix: str) -> list[str]:
        return list(dict.fromkeys(key.partition(".")[0] for key in stats if key.startswith(prefix)))

    for unit in units("cu"):
        instructions, cycles = stats[f"{unit}.instructions"], stats["cycles"]
        lanes = stats[f"{unit}.work_item_instructions"] / instructions if instructions else 0
        table.add_row(unit, f"{instructions:,}", "wavefront instructions")
        table.add_row("", f"{lanes:.1f}", f"active lanes an instruction, of {WAVEFRONT_SIZE}")
        table.add_row("", f"{100 - 100 * stats[f'{unit}.no_wavefront'] / cycles:.1f}", "% of the cycles with work")
        occupancy = stats[f"{unit}.wavefront_cycles"] / cycles
        table.add_row("", f"{occupancy:.2f}", f"wavefronts in a cycle, of {WAVEFRONTS}")
        if f"{unit}.local_phases" in stats:
            phases, conflicts = stats[f"{unit}.local_phases"], stats[f"{unit}.local_conflicts"]
            table.add_row("", f"{phases:,}", f"phases of local memory; {conflicts:,} cycles of bank conflicts")
    for number, (name, text) in enumerate(_CACHE.items()):
        table.add_row("" if number else "cache", f"{stats[f'cache.{name}']:,}", text)
    for port in units("axi"):
        for way, verb in (("read", "read"), ("write", "written")):
            bursts, busy = stats[f"{port}.{way}_bursts"], 100 * stats[f"{port}.{way}_beats"] / stats["cycles"]
            table.add_row(port if way == "read" else "", f"{stats[f'{port}.{way}_bytes']:,}",
                          f"bytes {verb}, in {bursts:,} bursts; busy {busy:.1f} % of the cycles")
    return table
