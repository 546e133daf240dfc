"""How much time is left on the way to and from each pin of a placed design, and what it is when cells move."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .delays import Delays

__all__ = ["Slacks", "wire_delay"]

_NEAR: Final = 5
_STEP: Final = 80
"""Picoseconds that nextpnr expects of a wire for each tile, at speed grade 6; of the first five in each direction
twice as much, and for the way out of one and into another six times."""
_DIRECT: Final = {("FCO", "FCI"), ("F", "DI")}
_NEVER: Final = 1e9

Floats = NDArray[np.float64]


def wire_delay(columns: Floats, rows: Floats) -> Floats:
    """Picoseconds that nextpnr expects of a wire over so many columns and rows."""
    near = np.minimum(columns, _NEAR) + np.minimum(rows, _NEAR)
    far = np.maximum(columns - _NEAR, 0) + np.maximum(rows - _NEAR, 0)
    return _STEP * (6 + far + 2 * near)


class Slacks:
    """Arrivals at, and times required of, all pins, each called ``cell/pin``, in picoseconds after the clock's edge.

    ``delays`` are those of a placement, ``tiles`` column and row of its cells, which may change.
    """

    def __init__(self, delays: Delays, tiles: dict[str, tuple[int, int]]) -> None:
        self._tiles = tiles
        self.period = 0.0
        """What each path may take."""
        self.pins: dict[str, int] = {}
        edges = [(self._pin(start), self._pin(end), delay)
                 for end, starts in delays.before.items() for start, delay in starts]
        self.cells = [name.rpartition("/")[0] for name in self.pins]
        ports = [name.rpartition("/")[2] for name in self.pins]
        # Wires come first.
        edges.sort(key=lambda edge: self.cells[edge[0]] == self.cells[edge[1]])
        starts, ends, lengths = (np.array(column) for column in zip(*edges, strict=True))
        self.starts, self.ends, self.delays = starts, ends, lengths.astype(float)
        self.wires = sum(self.cells[start] != self.cells[end] for start, end, _ in edges)
        self._is_direct = np.array([(ports[s], ports[e]) in _DIRECT or ports[e] in ("FXA", "FXB")
                                    for s, e, _ in edges[:self.wires]])
        self.launched = self._known(delays.launched)
        self.setups = self._known(delays.setups)
        self.pins_of: dict[str, list[int]] = defaultdict(list)
        for pin, cell in enumerate(self.cells):
            self.pins_of[cell].append(pin)
        self.into: dict[int, list[int]] = defaultdict(list)
        self.out_of: dict[int, list[int]] = defaultdict(list)
        for edge, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            self.into[end].append(edge)
            self.out_of[start].append(edge)
        self._levels = self._ordered()
        self._ends = np.array(list(self.setups))
        self._setups = np.array(list(self.setups.values()))
        self.run()

    def _pin(self, name: str) -> int:
        return self.pins.setdefault(name, len(self.pins))

    def _known(self, values: dict[str, float]) -> dict[int, float]:
        return {self.pins[name]: value for name, value in values.items() if name in self.pins}

    def _ordered(self) -> list[NDArray[np.int64]]:
        """Edges by how many pins are before them, at most."""
        level = np.zeros(len(self.cells), int)
        left = np.bincount(self.ends, minlength=len(level))
        waiting = [pin for pin in range(len(level)) if not left[pin]]
        while waiting:
            pin = waiting.pop()
            for edge in self.out_of[pin]:
                end = int(self.ends[edge])
                level[end] = max(level[end], level[pin] + 1)
                left[end] -= 1
                if not left[end]:
                    waiting.append(end)
        order = np.argsort(level[self.ends], kind="stable")
        return np.split(order, np.flatnonzero(np.diff(level[self.ends][order])) + 1)

    def run(self) -> None:
        """Find arrivals and required times anew."""
        self.arrival = np.full(len(self.cells), -_NEVER)
        self.arrival[list(self.launched)] = list(self.launched.values())
        self.required = np.full(len(self.cells), _NEVER)
        self.required[self._ends] = self.period - self._setups
        for edges in self._levels:
            np.maximum.at(self.arrival, self.ends[edges], self.arrival[self.starts[edges]] + self.delays[edges])
        for edges in reversed(self._levels):
            np.minimum.at(self.required, self.starts[edges], self.required[self.ends[edges]] - self.delays[edges])

    @property
    def slack(self) -> Floats:
        """Of each pin."""
        return np.asarray(self.required - self.arrival)

    @property
    def paths(self) -> Floats:
        """Picoseconds of the slowest path to each clocked pin."""
        return np.asarray(self.arrival[self._ends] + self._setups)

    @property
    def slowest(self) -> float:
        """Picoseconds of the slowest path."""
        return float(self.paths.max())

    def place(self, pin: int) -> tuple[int, int]:
        """Column and row."""
        return self._tiles.get(self.cells[pin], (0, 0))

    def moved(self, cells: Iterable[str]) -> None:
        """Find the lengths of wires from and to cells that have moved."""
        edges = sorted({edge for cell in cells for pin in self.pins_of[cell]
                        for edge in (*self.into[pin], *self.out_of[pin]) if edge < self.wires})
        edges = [edge for edge in edges if not self._is_direct[edge]]
        if edges:
            before = np.array([self.place(self.starts[edge]) for edge in edges], float)
            after = np.array([self.place(self.ends[edge]) for edge in edges], float)
            distance = np.abs(before - after)
            self.delays[edges] = wire_delay(distance[:, 0], distance[:, 1])
