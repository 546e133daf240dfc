"""Benchmarks with local memory, each beside one that comes to the same result without.

Those of chapter 6 and the access patterns serve as the latter where they do the same.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.sim import LocalMemory

from . import matrices, vectors
from .benchmark import ELEMENTS, GROUP_SIZE, LARGE_TILE, Benchmark, Case, Problem, Shape, Step
from .growth import passes, sides, sorting, squared
from .patterns import transpose

__all__ = ["ALL", "CONFIG"]

CONFIG: Final = Config(local_memory=32, atomics=ATOMICS, float_ops=FLOAT_OPS)
"""The core on which they are compared. Those without local memory need atomic operations in global memory."""

_Make = Callable[[Case], Problem]

_SUMMED: Final = 16 * GROUP_SIZE
"""Elements that a work-group of ``sum_local`` adds."""
_SCANNED: Final = 8 * GROUP_SIZE
"""Elements of a block of ``scan_local``, eight a work-item."""
_EACH: Final = 8
"""Elements that a work-item of histograms and k-means takes."""
_ROWS: Final = 4
"""Of work-items in work-groups for 16 x 16 elements, where each has four."""
_BINS: Final = 256
_RADIUS: Final = 2
_CLUSTERS: Final = 8
_ITERATIONS: Final = 2
_REACH: Final = 1024
"""Coordinates of points are from 0 to below."""


def _words(count: int) -> LocalMemory:
    return LocalMemory(4 * count)


def _tiles(across: int, down: int, *args: str | int, kernel: str = "", rows: int = LARGE_TILE) -> Step:
    """A launch of so many work-groups of 16 x 16 work-items, or of so many ``rows``."""
    return Step((across * LARGE_TILE, down * rows), (LARGE_TILE, rows), args, kernel)


def _tiled(make: _Make, *arrays: str, rows: int = LARGE_TILE) -> _Make:
    """The same problem in one launch, a work-group for 16 x 16 elements; it has so many ``rows`` of work-items."""
    def made(case: Case) -> Problem:
        tiles = case.side // LARGE_TILE
        return replace(make(case), steps=(_tiles(tiles, tiles, *arrays, case.side, rows=rows),))
    return made


# -- of chapter 6 -------------------------------------------------------------------------------


def _sum(case: Case) -> Problem:
    data, count, steps, arrays = case.data(case.size), case.size, list[Step](), ("in", "first")
    while count > 1 or not steps:
        groups = -(-count // _SUMMED)
        steps.append(Step((groups * GROUP_SIZE,), (GROUP_SIZE,), (*arrays, count)))
        count, arrays = groups, (arrays[1], "second" if arrays[1] == "first" else "first")
    room = case.zeros(-(-case.size // _SUMMED))
    total = np.array([data.sum(dtype=data.dtype)])
    return Problem({"in": data, "first": room, "second": room}, {arrays[0]: total}, tuple(steps))


def _bitonic(case: Case) -> Problem:
    items = case.size // 2
    return replace(vectors.bitonic(case),
                   steps=(Step((items,), (items,), ("data", 1), f"bitonic_{case.size}"),))


def _fir(case: Case) -> Problem:
    problem = vectors.fir(case)
    [step] = problem.steps
    [group_size] = step.local_size
    room = _words(group_size + vectors.TAPS - 1)
    return replace(problem, steps=(replace(step, args=(*step.args, room)),))


def _fft(case: Case) -> Problem:
    problem, items = vectors.fft(case), case.size // 2
    [spectrum] = problem.expected.values()
    step = Step((items,), (items,), ("points", "other", "roots", _words(2 * case.size), _words(2 * case.size)))
    return replace(problem, expected={"other": spectrum}, steps=(step,))


def _nbody(case: Case) -> Problem:
    problem = vectors.nbody(case)
    pull, move = problem.steps
    [group_size] = pull.local_size
    return replace(problem, steps=(replace(pull, args=(*pull.args, _words(4 * group_size))), move))


def _floydwarshall(case: Case) -> Problem:
    n, tiles = case.side, case.side // LARGE_TILE
    steps = (step for k in range(tiles) for step in (
        _tiles(1, 1, "distances", n, k, kernel="floydwarshall_diagonal"),
        _tiles(tiles, 2, "distances", n, k, kernel="floydwarshall_cross"),
        _tiles(tiles, tiles, "distances", n, k, kernel="floydwarshall_rest")))
    return replace(matrices.floydwarshall(case), steps=tuple(steps))


# -- with and without ---------------------------------------------------------------------------


def _scan(case: Case) -> Problem:
    """By passes of twice the distance each."""
    data, steps, arrays, distance = case.data(case.size), list[Step](), ("in", "one"), 1
    while distance < case.size or not steps:
        steps.append(case.line(*arrays, distance))
        distance, arrays = 2 * distance, (arrays[1], "two" if arrays[1] == "one" else "one")
    return Problem({"in": data, "one": np.zeros_like(data), "two": np.zeros_like(data)},
                   {arrays[0]: np.cumsum(data, dtype=data.dtype)}, tuple(steps))


def _scan_local(case: Case) -> Problem:
    data, blocks = case.data(case.size), -(-case.size // _SCANNED)
    room = case.zeros(-(-blocks // 8) * 8)
    steps = [Step((blocks * GROUP_SIZE,), (GROUP_SIZE,), ("in", "out", "totals", case.size))]
    if blocks > 1:
        steps.append(Step((GROUP_SIZE,), (GROUP_SIZE,), ("totals", "before", "total", len(room))))
        steps.append(Step((case.size - _SCANNED,), (case.group_size,), ("out", "before"), "scan_add", (_SCANNED,)))
    return Problem({"in": data, "out": np.zeros_like(data), "totals": room, "before": room, "total": case.zeros(1)},
                   {"out": np.cumsum(data, dtype=data.dtype)}, tuple(steps))


def _items(case: Case) -> int:
    """Work-items of histograms and k-means."""
    return max(case.size // _EACH, 1)


def _counted(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, and how often each one is there."""
    data = case.below(_BINS, case.size)
    return data, np.bincount(data, minlength=_BINS).astype(data.dtype)


