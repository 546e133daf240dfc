"""Cells beside each other on a slow path that move together."""

import itertools
from collections.abc import Iterator
from typing import Final

from .lateness import Lateness
from .placement import Group
from .search import ALL, Search
from .slacks import Floats

__all__ = ["Paths"]

_SLOW: Final = 0.93
"""Of the slowest path: those which are looked at."""
_STUCK: Final = 20
"""Paths that are left as they are, before the search ends."""
_LONGEST: Final = 8
"""Groups of cells of a path that move together, at most."""
_LARGEST: Final = 12
"""Groups around one of a path that move together, at most."""
_RADII: Final = (0, 2, 6)
"""Tiles between any of these and the next one."""
_HURRY: Final = 100.0
"""Picoseconds of slack that they have, at most."""
_TILES: Final = 8
"""For each set of groups, those which count."""
_MOVES: Final = 25
"""Of a path, those which are tried: slacks are found anew for each."""
_WORTH_IT: Final = 0.999
"""Of what was late before: for more a move is not made."""
_MOST: Final = 2000
"""Moves that are tried in all."""
_LOOKED_AT: Final = 1500
"""Tiles for several groups, at most; for one all."""

Moves = tuple[Group, ...]
"""Groups that all move by as many columns and rows."""


class Paths(Search):
    """From the slowest path on, groups of cells of it move, alone and together, if that gains, all in all."""

    _left = _MOST
    """Moves that may still be tried."""

    def run(self) -> None:
        """Until nothing gains any more."""
        stuck: set[frozenset[Group]] = set()
        while len(stuck) <= _STUCK and self._left > 0:
            for path in self.slacks.slow(_SLOW):
                key = frozenset(self.placement.group(self.slacks.cells[pin]) for pin in path[:-1])
                if key not in stuck:
                    if self._improve(path):
                        stuck.clear()
                    else:
                        stuck.add(key)
                    break
            else:
                return

    def _improve(self, path: list[int]) -> bool:
        """Whether a move was found for cells of a path, or about it."""
        slack = self.slacks.slack
        found = []
        for moves in self._sets(path, slack):
            cells = [cell for group in moves for cell in group]
            lateness = Lateness(self.slacks, cells)
            x, y = lateness.tile
            tiles = self.better(lateness, cells, slack, ALL if len(moves) == 1 else _LOOKED_AT)
            found += [(gain, moves, column - x, row - y) for gain, column, row in itertools.islice(tiles, _TILES)]
        found.sort(key=lambda each: -each[0])
        enough = _WORTH_IT * self.late()
        tried = 0
        for _, moves, right, down in found:
            if (sites := self.placement.rooms(moves, right, down)) is None:
                continue
            there = self.placement.sites(sites)
            self.move(sites)
            self.slacks.run()
            self._left -= 1
            if self.late() < enough:
                return True
            self.move(there)
            self.slacks.run()
            if (tried := tried + 1) == _MOVES:
                break
        return False

    def _sets(self, path: list[int], slack: Floats) -> Iterator[Moves]:
        """Groups that could move together: some of a path, one after another; some around one of it."""
        groups = list(dict.fromkeys(self.placement.group(self.slacks.cells[pin]) for pin in path))
        seen = set()
        for first in range(len(groups)):
            for last in range(first, min(first + _LONGEST, len(groups))):
                if not groups[last]:        # it stays
                    break
                yield tuple(groups[first:last + 1])
                seen.add(frozenset(groups[first:last + 1]))
        for group in filter(None, groups):
            for radius in _RADII:
                around = self._around(group, radius, slack)
                if around and frozenset(around) not in seen:
                    seen.add(frozenset(around))
                    yield around

    def _around(self, first: Group, radius: int, slack: Floats) -> Moves:
        """A group with all that are connected to it over so many tiles at a time; nothing if those are too many."""
        slacks = self.slacks
        found = {first: None}
        waiting = [first]
        while waiting:
            for pin in (pin for cell in waiting.pop() for pin in slacks.pins_of[cell] if slack[pin] < _HURRY):
                x, y = slacks.place(pin)
                for other in (*slacks.starts[slacks.into[pin]].tolist(), *slacks.ends[slacks.out_of[pin]].tolist()):
                    column, row = slacks.place(other)
                    group = self.placement.group(slacks.cells[other])
                    if (slack[other] < _HURRY and abs(column - x) + abs(row - y) <= radius
                            and group and group not in found):
                        found[group] = None
                        waiting.append(group)
                        if len(found) > _LARGEST:
                            return ()
        return tuple(found)
