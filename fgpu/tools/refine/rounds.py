"""Cells that move by themselves, many at a time, to where less is late."""

import itertools
import random
from typing import Final

import numpy as np

from .lateness import Lateness
from .placement import Group, Placement, Site
from .search import ALL, LEAST_GAIN, Search
from .slacks import Floats, Slacks

__all__ = ["Rounds"]

_ROUNDS: Final = 200
_FEWEST: Final = 0.002
"""Of the cells that could gain, those which are tried at once when the search ends."""
_LARGEST: Final = 4
"""Cells that move together, at most: of more there are hardly any that find room."""
_TRIED: Final = 600
"""Tiles in which it is tried to find room."""
_CHANGES: Final = 60
"""Of these, those in which what is there is looked at, to change places."""
_IDLE: Final = 500.0
"""Picoseconds of slack that a cell has for which another may come."""


class Rounds(Search):
    """In each round some of the cells without slack move, as many as still make it better."""

    def __init__(self, placement: Placement, slacks: Slacks) -> None:
        super().__init__(placement, slacks)
        self._random = random.Random(1)

    def run(self) -> None:
        """Until nothing gains any more."""
        share = 1.0
        best = self.late()
        for _ in range(_ROUNDS):
            undo = self._round(share)
            self.slacks.run()
            if undo and (now := self.late()) < best:
                best, share = now, min(1.0, 1.5 * share)
                continue
            for sites in reversed(undo):
                self.move(sites)
            self.slacks.run()
            if not undo and share == 1.0:
                return
            share = share / 2 if undo else min(1.0, 2 * share)
            if share < _FEWEST:
                return

    def _round(self, share: float) -> list[dict[str, Site]]:
        """Move some of the cells without slack; none beside another that moves. Returns where they were."""
        slack = self.slacks.slack
        urgent: dict[str, float] = {}
        for pin in np.flatnonzero(slack < 0).tolist():
            cell = self.slacks.cells[pin]
            urgent[cell] = min(urgent.get(cell, 0.0), float(slack[pin]))
        undo = []
        done: set[str] = set()
        for name in sorted(urgent, key=lambda name: urgent[name]):
            group = self.placement.group(name)
            if (self._random.random() > share or not 0 < len(group) <= _LARGEST or not done.isdisjoint(group)):
                continue
            lateness = Lateness(self.slacks, group)
            if (sites := self._better(group, lateness, slack, done)) is not None:
                undo.append(self.placement.sites(sites))
                self.move(sites)
                done |= {*sites, *(self.slacks.cells[pin] for pin in lateness.neighbours)}
        return undo

    def _better(self, group: Group, lateness: Lateness, slack: Floats, done: set[str]) -> dict[str, Site] | None:
        """Where there is room for a group, or one that gives its own, and less is late."""
        tiles = self.better(lateness, group, slack, ALL)
        for number, (gain, column, row) in enumerate(itertools.islice(tiles, _TRIED)):
            if (sites := self.placement.room(group, column, row)) is not None:
                return sites
            if number < _CHANGES and (sites := self._changed(group, lateness, gain, (column, row), slack, done)):
                return sites
        return None

    def _changed(self, group: Group, lateness: Lateness, gain: float, tile: tuple[int, int], slack: Floats,
                 done: set[str]) -> dict[str, Site] | None:
        """Where a group and one of a tile are when they have changed places, if that gains, too."""
        for other, sites in self.placement.exchanges(group, *tile):
            pins = [pin for cell in other for pin in self.slacks.pins_of[cell]]
            if done.isdisjoint(other) and min(slack[pins], default=_IDLE) >= _IDLE:
                columns, rows = np.array([tile, lateness.tile]).T
                now, then = Lateness(self.slacks, other).cost(columns, rows)
                if gain + now - then > LEAST_GAIN:
                    return sites
        return None
