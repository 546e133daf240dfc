"""Schemes of divergence beside each other."""

from collections.abc import Callable, Sequence
from statistics import geometric_mean
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from fgpu.config import DIVERGENCE, Config

from .report import print_table

if TYPE_CHECKING:
    from fgpu.benchmarks import Record

__all__ = ["chosen_schemes", "print_schemes"]

_ALL = "all"


def chosen_schemes(names: Sequence[str]) -> tuple[str, ...]:
    """The schemes of the option; the default where nothing is given.

    Raises :class:`~fgpu.errors.ConfigError` for one that there is not.
    """
    if _ALL in names:
        return DIVERGENCE
    return tuple(dict.fromkeys(Config(divergence=name).divergence for name in names)) or DIVERGENCE[:1]


def print_schemes(records: "list[Record]") -> None:
    """SIMD occupancy, instructions issued and cycles for each benchmark and scheme."""
    _print(records, "SIMD occupancy, percent", lambda record: 100 * (record.occupancy or 0), "{:.1f}")
    _print(records, "Instructions issued", lambda record: record.instructions, "{:,.0f}")
    _print(records, "Cycles", lambda record: record.cycles, "{:,.0f}")


def _print(records: "list[Record]", title: str, value: "Callable[[Record], float | None]", form: str) -> None:
    schemes = list(dict.fromkeys(record.scheme for record in records))
    found = {(record.kernel, record.size, record.cus, record.latency, record.scheme): number for record in records
             if record.passed and (number := value(record)) is not None}
    schemes = [scheme for scheme in schemes if any(key[-1] == scheme for key in found)]
    if not schemes:
        return
    table = Table("kernel", pad_edge=False, box=None, title=title, title_justify="left")
    for column in ("size", "CUs", *schemes):
        table.add_column(column, justify="right")
    rows = dict.fromkeys((record.kernel, record.size, record.cus, record.latency) for record in records)
    for row in rows:
        table.add_row(row[0], str(row[1]), str(row[2]),
                      *(form.format(found[*row, scheme]) if (*row, scheme) in found else "" for scheme in schemes))
    complete = [row for row in rows if all((*row, scheme) in found for scheme in schemes)]
    if complete:
        table.add_row("geometric mean", "", "", *(form.format(geometric_mean(found[*row, scheme] for row in complete))
                                                  for scheme in schemes))
    console = Console(highlight=False)
    console.print()
    print_table(console, table)
