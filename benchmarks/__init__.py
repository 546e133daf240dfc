"""Benchmark kernels with their data, their right answers and the reference design's cycles."""

from .floats import FLOATS
from .patterns import EVERY, PATTERNS
from .record import Record, run_benchmark
from .reference import reference_cycles
from .registry import BENCHMARKS, Benchmark, Problem, Step

__all__ = [
    "BENCHMARKS", "EVERY", "FLOATS", "PATTERNS", "Benchmark", "Problem", "Record", "Step", "reference_cycles",
    "run_benchmark",
]
