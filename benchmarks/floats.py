"""Floating-point benchmarks: the right answers are NumPy's, computed in the kernels' order of operations."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from fgpu.errors import LaunchError

from .registry import TILE, Benchmark, Problem, Step, groups, side

__all__ = ["FLOATS"]

_TAPS: Final = 12
_SOFTENING: Final = 0.0625
_ZERO: Final = np.float32(0)


def _numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of both signs, of different magnitudes."""
    return (rng.standard_normal(shape) * 2.0 ** rng.integers(-8, 9, shape)).astype(np.float32)


def _elementwise(name: str, operation: np.ufunc) -> Callable[[int, int, np.random.Generator], Problem]:
    def make(size: int, group_size: int, rng: np.random.Generator) -> Problem:
        a, b = _numbers(rng, size), _numbers(rng, size)
        step = Step((size,), groups(name, size, group_size), ("a", "b", "out"))
        return Problem({"a": a, "b": b, "out": np.zeros_like(a)}, "out", operation(a, b), (step,))
    return make


def _fir(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    samples, coefficients = _numbers(rng, size + _TAPS - 1), _numbers(rng, _TAPS)
    expected = np.zeros(size, np.float32)
    for tap, coefficient in enumerate(coefficients):
        expected = expected + samples[tap:tap + size] * coefficient
    step = Step((size,), groups("fir_float", size, group_size), ("in", "coeff", "out", _TAPS))
    return Problem({"in": samples, "coeff": coefficients, "out": np.zeros_like(expected)}, "out", expected, (step,))


def _matmul(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    n = side("matmul_float", size)
    a, b = _numbers(rng, n, n), _numbers(rng, n, n)
    expected = np.zeros_like(a)
    for k in range(n):
        expected = expected + a[:, k:k + 1] * b[k:k + 1, :]
    step = Step((n, n), (TILE, TILE), ("a", "b", "c", n))
    return Problem({"a": a, "b": b, "c": np.zeros_like(a)}, "c", expected, (step,))


def _bitonic(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    if size < 2 or size & (size - 1):
        raise LaunchError(f"bitonic_float: the size {size} is not a power of two of at least 2")
    data, items = _numbers(rng, size), size // 2
    steps = tuple(Step((items,), (min(items, group_size),), ("data", stage, number, 1))
                  for stage in range(size.bit_length() - 1) for number in range(stage + 1))
    return Problem({"data": data}, "data", np.sort(data), steps)


def _floydwarshall(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    n = side("floydwarshall_float", size)
    distances = rng.random((n, n), np.float32)
    expected = distances
    for k in range(n):
        expected = np.minimum(expected, expected[:, k:k + 1] + expected[k:k + 1, :])
    steps = tuple(Step((n, n), (TILE, TILE), ("distances", n, k)) for k in range(n))
    return Problem({"distances": distances}, "distances", expected, steps)


def _nbody(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    bodies = rng.random((size, 4), np.float32)
    expected = np.zeros((size, 3), np.float32)
    for body in bodies:
        way = body[:3] - bodies[:, :3]
        squares = way * way
        square = squares[:, 0] + squares[:, 1] + squares[:, 2] + np.float32(_SOFTENING)
        expected = expected + way * (body[3] / (square * np.sqrt(square)))[:, None]
    step = Step((size,), groups("nbody_float", size, group_size), ("bodies", "out", size, _SOFTENING))
    return Problem({"bodies": bodies, "out": np.zeros_like(expected)}, "out", expected, (step,))


_SIZES: Final = (256, 1024)
_ALL = (
    Benchmark(name="vec_add_float", summary="out = a + b", sizes=_SIZES, make=_elementwise("vec_add_float", np.add)),
    Benchmark(name="vec_mul_float", summary="out = a * b", sizes=_SIZES,
              make=_elementwise("vec_mul_float", np.multiply)),
    Benchmark(name="div_float", summary="out = a / b", sizes=_SIZES, make=_elementwise("div_float", np.divide)),
    Benchmark(name="fir_float", summary=f"FIR filter of {_TAPS} taps", sizes=_SIZES, make=_fir),
    Benchmark(name="matmul_float", summary="c = a * b, n x n matrices of size n * n", sizes=_SIZES, make=_matmul,
              group_sizes=(TILE * TILE,)),
    Benchmark(name="bitonic_float", summary="bitonic sort, a launch a pass", sizes=(256,), make=_bitonic),
    Benchmark(name="floydwarshall_float", summary="shortest paths, a launch a node, size n * n", sizes=(256,),
              make=_floydwarshall, group_sizes=(TILE * TILE,)),
    Benchmark(name="nbody_float", summary="accelerations by gravity", sizes=(64, 256), make=_nbody),
)

FLOATS: Final[Mapping[str, Benchmark]] = {benchmark.name: benchmark for benchmark in _ALL}
"""The floating-point benchmarks by name."""