def _histogram(case: Case) -> Problem:
    data, counts = _counted(case)
    return Problem({"in": data, "bins": np.zeros_like(counts)}, {"bins": counts},
                   (case.line("in", "bins", case.size, items=_items(case)),))


def _histogram_local(case: Case) -> Problem:
    data, counts = _counted(case)
    groups = -(-_items(case) // _BINS)
    steps = (Step((groups * _BINS,), (_BINS,), ("in", "found", case.size)),
             case.line("found", "bins", groups, items=_BINS, kernel="histogram_merge"))
    return Problem({"in": data, "bins": np.zeros_like(counts), "found": case.zeros(groups * _BINS)},
                   {"bins": counts}, steps)


def _convolution(case: Case) -> Problem:
    n, window = case.side, 2 * _RADIUS + 1
    image, weights = case.data(n + 2 * _RADIUS, n + 2 * _RADIUS), case.data(window, window)
    expected = np.zeros((n, n), case.element.lane)
    for (y, x), weight in np.ndenumerate(weights):
        expected += image[y:y + n, x:x + n] * weight
    return Problem({"in": image, "weights": weights, "out": np.zeros_like(expected)}, {"out": expected},
                   (case.square("in", "weights", "out", n),))


def _kmeans(case: Case, group_size: int, items: int, groups: int) -> Problem:
    """A number of steps, by so many work-items, which leave sums of so many ``groups``."""
    points = case.below(_REACH, case.size, 2)
    centres = expected = points[:_CLUSTERS].copy()
    nearest = np.zeros(case.size, np.uint32)
    for _ in range(_ITERATIONS):
        nearest = ((points[:, None] - expected) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint32)
        members = [points[nearest == cluster] for cluster in range(_CLUSTERS)]
        expected = np.array([own.sum(axis=0) // len(own) if len(own) else old
                             for own, old in zip(members, expected, strict=True)], points.dtype)
    steps = (Step((items,), (group_size,), ("points", "centres", "nearest", "sums", case.size)),
             Step((_CLUSTERS,), (_CLUSTERS,), ("centres", "sums", groups), "kmeans_move"))
    return Problem({"points": points, "nearest": np.zeros_like(nearest), "centres": centres,
                    "sums": case.zeros(groups * 3 * _CLUSTERS)},
                   {"nearest": nearest, "centres": expected}, steps * _ITERATIONS)


def _kmeans_plain(case: Case) -> Problem:
    return _kmeans(case, math.gcd(_items(case), case.group_size), _items(case), 1)


def _kmeans_local(case: Case) -> Problem:
    groups = -(-_items(case) // GROUP_SIZE)
    return _kmeans(case, GROUP_SIZE, groups * GROUP_SIZE, groups)


def _mergesort(case: Case) -> Problem:
    data, steps, arrays, length = case.data(case.size), list[Step](), ("data", "other"), 1
    while length < case.size:
        steps.append(case.line(*arrays, length))
        length, arrays = 2 * length, arrays[::-1]
    return Problem({"data": data, "other": np.zeros_like(data)}, {arrays[0]: np.sort(data)}, tuple(steps))


def _mergesort_local(case: Case) -> Problem:
    data = case.data(case.size)
    return Problem({"data": data}, {"data": np.sort(data)},
                   (Step((case.size,), (case.size,), ("data", _words(2 * case.size))),))


# -- the benchmarks -----------------------------------------------------------------------------

_UNSIGNED, _REAL = ELEMENTS["uint"], ELEMENTS["float"]
_LOCAL: Final = ("-DLOCAL",)


def _all() -> Iterator[Benchmark]:
    yield Benchmark(name="matmul_local", without="matmul", summary="c = a * b in tiles of 16 x 16",
                    sizes=(1024, 4096), make=_tiled(matrices.matmul, "a", "b", "c", rows=_ROWS), shape=Shape.TILES,
                    growth=sides)
    yield Benchmark(name="sum_local", without="sum", summary="sum of all elements, each launch leaves one of 1024",
                    sizes=(1024, 4096), make=_sum, atomic=True)
    scan = Benchmark(name="scan", summary="inclusive prefix sums, a launch a pass", sizes=(1024, 4096), make=_scan,
                     growth=passes)
    yield scan
    yield replace(scan, name="scan_local", without="scan", kernel="scan", options=_LOCAL, make=_scan_local,
                  growth=float, summary="inclusive prefix sums in blocks of 512", most=_SCANNED ** 2)
    histogram = Benchmark(name="histogram", summary="counts of 256 numbers, atomic", sizes=(4096, 16384),
                          make=_histogram, atomic=True, element=_UNSIGNED)
    yield histogram
    yield replace(histogram, name="histogram_local", without="histogram", kernel="histogram", options=_LOCAL,
                  make=_histogram_local, summary="counts of 256 numbers, of each work-group and of all")
    yield Benchmark(name="bitonic_local", without="bitonic", summary="bitonic sort of a block", sizes=(256, 512),
                    make=_bitonic, shape=Shape.POWER, growth=sorting, element=_UNSIGNED, fixed=True)
    yield Benchmark(name="transpose_local", without="transpose", summary="n x n matrix in tiles of 16 x 16",
                    sizes=(4096, 16384), make=_tiled(transpose, "in", "out", rows=_ROWS), shape=Shape.TILES)
    yield Benchmark(name="fir_local", without="fir", summary=f"FIR filter of {vectors.TAPS} taps, with a halo",
                    sizes=(1024, 4096), make=_fir)
    convolution = Benchmark(name="convolution", summary="n x n image with 5 x 5 weights", sizes=(1024, 4096),
                            make=_convolution, shape=Shape.SQUARE)
    yield convolution
    yield replace(convolution, name="convolution_local", without="convolution", kernel="convolution", options=_LOCAL,
                  make=_tiled(_convolution, "in", "weights", "out", rows=_ROWS), shape=Shape.TILES,
                  summary="n x n image with 5 x 5 weights, in tiles of 16 x 16 with a halo")
    yield Benchmark(name="fft_local_float", kernel="fft_local", without="fft_float", summary="radix-2 FFT of a block",
                    sizes=(256, 1024), make=_fft, shape=Shape.POWER, growth=passes, element=_REAL, most=1024)
    yield Benchmark(name="nbody_local_float", kernel="nbody_local", without="nbody_float", sizes=(256, 512),
                    summary="a step of bodies under gravity, a work-group's bodies at a time", make=_nbody,
                    growth=squared, element=_REAL)
    kmeans = Benchmark(name="kmeans", summary="two steps of k-means, eight clusters in the plane, atomic",
                       sizes=(1024, 4096), make=_kmeans_plain, atomic=True)
    yield kmeans
    yield replace(kmeans, name="kmeans_local", without="kmeans", kernel="kmeans", options=_LOCAL, make=_kmeans_local,
                  summary="two steps of k-means, sums of each work-group and of all")
    yield Benchmark(name="floydwarshall_local", kernel="floydwarshall_local", without="floydwarshall",
                    summary="shortest paths in blocks of 16 x 16", sizes=(1024, 4096), make=_floydwarshall,
                    shape=Shape.TILES, growth=sides)
    mergesort = Benchmark(name="mergesort", summary="merge sort, a launch a pass", sizes=(256, 512), make=_mergesort,
                          shape=Shape.POWER, growth=sorting, element=_UNSIGNED)
    yield mergesort
    yield replace(mergesort, name="mergesort_local", without="mergesort", kernel="mergesort", options=_LOCAL,
                  make=_mergesort_local, summary="merge sort of a block", most=512)


ALL: Final = tuple(_all())
"""Those with local memory, and those without that are in no other suite."""
