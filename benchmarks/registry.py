"""The benchmarks: for each its kernel, its data for a size, the launches and what must come out."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from compiler import Image, compile_opencl
from fgpu.config import Config
from fgpu.errors import LaunchError

__all__ = ["BENCHMARKS", "GROUP_SIZE", "TILE", "Benchmark", "Problem", "Step", "groups", "numbers", "side"]

GROUP_SIZE: Final = 64
"""Work-items of a work-group unless said otherwise."""
_GROUP_SIZES: Final = (GROUP_SIZE, 32, 128, 256, 512)
_KERNELS: Final = Path(__file__).parent / "kernels"
_TAPS: Final = 12
TILE: Final = 8
"""Work-items along a side of the square work-groups of problems on matrices."""


@dataclass(frozen=True)
class Step:
    """One launch: its sizes in work-items, and its arguments: names of arrays, or numbers."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    args: tuple[str | int | float, ...]


@dataclass(frozen=True)
class Problem:
    """One benchmark at one size with its data.

    ``arrays`` are what the kernel sees, in the order of their addresses. After ``steps``, the array named
    ``output`` must equal ``expected``.
    """

    arrays: Mapping[str, np.ndarray]
    output: str
    expected: np.ndarray
    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A kernel to measure. ``size`` is its number of output elements everywhere; access patterns write one a
    work-item."""

    name: str
    summary: str
    sizes: tuple[int, ...]
    """Sizes to run by default."""
    make: Callable[[int, int, np.random.Generator], Problem]
    """The problem for a size and a work-group size in work-items."""
    group_sizes: tuple[int, ...] = _GROUP_SIZES
    """Work-group sizes that it can run with."""
    kernel: str = ""
    """Name of the kernel, and of its file; that of the benchmark unless given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", self.kernel or self.name)

    @property
    def source(self) -> Path:
        """The OpenCL C file."""
        return _KERNELS / f"{self.kernel}.cl"

    def problem(self, size: int, *, group_size: int = GROUP_SIZE, seed: int = 0) -> Problem:
        """Data, launches and result for ``size``.

        Raises :class:`~fgpu.errors.LaunchError` for a size that the benchmark does not have.
        """
        if group_size not in self.group_sizes:
            raise LaunchError(f"{self.name} runs in work-groups of {', '.join(map(str, self.group_sizes))}, "
                              f"not {group_size}")
        if size < 1:
            raise LaunchError(f"{self.name}: the size must be at least 1, not {size}")
        return self.make(size, group_size, np.random.default_rng(seed))

    def image(self, config: Config) -> Image:
        """The compiled kernel."""
        return _compiled(self.source, config)


@lru_cache(maxsize=64)
def _compiled(source: Path, config: Config) -> Image:
    return compile_opencl(source.read_text(encoding="utf-8"), filename=str(source), config=config)


def numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random words."""
    return rng.integers(-(1 << 31), 1 << 31, shape, dtype=np.int32)


def groups(name: str, size: int, group_size: int) -> tuple[int]:
    """The local size of a one-dimensional problem; small ones make one smaller group."""
    local = min(size, group_size)
    if size % local:
        raise LaunchError(f"{name}: the size {size} is not a multiple of the work-group size {local}")
    return (local,)


def _copy(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    a = numbers(rng, size)
    step = Step((size,), groups("copy", size, group_size), ("in", "out"))
    return Problem({"in": a, "out": np.zeros_like(a)}, "out", a, (step,))


def _elementwise(name: str, operation: np.ufunc) -> Callable[[int, int, np.random.Generator], Problem]:
    def make(size: int, group_size: int, rng: np.random.Generator) -> Problem:
        a, b = numbers(rng, size), numbers(rng, size)
        step = Step((size,), groups(name, size, group_size), ("a", "b", "out"))
        return Problem({"a": a, "b": b, "out": np.zeros_like(a)}, "out", operation(a, b), (step,))
    return make


def _fir(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    samples, coefficients = numbers(rng, size + _TAPS - 1), numbers(rng, _TAPS)
    windows = np.lib.stride_tricks.sliding_window_view(samples, _TAPS)
    step = Step((size,), groups("fir", size, group_size), ("in", "coeff", "out", _TAPS))
    return Problem({"in": samples, "coeff": coefficients, "out": np.zeros(size, np.int32)}, "out",
                   (windows * coefficients).sum(axis=1, dtype=np.int32), (step,))


def side(name: str, size: int) -> int:
    """n of a problem on n x n matrices."""
    n = math.isqrt(size)
    if n * n != size or n % TILE:
        raise LaunchError(f"{name}: the size {size} is not n x n with n a multiple of {TILE}, as 256 or 1024")
    return n


def _matmul(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    n = side("matmul", size)
    a, b = numbers(rng, n, n), numbers(rng, n, n)
    step = Step((n, n), (TILE, TILE), ("a", "b", "c", n))
    return Problem({"a": a, "b": b, "c": np.zeros_like(a)}, "c", a @ b, (step,))


def _bitonic(size: int, group_size: int, rng: np.random.Generator) -> Problem:
    if size < 2 or size & (size - 1):
        raise LaunchError(f"bitonic: the size {size} is not a power of two of at least 2")
    words = rng.integers(0, 1 << 32, size, dtype=np.uint32)
    items = size // 2
    steps = tuple(Step((items,), (min(items, group_size),), ("data", stage, number, 1))
                  for stage in range(size.bit_length() - 1) for number in range(stage + 1))
    return Problem({"data": words}, "data", np.sort(words), steps)


_ALL = (
    Benchmark(name="copy", summary="out = in, a word a work-item", sizes=(256, 1024), make=_copy),
    Benchmark(name="vec_add", summary="out = a + b", sizes=(256, 1024), make=_elementwise("vec_add", np.add)),
    Benchmark(name="vec_mul", summary="out = a * b", sizes=(256, 1024), make=_elementwise("vec_mul", np.multiply)),
    Benchmark(name="fir", summary=f"FIR filter of {_TAPS} taps", sizes=(256, 1024), make=_fir),
    Benchmark(name="matmul", summary="c = a * b, n x n matrices of size n * n", sizes=(256, 1024), make=_matmul,
              group_sizes=(TILE * TILE,)),
    Benchmark(name="bitonic", summary="bitonic sort, a launch a pass", sizes=(256,), make=_bitonic),
)

BENCHMARKS: Final[Mapping[str, Benchmark]] = {benchmark.name: benchmark for benchmark in _ALL}
"""All benchmarks by name."""
