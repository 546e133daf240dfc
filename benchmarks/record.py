"""One benchmark run on one configuration, and what it took."""

import math
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np

from fgpu.compiler.frontend.bitcode import compiler_version
from fgpu.config import WAVEFRONT_SIZE, Config
from fgpu.engines import MEMORY_BASE
from fgpu.errors import ConfigError, FgpuError, LaunchError
from fgpu.sim import Buffer, Device
from fgpu.sim.device import MAX_CYCLES, Latency, memory_timing
from fgpu.sim.testbench.build import bench_sources, digest
from fgpu.sim.verilator_build import hardware_digest

from .benchmark import GROUP_SIZE, Problem
from .reference import reference_cycles
from .registry import EVERY

__all__ = ["REFERENCE_SPACING", "Record", "difference", "fixed_latency", "run_benchmark", "version"]

_LAUNCH_CYCLES: Final = 22
"""Of a kernel with one parameter that returns at once, in one wavefront, without the 8 in which its instruction is
issued; tests/core/test_launch_time.py keeps these true."""
_ENDS_CYCLES: Final = 14
"""More for that kernel if it initializes and cleans: of a run, the first launch does the one, the last the other."""
REFERENCE_SPACING: Final = 0x4_0000
"""Bytes between the arrays of the reference's measurements, the first of which is where memory begins."""
_OUTPUT_PLACE: Final = 2


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Least cycles of a run: the largest of issue and memories, and the time in which nothing can be issued."""

    issue: int
    cache: int
    memory: int
    local: int
    overhead: int

    @property
    def total(self) -> int:
        """Fewest cycles that the run can take."""
        return max(self.issue, self.cache, self.memory, self.local) + self.overhead

    @property
    def limit(self) -> str:
        """What it comes from: ``issue``, ``cache``, ``memory``, ``local`` memory, or ``launch``, their overhead."""
        most = {"issue": self.issue, "cache": self.cache, "memory": self.memory, "local": self.local,
                "launch": self.overhead}
        return max(most, key=lambda name: most[name])


@dataclass(frozen=True, kw_only=True)
class Record:
    """The outcome of one benchmark run; cycles and instructions are those of all launches."""

    kernel: str
    size: int
    """Output elements."""
    cus: int
    """Compute units."""
    group_size: int
    """Work-items of a work-group."""
    engine: str
    seed: int
    launches: int
    work_items: int
    cycles: int | None
    """Clock cycles; None on the functional engine and where the run failed."""
    instructions: int
    """Wavefront instructions."""
    work_item_instructions: int
    seconds: float
    """Wall-clock time of the simulation proper."""
    passed: bool
    failure: str | None = None
    """Why it did not pass."""
    reference_cycles: int | None = None
    """Cycles of the reference design for the same work, where they were measured."""
    config: dict[str, Any] = field(default_factory=dict)
    """Hardware parameters, those that are not the default."""
    version: str = ""
    """Of hardware, compiler and kernels; see :func:`version`."""
    point: str = ""
    """What the run was asked for as; see :class:`~benchmarks.campaign.Point`."""
    note: str | None = None
    """What else there is to say."""
    stats: dict[str, int] = field(default_factory=dict)
    latency: int | None = 0
    """Cycles that the memory adds to each burst; None where they are not always the same."""
    mhz: float | None = None
    """The clock that ``microseconds`` is of; None where none is known."""
    microseconds: float | None = None
    """What the cycles take."""

    def at(self, mhz: float | None) -> "Record":
        """The same run on a core that is clocked with so many MHz."""
        time = None if mhz is None or self.cycles is None else round(self.cycles / mhz, 3)
        return replace(self, mhz=mhz, microseconds=time)

    @property
    def occupancy(self) -> float | None:
        """The mean share of a wavefront's work-items that an instruction has enabled; None where none was counted."""
        return self.work_item_instructions / (WAVEFRONT_SIZE * self.instructions) if self.instructions else None

    @property
    def scheme(self) -> str:
        """The scheme of divergence."""
        return str(self.config.get("divergence", Config().divergence))

    @property
    def hardware(self) -> Config:
        """The configuration that it ran on."""
        values: dict[str, Any] = {name: frozenset(value) if isinstance(value, list) else value
                                  for name, value in self.config.items()}
        return Config(**values)

    def bound(self, config: Config) -> "Bound":
        """What the hardware allows at best; ``config`` gives the width of its AXI ports.

        Issue takes 8 cycles for each wavefront instruction of a compute unit; a slice of the cache serves, fills
        or evicts a row a cycle; memory moves what was in fact read and written, both ways at once. Eight work-items
        at a time take a compute unit's local memory for as many cycles as its busiest bank has words for them: their
        number, and the cycles beyond the first ones, are counted as the kernel runs.
        """
        traffic = {way: sum(self.stats.get(f"axi{port}.{way}_bytes", 0) for port in range(config.axi_ports))
                   for way in ("read", "write")}
        width = config.axi_data_width // 8 * config.axi_ports
        local = sum(count for name, count in self.stats.items()
                    if name.rpartition(".")[2] in ("local_phases", "local_conflicts"))
        return Bound(issue=-(-self.instructions * 8 // self.cus),
                     cache=self.stats.get("cache.data_busy", 0) // config.slices,
                     memory=-(-max(traffic.values()) // width), local=-(-local // self.cus),
                     overhead=_LAUNCH_CYCLES * self.launches + _ENDS_CYCLES)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def run_benchmark(name: str, size: int, *, config: Config | None = None, engine: str = "verilator",
                  group_size: int = GROUP_SIZE, seed: int = 0, memory_latency: Latency | None = None,
                  max_cycles: int = MAX_CYCLES, device: Device | None = None) -> Record:
    """Run a benchmark on a fresh device, or on one that is given, and check its result.

    A kernel that computes something else, or that does not come to its end, makes a record that says so.
    Raises :class:`~fgpu.errors.FgpuError` for a benchmark, size or configuration that there is not, and for a device
    that lacks what the benchmark needs.
    """
    if name not in EVERY:
        raise LaunchError(f"there is no benchmark {name!r}; choose from {', '.join(EVERY)}")
    benchmark = EVERY[name]
    given = device.config if device is not None else config or Config()
    config = benchmark.fitting(given)
    if device is not None:
        engine = device.engine
        if config != given:
            raise ConfigError(f"the device's core lacks what {name} needs: it is {given}, not {config}")
    problem = benchmark.problem(size, group_size=group_size, seed=seed)
    image = benchmark.image(config)
    counts: Counter[str] = Counter()
    stats: Counter[str] = Counter()
    seconds, cycles, failure = 0.0, 0, None
    with ExitStack() as after:
        if device is None:
            device = after.enter_context(Device(config, engine=engine, memory_latency=memory_latency))
        buffers = _place(device, problem)
        for buffer in buffers.values():
            after.callback(buffer.free)
        last = len(problem.steps) - 1
        try:
            for index, step in enumerate(problem.steps):
                run = device.launch(
                    image, step.kernel or benchmark.kernel, global_size=step.global_size,
                    local_size=step.local_size, global_offset=step.global_offset,
                    args=[buffers[arg] if isinstance(arg, str) else arg for arg in step.args],
                    initialize=index == 0, clean=index == last, max_cycles=max_cycles)
                counts.update(instructions=run.instructions, work_item_instructions=run.work_item_instructions)
                stats.update(run.stats)
                seconds += run.seconds
                cycles += run.cycles or 0
            found = (difference(name, buffers[name].read(), expected, problem.tolerance)
                     for name, expected in problem.expected.items())
            failure = next(filter(None, found), None)
        except FgpuError as error:
            failure = str(error)
    has_clock = engine != "functional" and failure is None
    return Record(
        kernel=name, size=size, cus=config.compute_units, engine=engine, seed=seed,
        group_size=max(math.prod(step.local_size) for step in problem.steps) if benchmark.without else group_size,
        launches=len(problem.steps), work_items=sum(math.prod(step.global_size) for step in problem.steps),
        cycles=cycles if has_clock else None, instructions=counts["instructions"],
        work_item_instructions=counts["work_item_instructions"], seconds=seconds, passed=failure is None,
        failure=failure, stats=dict(stats),
        reference_cycles=reference_cycles(name, size, config.compute_units, group_size),
        config=_parameters(config), version=version(), latency=fixed_latency(memory_latency))


def fixed_latency(latency: Latency | None) -> int | None:
    """Cycles that memory adds to each read; None where they vary."""
    least, greatest = memory_timing(latency).read_latency
    return least if least == greatest else None


def _parameters(config: Config) -> dict[str, Any]:
    values = {name: getattr(config, name) for name in (parameter.name for parameter in fields(Config))}
    return {name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in values.items() if value != getattr(Config(), name)}


@cache
def version() -> str:
    """The package's version, and a hash of all that makes cycles: hardware, test bench, compiler, kernels."""
    kernels = sorted(Path(__file__).parent.glob("kernels/*.cl"))
    return (f"{metadata.version('fgpu')}+"
            f"{digest([*bench_sources(), *kernels, compiler_version(), hardware_digest(None)])[:12]}")


def _place(device: Device, problem: Problem) -> dict[str, Buffer]:
    """Put the arrays at the addresses of the reference's measurements, where they alias in a small cache, unless the
    device's memory ends before."""
    spacing = REFERENCE_SPACING
    while spacing < max(array.nbytes for array in problem.arrays.values()):
        spacing *= 2
    end = MEMORY_BASE + spacing * max(len(problem.arrays), _OUTPUT_PLACE + 1)
    if end > device.memory.base + device.memory.size:
        return {name: device.buffer(array) for name, array in problem.arrays.items()}
    output = next(name for name in problem.arrays if name in problem.expected)
    places = {output: _OUTPUT_PLACE} if output != next(iter(problem.arrays)) else {}
    others = (place for place in count() if place not in places.values())
    return {name: device.buffer(array, address=MEMORY_BASE + spacing * (
                places[name] if name in places else next(others)))
            for name, array in problem.arrays.items()}


def difference(name: str, computed: np.ndarray, expected: np.ndarray, tolerance: float = 0.0) -> str | None:
    """Where an array, as far as it is expected, is wrong; None if it is right.

    ``tolerance`` is what floats may differ by, relative to what is expected, or to 1 where that is smaller.
    """
    computed = computed.reshape(-1)[:expected.size].reshape(expected.shape)
    if tolerance and expected.dtype.kind == "f":
        wrong = np.flatnonzero(~(abs(computed - expected) <= tolerance * np.maximum(abs(expected), 1)))
    else:
        wrong = np.flatnonzero(computed != expected)
    if not len(wrong):
        return None
    first = int(wrong[0])
    return (f"{len(wrong)} of {expected.size} elements of {name} are wrong; the first is {first}: "
            f"{computed.flat[first]} instead of {expected.flat[first]}")
