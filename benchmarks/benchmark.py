"""What a benchmark is: kernel, element type, data for a size, launches and the right answer."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import DTypeLike

from fgpu.compiler import Image, compile_opencl
from fgpu.config import ATOMICS, Config
from fgpu.errors import LaunchError
from fgpu.sim import LocalMemory

__all__ = ["ELEMENTS", "GROUP_SIZE", "LARGE_TILE", "TILE", "Benchmark", "Case", "Element", "Problem", "Shape", "Step"]

GROUP_SIZE: Final = 64
"""Work-items of a work-group unless said otherwise."""
TILE: Final = 8
"""Work-items along a side of the square work-groups of problems on matrices."""
LARGE_TILE: Final = 16
"""The same with local memory."""
_GROUP_SIZES: Final = (GROUP_SIZE, 32, 128, 256, 512)
_KERNELS: Final = Path(__file__).parent / "kernels"
_EXPONENTS: Final = (-8, 9)


@dataclass(frozen=True)
class Element:
    """What the arrays of a benchmark are made of."""

    type: str
    """The type's name in OpenCL C."""
    lane: np.dtype
    """The type of one lane in NumPy."""
    lanes: int = 1

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type."""
        return self.lane.kind == "f"

    @property
    def wide(self) -> np.dtype:
        """What kernels compute in: words for all integers (dissertation, section 6.4.2)."""
        return np.dtype(np.float32 if self.is_float else np.int32)

    @property
    def options(self) -> tuple[str, ...]:
        """Compiler options: the types of the kernels' arrays and of their computations."""
        wide = self.type if self.lanes > 1 or self.lane.itemsize == self.wide.itemsize else "int"
        return f"-DTYPE={self.type}", f"-DWIDE={wide}"


ELEMENTS: Final[Mapping[str, Element]] = {element.type: element for element in (
    *(Element(name, np.dtype(dtype)) for name, dtype in {
        "int": np.int32, "uint": np.uint32, "short": np.int16, "ushort": np.uint16, "char": np.int8,
        "uchar": np.uint8, "float": np.float32}.items()),
    Element("char4", np.dtype(np.int8), 4), Element("short2", np.dtype(np.int16), 2),
)}
"""The element types by their names."""


class Shape(Enum):
    """Which sizes a benchmark has."""

    LINE = "a multiple of the work-group size"
    SQUARE = f"n x n with n a multiple of {TILE}, as 256 or 1024"
    TILES = f"n x n with n a multiple of {LARGE_TILE}, as 256 or 1024"
    POWER = "a power of two of at least 2"
    ANY = "positive"


