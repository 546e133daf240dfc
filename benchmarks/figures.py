"""The dissertation's figures of chapter 6, and one like them, as numbers, from records of benchmark runs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import geometric_mean
from typing import Any, Final

from fgpu.config import Config
from fgpu.errors import AmbiguousRunsError

from . import schemes
from .record import Record
from .registry import CHAPTER6, DIVERGENCE, EVERY, FLOATS, WORK_GROUPS
from .scalar import SCALAR
from .scaling import has_several_ports, latency_name, mean_speedups, runs_by_core

__all__ = ["FIGURES", "Figure", "Measurements"]

_TYPES: Final = ("ushort", "uchar", "short", "char", "short2", "char4", "float", "atomic")
_NARROW: Final = {"short": "16 bits", "ushort": "16 bits", "char": "8 bits", "uchar": "8 bits",
                  "short2": "short2", "char4": "char4"}
_CHOICES: Final = {"axi_ports": "--axi-ports", "latency": "--latency"}
"""Options of ``fgpu plot``, by what they choose."""


@dataclass(frozen=True)
class Figure:
    """What a figure shows. ``series`` are lines, or groups of bars, with their values by x."""

    name: str
    title: str
    x: str
    y: str
    series: Mapping[str, Mapping[str | int, float]]
    lines: bool = False
    """Lines over sizes, both axes logarithmic; bars otherwise."""
    right: Mapping[str, Mapping[str | int, float]] = field(default_factory=dict)
    """Lines of the axis on the right, ``right_y``."""
    right_y: str = ""
    panels: bool = False
    """Each of ``series`` in axes of its own: more lines than there are colours that can be told apart."""
    reference: Mapping[str, Mapping[str | int, float]] = field(default_factory=dict)
    """The reference's values beside those of ``series``, where they were measured."""
    beside: tuple["Figure", ...] = ()
    """Drawn below it, in the same file."""
    is_extra: bool = False
    """Whether the dissertation has none like it; nobody misses it."""


class Measurements:
    """Cycles of records that passed, by benchmark, size, compute units and kind of floating point.

    Those of cores with local memory are apart, by the latency of memory instead. Of a run that is there several times
    the last one counts. Where runs differ in something else, such as AXI ports, each method that would have to take
    one of them raises :class:`~fgpu.errors.AmbiguousRunsError`.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._runs: defaultdict[tuple[str, int, int, bool], list[Record]] = defaultdict(list)
        self._scalar: defaultdict[tuple[str, int], list[Record]] = defaultdict(list)
        self._reference: dict[tuple[str, int, int], int] = {}
        self._local: defaultdict[tuple[str, int, int, int], list[Record]] = defaultdict(list)
        self.schemes: dict[str, dict[str, Record]] = {}
        """By schemes of divergence and benchmarks of that suite."""
        records = list(records)
        self.by_core = runs_by_core(record for record in records if record.passed and record.kernel in CHAPTER6
                                    and not record.config.get("local_memory"))
        """Chapter 6's runs by compute units and AXI ports."""
        for record in records:
            if record.passed and record.kernel in DIVERGENCE:
                self.schemes.setdefault(record.scheme, {})[record.kernel] = record
                continue
            if record.passed and record.cycles is not None and record.config.get("local_memory"):
                if record.kernel in WORK_GROUPS and record.latency is not None:
                    self._local[record.kernel, record.size, record.cus, record.latency].append(record)
                continue
            if not record.passed or record.cycles is None or record.kernel not in CHAPTER6:
                continue
            if record.engine == SCALAR:
                self._scalar[record.kernel, record.size].append(record)
            else:
                hard = bool(record.config.get("float_ops"))
                self._runs[record.kernel, record.size, record.cus, hard].append(record)
                if record.reference_cycles is not None:
                    self._reference[record.kernel, record.size, record.cus] = record.reference_cycles

    @property
    def has_scalar(self) -> bool:
        """Whether there are runs of the scalar processor."""
        return bool(self._scalar)

    @property
    def most_units(self) -> int:
        """Compute units of the largest core."""
        return max((units for _, _, units, _ in self._runs), default=0)

    @property
    def units(self) -> list[int]:
        """The numbers of compute units that were measured, ascending."""
        return sorted({units for _, _, units, _ in self._runs})

    def cycles(self, kernel: str, units: int, *, hard: bool = False) -> dict[int, int]:
        """Cycles by size."""
        return {size: _cycles(runs) for (name, size, number, kind), runs in sorted(self._runs.items())
                if (name, number, kind) == (kernel, units, hard)}

    def reference(self, kernel: str, units: int) -> dict[int, int]:
        """Cycles of the reference by size, for the same work as that of the records."""
        return {size: cycles for (name, size, number), cycles in sorted(self._reference.items())
                if (name, number) == (kernel, units)}

    def scalar(self, kernel: str) -> dict[int, int]:
        """Cycles of the scalar processor by size; it has the same element for each lane of a vector."""
        kernel = kernel.removesuffix("2").removesuffix("4")
        return {size: _cycles(runs) for (name, size), runs in sorted(self._scalar.items()) if name == kernel}

    @property
    def local_cores(self) -> list[tuple[int, int]]:
        """Compute units of cores with local memory, and latencies of their memory, ascending."""
        return sorted({(units, latency) for _, _, units, latency in self._local})

    def local_speedups(self, kernel: str, units: int, latency: int) -> list[float]:
        """Of a benchmark with local memory over the one without, for each size that both have."""
        plain = EVERY[kernel].without
        return [_cycles(self._local[plain, size, units, latency]) / _cycles(runs)
                for (name, size, *core), runs in sorted(self._local.items())
                if name == kernel and core == [units, latency] and (plain, size, units, latency) in self._local]

    def speedups(self, kernel: str, units: int) -> dict[int, float]:
        """By size, over the scalar processor, or over one compute unit where there are no records of that."""
        base = self.scalar(kernel) if self.has_scalar else self.cycles(kernel, 1)
        return {size: base[size] / cycles for size, cycles in self.cycles(kernel, units).items() if size in base}


