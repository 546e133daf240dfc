"""How benchmarks scale with compute units and AXI ports, and what limits each run."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from .report import print_table

if TYPE_CHECKING:
    from fgpu.benchmarks import Record

__all__ = ["print_scaling"]


def print_scaling(records: "list[Record]") -> None:
    """For each run and core its cycles, how many times the bound that is, and what the bound comes from.

    The last rows are the geometric means, for each latency, of the speed-ups over the first core. Without several
    numbers of AXI ports nothing is printed.
    """
    from fgpu.benchmarks.scaling import cores_of, has_several_ports, latency_name, mean_speedups, runs_by_core

    runs = runs_by_core(records)
    if not has_several_ports(runs):
        return
    cores = cores_of(runs)
    table = Table("kernel", pad_edge=False, box=None, title="Cycles, of the bound, limit", title_justify="left")
    for title in ("size", "latency", *(f"{units} CU{'s' * (units > 1)}, {ports} port{'s' * (ports > 1)}"
                                       for units, ports in cores)):
        table.add_column(title, justify="right")
    for (kernel, size, latency), here in runs.items():
        table.add_row(kernel, str(size), latency_name(latency), *(_cell(here[core]) if core in here else ""
                                                                  for core in cores))
    for latency, means in mean_speedups(runs).items():
        table.add_row("mean speed-up", "", latency_name(latency), *(f"{means[core]:.2f}" if core in means else ""
                                                                    for core in cores))
    console = Console(highlight=False)
    console.print()
    print_table(console, table)


def _cell(record: "Record") -> str:
    bound = record.bound(record.hardware)
    return f"{record.cycles:,} {(record.cycles or 0) / bound.total:.2f} {bound.limit}"
