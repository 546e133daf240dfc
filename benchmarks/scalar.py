"""Benchmarks on a scalar soft processor, with the FGPU's kernels as plain C in loops over all work-items."""

import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from fgpu.compiler.image import Kernel
from fgpu.config import ATOMICS, Config
from fgpu.errors import FgpuError, LaunchError
from fgpu.sim import LocalMemory
from fgpu.sim.device import Latency, memory_timing
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.scalar import DATA_BASE, Launches, compile_program, run_program

from .benchmark import Benchmark, Problem, Step
from .record import Record, difference, fixed_latency, version
from .registry import EVERY

__all__ = ["SCALAR", "run_scalar", "runs_on_scalar"]

SCALAR = "scalar"
"""The engine's name in records."""
_SPACE = 4096 + 0x540
"""Bytes between arrays beside whole pages: they do not meet in the processor's cache."""


def runs_on_scalar(benchmark: Benchmark) -> bool:
    """Atomic operations, vectors and local memory have nothing there that their plain forms have not."""
    return not benchmark.atomic and not benchmark.without and benchmark.element.lanes == 1


def run_scalar(name: str, size: int, *, seed: int = 0, memory_latency: Latency | None = None,
               max_cycles: int = 1_000_000_000) -> Record:
    """Run a benchmark and check its result.

    Raises :class:`~fgpu.errors.FgpuError` for a benchmark or size that there is not.
    """
    benchmark = EVERY[name]
    if not runs_on_scalar(benchmark):
        raise LaunchError(f"{name} does not run on the scalar processor; take its plain form")
    problem = _sequential(benchmark, benchmark.problem(size, seed=seed))
    memory, addresses = GlobalMemory(DATA_BASE), dict[str, int]()
    place = DATA_BASE
    for array, content in problem.arrays.items():
        memory.view(place, content.nbytes)[:] = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
        addresses[array], place = place, place + -(-content.nbytes // 4096) * 4096 + _SPACE
    kernels = {kernel.name: kernel for kernel in _kernels(benchmark)}
    program = _program(benchmark.source, benchmark.element.options + benchmark.options, tuple(kernels.values()))
    names = list(kernels)
    launches = Launches(
        tuple(names.index(step.kernel or benchmark.kernel) for step in problem.steps),
        tuple(_ranges(step) for step in problem.steps),
        tuple(tuple(addresses[arg] if isinstance(arg, str) else _word(arg) for arg in step.args)
              for step in problem.steps))
    started, cycles, failure = time.perf_counter(), 0, None
    try:
        cycles = run_program(program, launches, memory, timing=memory_timing(memory_latency), max_cycles=max_cycles)
        for array, expected in problem.expected.items():
            computed = memory.view(addresses[array], expected.nbytes).view(expected.dtype)
            failure = failure or difference(array, computed, expected)
    except FgpuError as error:
        failure = str(error)
    return Record(
        kernel=name, size=size, cus=1, group_size=1, engine=SCALAR, seed=seed, launches=len(problem.steps),
        work_items=0, cycles=None if failure else cycles, instructions=0, work_item_instructions=0,
        seconds=time.perf_counter() - started, passed=failure is None, failure=failure, version=version(),
        latency=fixed_latency(memory_latency))


def _sequential(benchmark: Benchmark, problem: Problem) -> Problem:
    """A reduction in one launch of one work-item, where the order does not change the result."""
    if benchmark.kernel != "reduce" or benchmark.element.is_float:
        return problem
    [expected] = problem.expected.values()
    return replace(problem, expected={"first": expected},
                   steps=(replace(problem.steps[0], global_size=(1,), local_size=(1,)),))


def _ranges(step: Step) -> tuple[int, int, int, int]:
    sizes, first = (*step.global_size, 1), (*(step.global_offset or (0, 0)), 0)
    return first[0], first[0] + sizes[0], first[1], first[1] + sizes[1]


def _word(value: int | float | LocalMemory) -> int:
    assert not isinstance(value, LocalMemory), "runs_on_scalar"
    return int(np.float32(value).view(np.uint32)) if isinstance(value, float) else int(value) % (1 << 32)


def _kernels(benchmark: Benchmark) -> list[Kernel]:
    return list(benchmark.image(Config(atomics=ATOMICS)).kernels.values())


@lru_cache(maxsize=256)
def _program(source: Path, options: tuple[str, ...], kernels: tuple[Kernel, ...]) -> bytes:
    return compile_program(source.read_text(encoding="utf-8"), kernels, options)