def _cycles(runs: list[Record]) -> int:
    """Of the same run. Raises :class:`~fgpu.errors.AmbiguousRunsError` if they are not."""
    last = runs[-1]
    for run in runs:
        different = _different(run, last)
        if different:
            ways = (", ".join(f"{name}={values[index]}" for name, values in different.items()) for index in (0, 1))
            options = " and ".join(option for name, option in _CHOICES.items() if name in different)
            chosen = f"choose one by {options}" if different.keys() <= _CHOICES.keys() else "leave out all but one"
            raise AmbiguousRunsError(f"there are runs of {last.kernel} {last.size} on {last.cus} CU(s) with "
                                     f"{' and with '.join(ways)}, of which a figure can show only one; {chosen}")
    assert last.cycles is not None
    return last.cycles


def _different(one: Record, other: Record) -> dict[str, tuple[Any, Any]]:
    """What two runs differ in, by the name of a hardware parameter or field."""
    default = Config()
    found = {name: tuple(run.config.get(name, getattr(default, name)) for run in (one, other))
             for name in sorted({*one.config, *other.config})}
    found |= {name: (getattr(one, name), getattr(other, name)) for name in ("engine", "group_size", "seed")}
    found["latency"] = (latency_name(one.latency), latency_name(other.latency))
    if one.latency is other.latency is None:       # only what was asked for has the range
        found["point"] = tuple(run.point.rpartition(" ")[0] for run in (one, other))
    return {name: values for name, values in found.items() if values[0] != values[1]}


def base_name(kernel: str) -> str:
    """The benchmark without its type: ``fir`` of ``fir_char``."""
    stem, _, last = kernel.rpartition("_")
    return stem if last in _TYPES else kernel


def _fixed_point() -> list[str]:
    return [name for name in CHAPTER6 if name == base_name(name) and not CHAPTER6[name].element.is_float]


def _over(found: Measurements) -> str:
    return "a scalar processor" if found.has_scalar else "1 CU"


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return geometric_mean(numbers) if numbers else None


def execution_time(found: Measurements) -> Figure:
    """Figure 6.2: cycles over problem sizes, in floating point where there are records with hard units."""
    series = {name: found.cycles(name, found.most_units, hard=True) for name in FLOATS}
    if not any(series.values()):
        return _integer_time(found, "6.2")
    return Figure("6.2", f"Execution time on {found.most_units} CU(s), hard floating point", "problem size", "cycles",
                  _filled(series), lines=True, panels=True)


