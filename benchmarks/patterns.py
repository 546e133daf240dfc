"""Access patterns: kernels that do little but reach memory in an awkward order. Sizes are work-items."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from .floats import FLOATS
from .registry import BENCHMARKS, TILE, Benchmark, Problem, Step, groups, numbers, side

__all__ = ["EVERY", "PATTERNS"]

_Make = Callable[[int, int, np.random.Generator], Problem]


def _strided(stride: int) -> _Make:
    def make(size: int, group_size: int, rng: np.random.Generator) -> Problem:
        source = numbers(rng, size * stride)
        expected = np.zeros_like(source)
        expected[::stride] = source[::stride]
        step = Step((size,), groups(f"stride{stride}", size, group_size), ("in", "out", stride))
        return Problem({"in": source, "out": np.zeros_like(source)}, "out", expected, (step,))
    return make


def _reverse(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    source = numbers(rng, size)
    step = Step((size,), groups("reverse", size, group_size), ("in", "out", size - 1))
    return Problem({"in": source, "out": np.zeros_like(source)}, "out", source[::-1], (step,))


def _gather(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    source, index = numbers(rng, size), rng.integers(0, size, size, dtype=np.uint32)
    step = Step((size,), groups("gather", size, group_size), ("in", "index", "out"))
    return Problem({"in": source, "index": index, "out": np.zeros_like(source)}, "out", source[index], (step,))


def _scatter(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    source, index = numbers(rng, size), rng.permutation(size).astype(np.uint32)
    expected = np.empty_like(source)
    expected[index] = source
    step = Step((size,), groups("scatter", size, group_size), ("in", "index", "out"))
    return Problem({"in": source, "index": index, "out": np.zeros_like(source)}, "out", expected, (step,))


def _broadcast(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    source = numbers(rng, 1)
    step = Step((size,), groups("broadcast", size, group_size), ("in", "out"))
    return Problem({"in": source, "out": np.zeros(size, np.int32)}, "out", source.repeat(size), (step,))


def _transpose(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    n = side("transpose", size)
    source = numbers(rng, n, n)
    step = Step((n, n), (TILE, TILE), ("in", "out", n))
    return Problem({"in": source, "out": np.zeros_like(source)}, "out", source.T, (step,))


def _char_copy(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    source = rng.integers(-128, 128, size, dtype=np.int8)
    step = Step((size,), groups("char_copy", size, group_size), ("in", "out"))
    return Problem({"in": source, "out": np.zeros_like(source)}, "out", source, (step,))


_SIZES: Final = (1024, 4096)
_ALL = (
    Benchmark(name="stride2", kernel="strided", summary="copy of each second word", sizes=_SIZES, make=_strided(2)),
    Benchmark(name="stride32", kernel="strided", summary="copy of a word of each 128-byte line", sizes=_SIZES,
              make=_strided(32)),
    Benchmark(name="reverse", summary="out[i] = in[n - 1 - i]", sizes=_SIZES, make=_reverse),
    Benchmark(name="gather", summary="out[i] = in[index[i]], random", sizes=_SIZES, make=_gather),
    Benchmark(name="scatter", summary="out[index[i]] = in[i], a random permutation", sizes=_SIZES, make=_scatter),
    Benchmark(name="broadcast", summary="out[i] = in[0]", sizes=_SIZES, make=_broadcast),
    Benchmark(name="transpose", summary="n x n matrix of size n * n, a word a work-item", sizes=_SIZES,
              make=_transpose, group_sizes=(TILE * TILE,)),
    Benchmark(name="char_copy", summary="copy, a byte a work-item", sizes=_SIZES, make=_char_copy),
)

PATTERNS: Final[Mapping[str, Benchmark]] = {benchmark.name: benchmark for benchmark in _ALL}
"""The access patterns by name."""
EVERY: Final[Mapping[str, Benchmark]] = {**BENCHMARKS, **PATTERNS, **FLOATS}
"""All benchmarks and access patterns by name."""
