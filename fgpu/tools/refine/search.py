"""What both searches for a better placement have in common."""

from collections.abc import Collection, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .lateness import Lateness
from .placement import Placement, Site
from .slacks import Floats, Slacks

__all__ = ["ALL", "LEAST_GAIN", "Search", "Tile"]

ALL: Final = 1 << 16
"""Tiles, more than there are."""
_GAIN: Final = 0.02
LEAST_GAIN: Final = 100.0
"""What a move must gain of the cost at least, in squares of picoseconds, besides a part of it."""
_MARGIN: Final = 4
"""Tiles around what cells are connected to, in which they may be."""
_HURRY: Final = 300.0
"""Picoseconds of slack below which a pin counts for where cells could be."""

Tile = tuple[float, int, int]
"""What cells would gain there, column, and row."""


class Search:
    """Moves cells of a placement while that makes the slowest paths shorter."""

    def __init__(self, placement: Placement, slacks: Slacks) -> None:
        self.placement, self.slacks = placement, slacks
        self._columns, self._rows = np.array(placement.places).T

    def late(self) -> float:
        """What is to become less: all that is late, and much more so the slowest path."""
        late = np.maximum(self.slacks.paths - self.slacks.period, 0)
        return float((late ** 2).sum() * 1e-6 + (late.max() / 100) ** 4)

    def move(self, sites: dict[str, Site]) -> None:
        """Slacks are found later."""
        self.placement.move(sites)
        self.slacks.moved(sites)

    def better(self, lateness: Lateness, cells: Collection[str], slack: Floats, most: int) -> Iterator[Tile]:
        """Tiles for the first of cells, in which less is late, the best first. Where more than ``most`` would have to
        be looked at, each one stands for those around it."""
        near = [self.slacks.place(pin) for pin in lateness.neighbours if slack[pin] < _HURRY]
        if not near:
            return
        x, y = lateness.tile
        now = lateness.cost(np.array([x]), np.array([y]))[0]
        places = np.array(near)
        offsets = np.array([self.slacks.tile(cell) for cell in cells]) - (x, y)
        (left, top), (right, bottom) = (places.min(0) - _MARGIN - offsets.max(0),
                                        places.max(0) + _MARGIN - offsets.min(0))
        chosen = np.flatnonzero((self._columns >= left) & (self._columns <= right)
                                & (self._rows >= top) & (self._rows <= bottom))
        chosen = chosen[::max(1, -(-len(chosen) // most))]
        gains = now - lateness.cost(self._columns[chosen], self._rows[chosen])
        order: NDArray[np.int64] = np.argsort(-gains, kind="stable")
        for number in order.tolist():
            if gains[number] <= _GAIN * now + LEAST_GAIN:
                return
            column, row = int(self._columns[chosen[number]]), int(self._rows[chosen[number]])
            if (column, row) != lateness.tile:
                yield float(gains[number]), column, row
