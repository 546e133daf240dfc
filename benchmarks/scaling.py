"""Runs on cores of several numbers of compute units and AXI ports, and how much faster the larger ones are."""

from collections.abc import Iterable, Mapping
from statistics import geometric_mean

from .record import Record
from .scalar import SCALAR

__all__ = ["Core", "Run", "cores_of", "has_several_ports", "latency_name", "mean_speedups", "runs_by_core"]

Core = tuple[int, int]
"""Compute units and AXI ports."""
Run = tuple[str, int, int | None]
"""Benchmark, size and latency of memory."""


def runs_by_core(records: Iterable[Record]) -> dict[Run, dict[Core, Record]]:
    """Records with a clock; where a run is there several times, the last one counts."""
    found: dict[Run, dict[Core, Record]] = {}
    for record in records:
        if record.cycles is not None and record.engine != SCALAR:
            run = (record.kernel, record.size, record.latency)
            found.setdefault(run, {})[record.cus, record.hardware.axi_ports] = record
    return found


def latency_name(latency: int | None) -> str:
    """A record's latency of memory, as users read it: cycles, or ``varies``."""
    return "varies" if latency is None else str(latency)


def cores_of(runs: Mapping[Run, Mapping[Core, Record]]) -> list[Core]:
    """All of them, as they come."""
    return list(dict.fromkeys(core for here in runs.values() for core in here))


def has_several_ports(runs: Mapping[Run, Mapping[Core, Record]]) -> bool:
    """Whether there are several numbers of AXI ports: only then is how runs scale shown."""
    return len({ports for _, ports in cores_of(runs)}) > 1


def mean_speedups(runs: Mapping[Run, Mapping[Core, Record]]) -> dict[int | None, dict[Core, float]]:
    """For each latency and core, the geometric mean of the speed-ups over the first core, of those runs that both
    have; a core without any is left out."""
    cores = cores_of(runs)
    ratios: dict[int | None, dict[Core, list[float]]] = {}
    for (_, _, latency), here in runs.items():
        of_latency = ratios.setdefault(latency, {core: [] for core in cores})
        if cores[0] in here:
            for core, record in here.items():
                of_latency[core].append((here[cores[0]].cycles or 0) / (record.cycles or 1))
    return {latency: {core: geometric_mean(each) for core, each in of_cores.items() if each}
            for latency, of_cores in ratios.items()}
