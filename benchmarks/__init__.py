"""Benchmark kernels with their data, their right answers and the reference design's cycles."""

from fgpu.extras import demand

demand("fgpu.benchmarks", "sim")

# ruff: noqa: E402
from .benchmark import Benchmark, Problem, Step
from .record import Record, run_benchmark
from .reference import reference_cycles
from .registry import BENCHMARKS, CHAPTER6, DIVERGENCE, EVERY, FLOATS, PATTERNS, SUITES, WORK_GROUPS

__all__ = [
    "BENCHMARKS", "CHAPTER6", "DIVERGENCE", "EVERY", "FLOATS", "PATTERNS", "SUITES", "WORK_GROUPS", "Benchmark",
    "Problem", "Record", "Step", "reference_cycles", "run_benchmark",
]