def integer_time(found: Measurements) -> Figure:
    """Figure 6.2 for integers, with which the reference was measured, where 6.2 itself is of floating point."""
    has_floats = any(found.cycles(name, found.most_units, hard=True) for name in FLOATS)
    return replace(_integer_time(found if has_floats else Measurements(()), "6.2-integers"), is_extra=True)


def _integer_time(found: Measurements, name: str) -> Figure:
    units = found.most_units
    series = {name: found.cycles(name, units) for name in _fixed_point()}
    reference = {name: found.reference(name, units) for name in series}
    return Figure(name, f"Execution time on {units} CU(s), integers", "problem size", "cycles", _filled(series),
                  lines=True, panels=True, reference=_filled(reference))


def _filled(series: Mapping[str, Mapping[int, float]]) -> dict[str, Mapping[str | int, float]]:
    return {name: dict(values.items()) for name, values in series.items() if values}


def compute_units(found: Measurements) -> Figure:
    """Figure 6.8: mean speed-up by compute units."""
    series: dict[str, dict[str | int, float]] = defaultdict(dict)
    for units in found.units:
        for name in _fixed_point():
            mean = _mean(found.speedups(name, units).values())
            if mean is not None:
                series[f"{units} CU(s)"][name] = mean
        if series[f"{units} CU(s)"]:
            series[f"{units} CU(s)"]["mean"] = geometric_mean(series[f"{units} CU(s)"].values())
    return Figure("6.8", f"Speed-up over {_over(found)}, mean of all sizes", "", "speed-up", _some(series))


def _some(series: Mapping[str, Mapping[str | int, float]]) -> dict[str, Mapping[str | int, float]]:
    return {name: values for name, values in series.items() if values}


def narrow_types(found: Measurements) -> Figure:
    """Figure 6.9: how the mean speed-up changes from words to smaller integers and to vectors of them, in percent."""
    units = found.most_units
    series: dict[str, dict[str | int, float]] = {label: {} for label in _NARROW.values()}
    for name in CHAPTER6:
        base, type = base_name(name), name.rpartition("_")[2]
        if base == name or type not in _NARROW:
            continue
        narrow, words = found.cycles(name, units), found.cycles(base, units)
        slow, slow_words = found.scalar(name), found.scalar(base)
        ratios = []
        for size in narrow.keys() & words.keys():
            if not found.has_scalar:
                ratios.append(words[size] / narrow[size])
            elif size in slow and size in slow_words:
                ratios.append(slow[size] / narrow[size] / (slow_words[size] / words[size]))
        mean = _mean(ratios)
        if mean is not None:
            series[_NARROW[type]][base] = 100 * (mean - 1)
    for values in series.values():
        if values:
            values["mean"] = 100 * (geometric_mean([1 + value / 100 for value in values.values()]) - 1)
    what = f"speed-up over {_over(found)}" if found.has_scalar else "throughput"
    return Figure("6.9", f"Sub-integer {what} relative to integers, {units} CU(s)", "", "change, %", _some(series))


def atomics(found: Measurements) -> Figure:
    """Figure 6.10: ``max`` with and without atomic operations."""
    units = found.most_units
    names = {"without atomics": "max", "with atomics": "max_atomic"}
    right = {}
    if found.has_scalar:
        plain = found.scalar("max")
        for label, name in names.items():
            times = found.cycles(name, units).items()
            right[f"{label}: speed-up"] = {size: plain[size] / cycles for size, cycles in times if size in plain}
    return Figure("6.10", f"max on {units} CU(s)", "problem size", "cycles",
                  _filled({label: found.cycles(name, units) for label, name in names.items()}), lines=True,
                  right=_filled(right), right_y="speed-up over a scalar processor")


