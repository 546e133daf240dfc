"""Problems on n x n elements: matrices, graphs, images. Right answers are NumPy's, in the kernels' order."""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from .benchmark import GROUP_SIZE, TILE, Case, Problem, Step

__all__ = ["compass", "floydwarshall", "lu", "matmul", "median", "sharpen", "sobel", "sobel_float"]

_LEVELS: Final = 256
"""Values of a pixel, from 0."""
_RING: Final = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))
"""The neighbours of a pixel, as rows and columns, from the top left one clockwise."""


def matmul(case: Case) -> Problem:
    """The product of two square matrices, an element each."""
    n = case.side
    a, b = case.data(n, n), case.data(n, n)
    expected = np.zeros((n, n), case.element.wide)
    for k in range(n):
        expected += case.wide(a[:, k:k + 1]) * case.wide(b[k:k + 1, :])
    return Problem({"a": a, "b": b, "c": np.zeros_like(a)}, {"c": case.narrow(expected)},
                   (case.square("a", "b", "c", n),))


def floydwarshall(case: Case) -> Problem:
    """All shortest paths of a graph, a launch for each vertex on the way."""
    n = case.side
    # No sum of two distances leaves the type.
    distances = case.below(1 if case.element.is_float else np.iinfo(case.element.lane).max // 2, n, n)
    expected = distances
    for k in range(n):
        expected = np.minimum(expected, expected[:, k:k + 1] + expected[k:k + 1, :])
    return Problem({"distances": distances}, {"distances": expected},
                   tuple(case.square("distances", n, k) for k in range(n)))


def lu(case: Case) -> Problem:
    """Without pivots: the diagonal dominates. L, without its ones, and U take the place of the matrix."""
    n = case.side
    matrix = case.data(n, n)
    matrix[np.diag_indices(n)] = 1 + abs(matrix).sum(axis=1)
    expected, steps = matrix.copy(), list[Step]()
    for k in range(n - 1):
        expected[k + 1:, k] /= expected[k, k]
        expected[k + 1:, k + 1:] -= expected[k + 1:, k:k + 1] * expected[k:k + 1, k + 1:]
        # Work-groups before element k + 1 have nothing to do.
        first = (k + 1) // TILE * TILE
        rows, corner = (n - first,), (n - first, n - first)
        steps.append(Step(rows, (TILE,), ("matrix", n, k), "lu_divide", (first,)))
        steps.append(Step(corner, (TILE, TILE), ("matrix", n, k), "lu_subtract", (first, first)))
    return Problem({"matrix": matrix}, {"matrix": expected}, tuple(steps))


# -- images: a pixel a work-item; the input has a border ----------------------------------------


def _filter(outputs: tuple[str, ...], window: int, compute: Callable[[np.ndarray], tuple[np.ndarray, ...]],
            pixel: type | None = None) -> Callable[[Case], Problem]:
    """``compute`` gets the pixels around each one, as window x window arrays of n x n."""
    def make(case: Case) -> Problem:
        n, border = case.side, window // 2
        image = case.below(_LEVELS, n + 2 * border, n + 2 * border) if pixel is None \
            else case.rng.integers(0, _LEVELS, (n + 2 * border, n + 2 * border)).astype(pixel)
        around = np.array([[image[y:y + n, x:x + n] for x in range(window)] for y in range(window)])
        results = dict(zip(outputs, map(case.narrow, compute(case.wide(around))), strict=True))
        return Problem({"in": image, **{name: np.zeros_like(array) for name, array in results.items()}}, results,
                       (Step((n, n), _rows(n), ("in", *outputs, n)),))
    return make


def _rows(n: int) -> tuple[int, int]:
    """Work-groups as wide as can be: a wavefront reads and writes neighbours, in few rows of the cache."""
    width = math.gcd(n, GROUP_SIZE)
    return width, GROUP_SIZE // width


def _gradients(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    two = p.dtype.type(2)
    across = (p[0, 2] - p[0, 0]) + two * (p[1, 2] - p[1, 0]) + (p[2, 2] - p[2, 0])
    down = (p[2, 0] - p[0, 0]) + two * (p[2, 1] - p[0, 1]) + (p[2, 2] - p[0, 2])
    return across, down


def _sobel(p: np.ndarray) -> tuple[np.ndarray, ...]:
    across, down = _gradients(p)
    if p.dtype.kind == "f":
        return (np.sqrt(across * across + down * down),)
    return (abs(across) + abs(down),)


def _compass(p: np.ndarray) -> tuple[np.ndarray, ...]:
    ring = [p[place] for place in _RING]
    edges = np.array([sum(weight * ring[(d + k) % 8] for k, weight in enumerate((1, 2, 1, 0, -1, -2, -1)))
                      for d in range(8)])
    return edges.max(axis=0), edges.argmax(axis=0)


def _median(p: np.ndarray) -> tuple[np.ndarray, ...]:
    return (np.median(p.reshape(9, *p.shape[2:]), axis=0),)


def _sharpen(p: np.ndarray) -> tuple[np.ndarray, ...]:
    total = 3 * p[1:4, 1:4].sum(axis=(0, 1)) + 6 * p[2, 2] - p.sum(axis=(0, 1))
    return (np.clip(total >> 3, 0, _LEVELS - 1),)


sobel = _filter(("out",), 3, _sobel)
sobel_float = _filter(("out",), 3, _sobel, np.uint32)
compass = _filter(("amplitude", "angle"), 3, _compass)
median = _filter(("out",), 3, _median)
sharpen = _filter(("out",), 5, _sharpen)
