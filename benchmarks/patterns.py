"""Access patterns: kernels that do little but reach memory in an awkward order. Sizes are work-items."""

from collections.abc import Callable
from typing import Final

import numpy as np

from .benchmark import Benchmark, Case, Problem, Shape

__all__ = ["ALL", "transpose"]

_SIZES: Final = (1024, 4096)
_ROW: Final = 64
"""Words that a work-item adds up."""


def _one(case: Case, source: np.ndarray, expected: np.ndarray, *args: int) -> Problem:
    """Input, output and one launch of one dimension."""
    return Problem({"in": source, "out": np.zeros_like(expected)}, {"out": expected},
                   (case.line("in", "out", *args),))


def _strided(stride: int) -> Callable[[Case], Problem]:
    def make(case: Case) -> Problem:
        source = case.data(case.size * stride)
        expected = np.zeros_like(source)
        expected[::stride] = source[::stride]
        return _one(case, source, expected, stride)
    return make


def _reverse(case: Case) -> Problem:
    source = case.data(case.size)
    return _one(case, source, source[::-1], case.size - 1)


def _broadcast(case: Case) -> Problem:
    source = case.data(1)
    return _one(case, source, source.repeat(case.size))


def _indexed(case: Case, index: np.ndarray, source: np.ndarray, expected: np.ndarray) -> Problem:
    return Problem({"in": source, "index": index, "out": np.zeros_like(source)}, {"out": expected},
                   (case.line("in", "index", "out"),))


def _gather(case: Case) -> Problem:
    source, index = case.data(case.size), case.rng.integers(0, case.size, case.size, dtype=np.uint32)
    return _indexed(case, index, source, source[index])


def _scatter(case: Case) -> Problem:
    source, index = case.data(case.size), case.rng.permutation(case.size).astype(np.uint32)
    expected = np.empty_like(source)
    expected[index] = source
    return _indexed(case, index, source, expected)


def _row_sum(case: Case) -> Problem:
    source = case.data(case.size, _ROW)
    return _one(case, source, source.sum(axis=1, dtype=source.dtype), _ROW)


def transpose(case: Case) -> Problem:
    """The columns as rows."""
    source = case.data(case.side, case.side)
    return Problem({"in": source, "out": np.zeros_like(source)}, {"out": source.T},
                   (case.square("in", "out", case.side),))


ALL: Final = (
    Benchmark(name="stride2", kernel="strided", summary="copy of each second word", sizes=_SIZES, make=_strided(2)),
    Benchmark(name="stride32", kernel="strided", summary="copy of a word of each 128-byte line", sizes=_SIZES,
              make=_strided(32)),
    Benchmark(name="reverse", summary="out[i] = in[n - 1 - i]", sizes=_SIZES, make=_reverse),
    Benchmark(name="gather", summary="out[i] = in[index[i]], random", sizes=_SIZES, make=_gather),
    Benchmark(name="scatter", summary="out[index[i]] = in[i], a random permutation", sizes=_SIZES, make=_scatter),
    Benchmark(name="broadcast", summary="out[i] = in[0]", sizes=_SIZES, make=_broadcast),
    Benchmark(name="row_sum", summary=f"out[i] = sum of the {_ROW} words of row i", sizes=_SIZES, make=_row_sum),
    Benchmark(name="transpose", summary="n x n matrix of size n * n, a word a work-item", sizes=_SIZES,
              make=transpose, shape=Shape.SQUARE),
)
"""The access patterns."""