def soft_floats(found: Measurements) -> Figure:
    """Figure 6.11: throughput with floating point in software, relative to hard units, in percent."""
    series: dict[str | int, float] = {}
    for name in FLOATS:
        ratios = []
        for units in found.units:
            hard, soft = found.cycles(name, units, hard=True), found.cycles(name, units)
            ratios += [hard[size] / soft[size] for size in hard.keys() & soft.keys()]
        mean = _mean(ratios)
        if mean is not None:
            series[base_name(name)] = 100 * mean
    if series:
        series["mean"] = geometric_mean(series.values())
    return Figure("6.11", "Throughput of soft floating point", "", "% of hard units", _some({"soft": series}))


def local_memory(found: Measurements) -> Figure:
    """Speed-up of benchmarks with local memory over those without, for compute units and latencies of memory."""
    series: dict[str, dict[str | int, float]] = {}
    for units, latency in found.local_cores:
        means = {name: _mean(found.local_speedups(name, units, latency))
                 for name, benchmark in WORK_GROUPS.items() if benchmark.without}
        bars: dict[str | int, float] = {EVERY[name].without: mean for name, mean in means.items() if mean is not None}
        if bars:
            series[f"{units} CU(s), latency {latency}"] = {**bars, "mean": geometric_mean(bars.values())}
    return Figure("work-groups", "Speed-up by local memory, mean of all sizes", "", "speed-up", series, is_extra=True)


def scaling(found: Measurements) -> Figure:
    """Mean speed-up over the first core by compute units, for each number of AXI ports and latency of memory."""
    series: dict[str, dict[str | int, float]] = {}
    if has_several_ports(found.by_core):
        for latency, means in mean_speedups(found.by_core).items():
            for (units, ports), mean in means.items():
                series.setdefault(f"{ports} port(s), latency {latency_name(latency)}", {})[units] = mean
    return Figure("scaling", "Speed-up over the first core, mean of all runs", "compute units", "speed-up", series,
                  lines=True, is_extra=True)


def occupancy(found: Measurements) -> Figure:
    """Mean SIMD occupancy for each benchmark and scheme, as figure 7 of the comparison of 2009."""
    series: dict[str, dict[str | int, float]] = {
        scheme: {name: 100 * record.occupancy for name in DIVERGENCE
                 if (record := records.get(name)) is not None and record.occupancy is not None}
        for scheme, records in found.schemes.items()}
    for values in series.values():
        if values:
            values["mean"] = geometric_mean(values.values())
    beside = tuple(figure for figure in (scheme_cycles(found), scheme_area(found)) if figure.series)
    return Figure("divergence", "SIMD occupancy by schemes of divergence", "", "%", _some(series), is_extra=True,
                  beside=beside)


def scheme_area(found: Measurements) -> Figure:
    """LUTs, flip-flops and MHz of the schemes' units by themselves, of those that there are runs of."""
    units = schemes.load()
    series: dict[str, dict[str | int, float]] = {
        scheme: {"LUTs": units[scheme]["luts"], "flip-flops": units[scheme]["ffs"],
                 "MHz times 10": 10 * units[scheme]["mhz"]} for scheme in found.schemes if scheme in units}
    return Figure("divergence-area", "The schemes' units by themselves (Xilinx 7 series; MHz on an ECP5)", "", "",
                  series, is_extra=True)


def scheme_cycles(found: Measurements) -> Figure:
    """Cycles of the schemes that have hardware, relative to those of the default."""
    base = found.schemes.get(Config().divergence, {})
    series: dict[str, dict[str | int, float]] = {}
    for scheme, records in found.schemes.items():
        bars: dict[str | int, float] = {
            name: 100 * record.cycles / other for name in DIVERGENCE
            if (record := records.get(name)) is not None and record.cycles
            and name in base and (other := base[name].cycles)}
        if bars:
            series[scheme] = {**bars, "mean": geometric_mean(bars.values())}
    return Figure("divergence-cycles", "Cycles by schemes of divergence", "", f"% of {Config().divergence}", series,
                  is_extra=True)


FIGURES: Final[Mapping[str, Callable[[Measurements], Figure]]] = {
    "6.2": execution_time, "6.2-integers": integer_time, "6.8": compute_units,
    "6.9": narrow_types, "6.10": atomics, "6.11": soft_floats,
    "work-groups": local_memory, "scaling": scaling, "divergence": occupancy, "divergence-cycles": scheme_cycles,
}
"""By the numbers that they have, or that those like them have, in the dissertation; by the suite otherwise."""
