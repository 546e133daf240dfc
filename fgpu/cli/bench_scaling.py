"""How benchmarks scale with compute units and AXI ports, and what limits each run."""

from statistics import geometric_mean
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
    found = {(record.kernel, record.size, record.latency, record.cus, record.hardware.axi_ports): record
             for record in records if record.cycles is not None and record.engine != "scalar"}
    cores = list(dict.fromkeys(key[3:] for key in found))
    if len({ports for _, ports in cores}) < 2:
        return
    table = Table("kernel", pad_edge=False, box=None, title="Cycles, of the bound, limit", title_justify="left")
    for title in ("size", "latency", *(f"{units} CU{'s' * (units > 1)}, {ports} port{'s' * (ports > 1)}"
                                       for units, ports in cores)):
        table.add_column(title, justify="right")
    speedups: dict[int | None, dict[tuple[int, int], list[float]]] = {}
    for run in dict.fromkeys(key[:3] for key in found):
        here = {core: found[*run, *core] for core in cores if (*run, *core) in found}
        table.add_row(run[0], str(run[1]), _latency(run[2]), *(_cell(here[core]) if core in here else ""
                                                              for core in cores))
        of_latency = speedups.setdefault(run[2], {core: [] for core in cores})
        if cores[0] in here:
            for core, record in here.items():
                of_latency[core].append((here[cores[0]].cycles or 0) / (record.cycles or 1))
    for latency, of_cores in speedups.items():
        table.add_row("mean speed-up", "", _latency(latency), *(f"{geometric_mean(ratios):.2f}" if ratios else ""
                                                                for ratios in of_cores.values()))
    console = Console(highlight=False)
    console.print()
    print_table(console, table)


def _cell(record: "Record") -> str:
    bound = record.bound(record.hardware)
    return f"{record.cycles:,} {(record.cycles or 0) / bound.total:.2f} {bound.limit}"


def _latency(cycles: int | None) -> str:
    return "varies" if cycles is None else str(cycles)
