"""Tables of benchmark records."""

from statistics import geometric_mean
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from .bench_floats import is_float
from .report import print_table

if TYPE_CHECKING:
    from fgpu.benchmarks import Record

__all__ = ["print_bounds", "print_markdown", "print_records", "print_speedups"]


def print_records(records: "list[Record]") -> None:
    """Print measurements as a table, a row for each."""
    table = Table("kernel", pad_edge=False, box=None)
    tells_floats = any(record.config.get("float_ops") for record in records)
    if tells_floats:
        table.add_column("floats")
    tells_latency = len({record.latency for record in records}) > 1
    if tells_latency:
        table.add_column("latency", justify="right")
    tells_time = any(record.mhz for record in records)
    time = ["µs"] if tells_time else []
    for title in ("size", "CUs", "cycles", *time, "reference", "speed-up", "instructions", "cycles/s"):
        table.add_column(title, justify="right")
    table.add_column("result")
    for record in records:
        cycles, reference = record.cycles, record.reference_cycles
        table.add_row(
            record.kernel, *([_floats(record)] if tells_floats else []),
            *([_latency(record)] if tells_latency else []), str(record.size), _units(record),
            _number(cycles), *([_microseconds(record)] if tells_time else []), _number(reference),
            f"{reference / cycles:.2f}" if reference and cycles else "", _number(record.instructions),
            _number(round(cycles / record.seconds) if cycles and record.seconds else None),
            "[green]right[/]" if record.passed else "[red]FAILED[/]")
    console = Console(highlight=False)
    print_table(console, table)
    for record in records:
        if record.failure or record.note:
            console.print(f"{record.kernel} {record.size}, {record.cus} CU(s): {record.failure or record.note}",
                          style="red" if record.failure else "yellow", markup=False)


def print_markdown(records: "list[Record]") -> None:
    """Print measurements as a table in Markdown, a row for each, without what another run of them would change."""
    titles = ["kernel", "size", "CUs", "cycles", "µs", "MHz", "reference's cycles"]
    lines = [titles, ["---", *["--:"] * (len(titles) - 1)]]
    for record in records:
        lines.append([f"`{record.kernel}`", f"{record.size:,}", _units(record),
                      _number(record.cycles) if record.passed else "failed", _microseconds(record),
                      f"{record.mhz:.1f}" if record.mhz else "", _number(record.reference_cycles)])
    for line in lines:
        click.echo("| " + " | ".join(line) + " |")


def _microseconds(record: "Record") -> str:
    return "" if record.microseconds is None else f"{record.microseconds:,.1f}"


def _floats(record: "Record") -> str:
    """In which of both a row's floating point is."""
    if not is_float(record.kernel):
        return ""
    return "hard" if record.config.get("float_ops") else "soft"


def _latency(record: "Record") -> str:
    return "varies" if record.latency is None else str(record.latency)


def _units(record: "Record") -> str:
    return record.engine if record.engine == "scalar" else str(record.cus)


def print_speedups(records: "list[Record]") -> None:
    """How much faster than the scalar processor: the mean of all benchmarks and sizes, and the extremes."""
    scalar = {(record.kernel, record.size, record.latency): record.cycles for record in records
              if record.engine == "scalar"}
    table = Table("CUs", pad_edge=False, box=None, title="Speed-up over the scalar processor", title_justify="left")
    for title in ("runs", "mean", "least", "most"):
        table.add_column(title, justify="right")
    for units in sorted({record.cus for record in records}):
        speedups = sorted((base / record.cycles, f"{record.kernel} {record.size}") for record in records
                          if record.cus == units and record.cycles and record.engine != "scalar"
                          and (base := scalar.get((record.kernel, record.size, record.latency))))
        if speedups:
            table.add_row(str(units), str(len(speedups)), f"{geometric_mean(ratio for ratio, _ in speedups):.1f}",
                          *(f"{ratio:.1f} ({run})" for ratio, run in (speedups[0], speedups[-1])))
    console = Console(highlight=False)
    console.print()
    print_table(console, table)


def print_bounds(records: "list[Record]") -> None:
    """How close each run, and each of its work-items, is to what issue and memories allow; the mean speed-up."""
    table = Table("kernel", pad_edge=False, box=None, title="Bounds", title_justify="left")
    tells_time = any(record.mhz for record in records)
    for title in ("size", "CUs", "issue", "cache", "memory", "local", "start and end", "cycles",
                  *(["µs"] if tells_time else []), "of the bound", "per item", "at best"):
        table.add_column(title, justify="right")
    for record in records:
        if record.cycles is None or record.engine == "scalar":
            continue
        bound = record.bound(record.hardware)
        table.add_row(record.kernel, str(record.size), str(record.cus), _number(bound.issue), _number(bound.cache),
                      _number(bound.memory), _number(bound.local), _number(bound.overhead), _number(record.cycles),
                      *([_microseconds(record)] if tells_time else []),
                      f"{record.cycles / bound.total:.2f}", f"{record.cycles / record.work_items:.2f}",
                      f"{bound.total / record.work_items:.2f}")
    console = Console(highlight=False)
    console.print()
    print_table(console, table)
    speedups = [record.reference_cycles / record.cycles for record in records
                if record.cycles and record.reference_cycles]
    if speedups:
        console.print(f"Geometric mean of the speed-up over the reference: {geometric_mean(speedups):.2f}, "
                      f"least {min(speedups):.2f}")


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
