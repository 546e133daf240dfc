"""How an index space is divided into work-groups where the host does not say: as one launch, or cut in parts.

The hardware gives all work-groups of a launch the same shape. A global size whose divisors are all small, as a prime
has, would leave most of a wavefront's work-items disabled; but launches with different global offsets and equal
global sizes make one index space, if the kernel does not ask for its work-groups.
"""

import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from fgpu.compiler.image import Kernel
from fgpu.config import PHASES, WAVEFRONT_SIZE, WORK_GROUP_MAX
from fgpu.errors import PerformanceWarning

__all__ = ["SHORTFALL_TOLD", "Part", "callers_level", "divide", "shortfall", "warn_of_shortfall"]

_SHAPES: Final = {
    1: ((64,),),
    2: ((8, 8), (64, 1), (16, 4)),
    3: ((4, 4, 4), (64, 1, 1), (8, 8, 1)),
}
"""Work-groups that fill a wavefront, by the number of dimensions; the first is the default."""
_LAUNCH_COST: Final = 2 * PHASES
"""Of one launch more, in cycles of each instruction: about what two more wavefronts take in a kernel of ten."""
_OURS: Final = ("fgpu.sim", "fgpu.compiler", "contextlib")
SHORTFALL_TOLD: Final = 2
_WAVEFRONTS_TOLD: Final = 16
"""Less than these, and nobody is told that wavefronts are partly empty."""


@dataclass(frozen=True)
class Part:
    """A box of the index space that is run by one launch; tuples have a number for each dimension."""

    start: tuple[int, ...]
    """Its first global id, without the global offset."""
    extents: tuple[int, ...]
    """Work-items."""
    local_size: tuple[int, ...]
    """Of its work-groups: divides the extents."""

    @property
    def work_groups(self) -> tuple[int, ...]:
        """Work-groups in each dimension."""
        return tuple(extent // local for extent, local in zip(self.extents, self.local_size, strict=True))

    @property
    def wavefronts(self) -> int:
        """Wavefronts of all its work-groups."""
        return math.prod(self.work_groups) * _wavefronts(self.local_size)


def divide(global_size: tuple[int, ...], units: int, *, cut: bool) -> list[Part]:
    """The launches that run all of ``global_size`` in the least time; one, unless it may be ``cut``.

    ``units`` is the number of compute units. What the default shape fills is divided so; else the shape is chosen by
    how long an instruction takes of all wavefronts, and how many rows of dimension 0 each accesses.
    """
    default = _SHAPES[len(global_size)][0]
    if all(size % local == 0 for size, local in zip(global_size, default, strict=True)):
        return [Part((0,) * len(global_size), global_size, default)]
    found = [[_whole((0,) * len(global_size), global_size, units)]]
    if cut:
        found += [list(_cut(global_size, shape, units)) for shape in _SHAPES[len(global_size)]]
    return min(found, key=lambda parts: sum(_cost(part, units) for part in parts) + _LAUNCH_COST * len(parts))


def shortfall(parts: Sequence[Part]) -> float:
    """How many times as many wavefronts as the work-items would fill."""
    work_items = sum(math.prod(part.extents) for part in parts)
    return sum(part.wavefronts for part in parts) / -(-work_items // WAVEFRONT_SIZE)


def warn_of_shortfall(kernel: Kernel, global_size: tuple[int, ...], parts: Sequence[Part]) -> None:
    """Tell of a global size of which no division fills the wavefronts, unless they are few."""
    times, [part, *others] = shortfall(parts), parts
    if others or times < SHORTFALL_TOLD or part.wavefronts < _WAVEFRONTS_TOLD:
        return
    local = " x ".join(map(str, part.local_size))
    fitting = tuple(-(-size // WAVEFRONT_SIZE) * WAVEFRONT_SIZE if index == 0 else size
                    for index, size in enumerate(global_size))
    why = "nothing says that the kernel does not ask for its work-groups" if kernel.parameters is None or \
        kernel.splittable else "the kernel asks for its work-groups, by get_local_id or the like"
    warnings.warn(
        f"kernel {kernel.name!r} of global size {global_size} runs in work-groups of {local}, the best divisor, "
        f"which take {times:.0f} times as many wavefronts as full ones; it is not launched in parts, as {why}. "
        f"Round the global size up to {fitting}, and let work-items beyond return at once",
        PerformanceWarning, stacklevel=callers_level())


def callers_level() -> int:
    """How many frames up the caller of the package is, counted from the function that asks."""
    level, frame = 1, sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith(_OURS) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    return level


def _wavefronts(local_size: tuple[int, ...]) -> int:
    return -(-math.prod(local_size) // WAVEFRONT_SIZE)


def _cost(part: Part, units: int) -> int:
    """Cycles that an instruction of all wavefronts takes: its phases, and one for each row of dimension 0, which is
    likely to be in a cache line of its own."""
    rows = -(-min(WAVEFRONT_SIZE, math.prod(part.local_size)) // part.local_size[0])
    groups = -(-math.prod(part.work_groups) // units)
    return groups * _wavefronts(part.local_size) * (PHASES + rows)


def _whole(start: tuple[int, ...], extents: tuple[int, ...], units: int) -> Part:
    """One launch with the best divisors; among equal ones that with the fewest wavefronts, and the smallest
    work-groups, which keep more in flight."""
    divisors = [[local for local in range(1, min(extent, WORK_GROUP_MAX) + 1) if extent % local == 0]
                for extent in extents]
    shapes = [shape for shape in product(*divisors) if math.prod(shape) <= WORK_GROUP_MAX]
    parts = (Part(start, extents, shape) for shape in shapes)
    return min(parts, key=lambda part: (_cost(part, units), part.wavefronts, math.prod(part.local_size)))


def _cut(global_size: tuple[int, ...], shape: tuple[int, ...], units: int) -> Iterator[Part]:
    """What whole work-groups of ``shape`` fill, and the boxes at its upper sides."""
    sides = [[(0, size - size % local), (size - size % local, size % local)]
             for size, local in zip(global_size, shape, strict=True)]
    for box in product(*sides):
        start, extents = zip(*box, strict=True)
        if math.prod(extents):
            whole = all(extent % local == 0 for extent, local in zip(extents, shape, strict=True))
            yield Part(start, extents, shape) if whole else _whole(start, extents, units)