@dataclass(frozen=True)
class Step:
    """One launch: its sizes in work-items, and its arguments: names of arrays, numbers or local memory."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    args: tuple[str | int | float | LocalMemory, ...]
    kernel: str = ""
    """Of the benchmark unless given."""
    global_offset: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Problem:
    """One benchmark at one size with its data.

    ``arrays`` are what the kernel sees, in the order of their addresses. After ``steps``, the arrays named in
    ``expected`` must begin with what is there.
    """

    arrays: Mapping[str, np.ndarray]
    expected: Mapping[str, np.ndarray]
    steps: tuple[Step, ...]
    tolerance: float = 0.0
    """By how much of what is expected floats may differ: those of elementary functions."""


@dataclass(frozen=True)
class Case:
    """A size of a benchmark that is to become a problem, and what its maker needs."""

    name: str
    size: int
    """Output elements, lanes counted."""
    group_size: int
    """Work-items of a work-group."""
    element: Element
    rng: np.random.Generator

    @property
    def side(self) -> int:
        """n of a problem on n x n elements."""
        return math.isqrt(self.size)

    @property
    def items(self) -> int:
        """Work-items, if each makes one output element with all its lanes."""
        return self.size // self.element.lanes

    def data(self, *shape: int, dtype: DTypeLike | None = None) -> np.ndarray:
        """Random elements: integers of the whole range, floats of both signs and several magnitudes."""
        kind = self.element.lane if dtype is None else np.dtype(dtype)
        if kind.kind == "f":
            return (self.rng.standard_normal(shape) * 2.0 ** self.rng.integers(*_EXPONENTS, shape)).astype(kind)
        limits = np.iinfo(kind)
        return self.rng.integers(limits.min, limits.max, shape, kind, endpoint=True)

    def below(self, limit: int, *shape: int) -> np.ndarray:
        """Random elements from 0 to ``limit`` - 1; floats are fractions."""
        if self.element.is_float:
            return (self.rng.random(shape) * limit).astype(self.element.lane)
        return self.rng.integers(0, limit, shape).astype(self.element.lane)

    def wide(self, array: np.ndarray) -> np.ndarray:
        """An array in the type that kernels compute in."""
        return array.astype(self.element.wide)

    def narrow(self, array: np.ndarray) -> np.ndarray:
        """An array of results as kernels store it: integers keep their low bits."""
        return array.astype(self.element.lane)

    def zeros(self, *shape: int) -> np.ndarray:
        """Room for results."""
        return np.zeros(shape, self.element.lane)

    def line(self, *args: str | int | float, items: int | None = None, kernel: str = "") -> Step:
        """A launch of one dimension: a work-item for each output element unless ``items`` are given."""
        count = self.items if items is None else items
        return Step((count,), (math.gcd(count, self.group_size),), args, kernel)

    def square(self, *args: str | int | float, side: int | None = None, kernel: str = "") -> Step:
        """A launch of two dimensions, in work-groups of 8 x 8."""
        n = self.side if side is None else side
        return Step((n, n), (TILE, TILE), args, kernel)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A kernel to measure. ``size`` is its number of output elements everywhere; access patterns write one a
    work-item, and reductions read them."""

    name: str
    summary: str
    make: Callable[[Case], Problem]
    element: Element = ELEMENTS["int"]
    sizes: tuple[int, ...] = (256, 1024)
    """Sizes to run by default."""
    shape: Shape = Shape.LINE
    growth: Callable[[int], float] = float
    """A number in proportion to which the instructions grow with the size."""
    kernel: str = ""
    """Name of the kernel, and of its file; that of the benchmark unless given."""
    options: tuple[str, ...] = ()
    """Compiler options beside those of the element."""
    atomic: bool = False
    """Whether it needs atomic operations in hardware."""
    without: str = ""
    """Has local memory; the benchmark that comes to the same result without."""
    fixed: bool = False
    """Whether it has the sizes that are run by default, and no others."""
    most: int | None = None
    """Output elements of the largest size, where there is one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", self.kernel or self.name)

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """Work-group sizes that it can run with; the default stands for those that the kernel says itself."""
        return (GROUP_SIZE,) if self.shape in (Shape.SQUARE, Shape.TILES) else _GROUP_SIZES

    @property
    def source(self) -> Path:
        """The OpenCL C file."""
        return _KERNELS / f"{self.kernel}.cl"

    def check(self, size: int, group_size: int = GROUP_SIZE) -> None:
        """Raise :class:`~fgpu.errors.LaunchError` for a size that the benchmark does not have."""
        if group_size not in self.group_sizes:
            raise LaunchError(f"{self.name} runs in work-groups of {', '.join(map(str, self.group_sizes))}, "
                              f"not {group_size}")
        if size < 1:
            raise LaunchError(f"{self.name}: the size must be at least 1, not {size}")
        n, items = math.isqrt(size), size // self.element.lanes
        fits = {
            Shape.LINE: not (size % self.element.lanes or items % min(items, group_size)),
            Shape.SQUARE: not (n * n - size or n % TILE),
            Shape.TILES: not (n * n - size or n % LARGE_TILE),
            Shape.POWER: size >= 2 and not size & (size - 1),
            Shape.ANY: True,
        }
        if not fits[self.shape]:
            unit = f" {group_size * self.element.lanes}" if self.shape is Shape.LINE else ""
            raise LaunchError(f"{self.name}: the size {size} is not {self.shape.value}{unit}")
        if self.fixed and size not in self.sizes:
            raise LaunchError(f"{self.name}: the size must be {' or '.join(map(str, self.sizes))}, not {size:,}")
        if self.most is not None and size > self.most:
            raise LaunchError(f"{self.name}: the size must be at most {self.most:,}, not {size:,}")

    def problem(self, size: int, *, group_size: int = GROUP_SIZE, seed: int = 0) -> Problem:
        """Data, launches and result for ``size``.

        Raises :class:`~fgpu.errors.LaunchError` for a size that the benchmark does not have.
        """
        self.check(size, group_size)
        with np.errstate(over="ignore"):    # integers wrap, also where NumPy would tell
            return self.make(Case(self.name, size, group_size, self.element, np.random.default_rng(seed)))

    def fitting(self, config: Config) -> Config:
        """``config``, with atomic operations if the benchmark needs them and there are none.

        Those on local memory are there where local memory is.
        """
        needed = self.atomic and not (self.without and config.local_memory)
        return config.replace(atomics=ATOMICS) if needed and not config.atomics else config

    def image(self, config: Config) -> Image:
        """The compiled kernel."""
        return _compiled(self.source, (*self.element.options, *self.options), config)


@lru_cache(maxsize=256)
def _compiled(source: Path, options: tuple[str, ...], config: Config) -> Image:
    return compile_opencl(source.read_text(encoding="utf-8"), filename=str(source), options=options, config=config)
