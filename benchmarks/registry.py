"""The benchmarks by name: those of the dissertation's chapter 6 (table 6.1) with their variants, and access patterns.

One source serves all element types; a variant's name ends with its type: ``fir``, ``fir_char``, ``fir_float``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from . import matrices, vectors
from .benchmark import ELEMENTS, Benchmark, Case, Problem, Shape
from .divergence import ALL as _DIVERGENCE
from .growth import passes, sides, sorting, squared
from .patterns import ALL as _PATTERNS
from .work_groups import ALL as _WORK_GROUPS

__all__ = ["BENCHMARKS", "CHAPTER6", "DIVERGENCE", "EVERY", "FLOATS", "PATTERNS", "SUITES", "WORK_GROUPS"]

_ADD, _MAX, _MIN = "-DCOMBINE(a,b)=(a+b)", "-DCOMBINE(a,b)=(a>b?a:b)", "-DCOMBINE(a,b)=(a<b?a:b)"
_NARROW = "short char"
_VECTORS = f"{_NARROW} short2 char4"


def _variants(base: Benchmark, types: str) -> Iterator[Benchmark]:
    """The benchmark and its variants for other element types."""
    yield base
    for type in types.split():
        yield replace(base, name=f"{base.name}_{type}", element=ELEMENTS[type])


def _reduction(name: str, combine: np.ufunc, option: str) -> Iterator[Benchmark]:
    yield from _variants(
        Benchmark(name=name, kernel="reduce", summary=f"{name} of all elements, each launch leaves a quarter",
                  make=vectors.reduction(combine), options=(option,)), f"{_VECTORS} float")


def _atomic(name: str, make: Callable[[Case], Problem], operation: str, *options: str) -> Benchmark:
    return Benchmark(name=f"{name}_atomic", kernel="reduce", summary=f"{name} in one launch, atomic", make=make,
                     options=(f"-DATOMIC={operation}", *options), atomic=True)


def _chapter6() -> Iterator[Benchmark]:
    yield from _variants(Benchmark(name="copy", summary="out = in, an element a work-item", make=vectors.copy),
                         _VECTORS)
    yield from _variants(Benchmark(name="vec_add", summary="out = a + b", make=vectors.elementwise(np.add)),
                         f"{_VECTORS} float")
    yield from _variants(Benchmark(name="vec_mul", summary="out = a * b", make=vectors.elementwise(np.multiply)),
                         f"{_VECTORS} float")
    yield from _variants(Benchmark(name="fir", summary=f"FIR filter of {vectors.TAPS} taps", make=vectors.fir),
                         f"{_NARROW} float")
    yield from _variants(
        Benchmark(name="matmul", summary="c = a * b, n x n matrices of size n * n", make=matrices.matmul,
                  shape=Shape.SQUARE, growth=sides), f"{_NARROW} float")
    bitonic = Benchmark(name="bitonic", summary="bitonic sort, a launch a pass", sizes=(256,), make=vectors.bitonic,
                        shape=Shape.POWER, growth=sorting, element=ELEMENTS["uint"])
    yield from _variants(bitonic, "ushort uchar float")
    yield from _variants(Benchmark(name="div", summary="out = in / number", make=vectors.divide), f"{_NARROW} float")
    yield from _variants(
        Benchmark(name="xcorr", summary="sliding dot product of two vectors", make=vectors.xcorr, growth=squared),
        f"{_NARROW} float")
    yield from _variants(
        Benchmark(name="selection", summary="sort: a work-item reads all and writes one", make=vectors.selection,
                  growth=squared), f"{_NARROW} float")
    yield from _reduction("max", np.maximum, _MAX)
    yield from _reduction("min", np.minimum, _MIN)
    yield from _reduction("sum", np.add, _ADD)
    yield from _variants(
        Benchmark(name="ac_power", kernel="reduce", summary="sum of squares of distances from a number",
                  make=vectors.ac_power, options=("-DPOWER", _ADD)), f"{_NARROW} float")
    limits = np.iinfo(np.int32)
    yield _atomic("max", vectors.atomic_reduction(np.maximum, limits.min), "atomic_max", _MAX)
    yield _atomic("min", vectors.atomic_reduction(np.minimum, limits.max), "atomic_min", _MIN)
    yield _atomic("sum", vectors.atomic_reduction(np.add, 0), "atomic_add", _ADD)
    yield _atomic("ac_power", vectors.atomic_ac_power, "atomic_add", _ADD, "-DPOWER")
    yield from _images()
    yield from _variants(
        Benchmark(name="floydwarshall", summary="shortest paths, a launch a node, size n * n", sizes=(256,),
                  make=matrices.floydwarshall, shape=Shape.SQUARE, growth=sides), f"{_NARROW} float")
    real = ELEMENTS["float"]
    yield Benchmark(name="ludecomposition_float", kernel="lu", summary="L and U of a matrix, size n * n",
                    sizes=(256,), make=matrices.lu, shape=Shape.SQUARE, growth=sides, element=real)
    yield Benchmark(name="fft_float", kernel="fft", summary="radix-2 FFT of complex numbers, a launch a pass",
                    make=vectors.fft, shape=Shape.POWER, growth=passes, element=real)
    yield Benchmark(name="nbody_float", kernel="nbody", summary="a step of bodies under gravity", sizes=(64, 256),
                    make=vectors.nbody, growth=squared, element=real)


def _images() -> Iterator[Benchmark]:
    for name, summary, make in (
            ("sobel", "edges: amplitude", matrices.sobel),
            ("compass", "edges: amplitude and angle", matrices.compass),
            ("median", "3 x 3 median", matrices.median), ("sharpen", "5 x 5 filter", matrices.sharpen)):
        yield from _variants(Benchmark(name=name, summary=f"{summary}, n x n image of size n * n", make=make,
                                       shape=Shape.SQUARE), "ushort uchar")
    yield Benchmark(name="sobel_float", kernel="sobel", summary="edges: length of the gradient", shape=Shape.SQUARE,
                    make=matrices.sobel_float, element=ELEMENTS["float"], options=("-DPIXEL=uint", "-DPYTHAGORAS"))


def _named(benchmarks: Iterable[Benchmark]) -> Mapping[str, Benchmark]:
    return {benchmark.name: benchmark for benchmark in benchmarks}


CHAPTER6: Final = _named(_chapter6())
"""The benchmarks of the dissertation's chapter 6."""
BENCHMARKS: Final = _named(CHAPTER6[name] for name in ("copy", "vec_add", "vec_mul", "fir", "matmul", "bitonic"))
"""Those that the reference was measured with."""
FLOATS: Final = _named(benchmark for benchmark in CHAPTER6.values() if benchmark.element.is_float)
"""Those in floating point."""
PATTERNS: Final = _named([*_PATTERNS, replace(CHAPTER6["copy_char"], name="char_copy", kernel="copy",
                                              sizes=_PATTERNS[0].sizes)])
"""The access patterns."""
DIVERGENCE: Final = _named(_DIVERGENCE)
"""Those for schemes of divergence."""
EVERY: Final = {**CHAPTER6, **PATTERNS, **_named(_WORK_GROUPS), **DIVERGENCE}


def _pairs() -> Iterator[Benchmark]:
    """Each benchmark with local memory behind the one without, which has the same sizes."""
    for benchmark in _WORK_GROUPS:
        if benchmark.without:
            yield from (replace(EVERY[benchmark.without], sizes=benchmark.sizes), benchmark)


WORK_GROUPS: Final = _named(_pairs())
"""Those with local memory, beside those without."""
SUITES: Final = {"chapter6": CHAPTER6, "reference": BENCHMARKS, "floats": FLOATS, "patterns": PATTERNS,
                 "work-groups": WORK_GROUPS, "divergence": DIVERGENCE}
"""Sets of benchmarks, as ``fgpu bench --suite`` names them."""
