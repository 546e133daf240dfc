"""How much time is left on the way to and from each pin of a placed design, and what it is when cells move."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..delays import Delays

__all__ = ["NEVER", "Distances", "Floats", "Slacks", "sharing_delay", "wire_delay"]

_NEAR: Final = 5
"""Columns, and rows, which a wire crosses more slowly than those further on: it is made of shorter ones."""
_LOCAL: Final = 470.0
"""Picoseconds of a wire within a tile, and how much more there is of one that leaves it."""
_APART: Final = 170.0
_NEAR_COLUMN: Final = 95.0
_NEAR_ROW: Final = 125.0
_FAR: Final = 61.0
"""Picoseconds for each of the first columns, the first rows, and those after them."""
_READERS: Final = 43.0
"""Picoseconds for each doubling of a net's readers, and of those from the 64th on."""
_MANY_READERS: Final = 95.0
_MANY: Final = 64
_DIRECT: Final = {("FCO", "FCI"): 0.0, ("F", "DI"): 130.0, ("F", "F1"): 0.0, ("OFX", "FXA"): 0.0, ("OFX", "FXB"): 0.0,
                   **{(f"WADO{bit}", f"WAD{bit}"): 80.0 for bit in range(4)},
                   **{(f"WDO{bit}", "WD"): 100.0 for bit in range(4)}}
"""Picoseconds of wires within a slice, or beside it in a carry chain, which nothing makes longer."""
_GLOBAL: Final = "CLKO"
"""The pin from which a clock's wires go everywhere, a reset's too: to nextpnr they take no time."""
NEVER: Final = 1e9
"""Picoseconds, more than there are."""
_LARGEST: Final = 256
"""Columns and rows of a die, at least."""

Floats = NDArray[np.float64]
Distances = NDArray[np.int64]


def wire_delay(columns: Distances, rows: Distances) -> Floats:
    """Picoseconds of a wire over so many columns and rows, of a net with one reader.

    nextpnr expects ``80 * (6 + far + 2 * near)``. This is what its router makes of a core's wires, in the median of
    119,000: far ones are quicker, near ones slower, and most of all those of nets with many readers.
    """
    return np.asarray(_DISTANCES[columns, rows])


def sharing_delay(readers: Floats) -> Floats:
    """Picoseconds more for so many readers."""
    few = _READERS * np.log2(np.minimum(readers, _MANY))
    many = _MANY_READERS * np.log2(np.maximum(readers, _MANY) / _MANY)
    return np.asarray(few + many)


def _distances() -> Floats:
    columns, rows = np.indices((_LARGEST, _LARGEST))
    near = _NEAR_COLUMN * np.minimum(columns, _NEAR) + _NEAR_ROW * np.minimum(rows, _NEAR)
    far = _FAR * (np.maximum(columns - _NEAR, 0) + np.maximum(rows - _NEAR, 0))
    return np.asarray(_LOCAL + _APART * (columns + rows > 0) + near + far)


_DISTANCES: Final = _distances()


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
        direct = [0.0 if ports[start] == _GLOBAL else _DIRECT.get((ports[start], ports[end]))
                  for start, end, _ in edges[:self.wires]]
        self._is_direct = np.array([delay is not None for delay in direct])
        readers = np.bincount(starts[:self.wires], minlength=len(self.cells))
        self.sharing = sharing_delay(np.maximum(readers, 1).astype(float))
        """Of each pin, what a wire from it takes more for all that are of the same net."""
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
        self.delays[:self.wires][self._is_direct] = [delay for delay in direct if delay is not None]
        self.moved(self.pins_of)
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
        self.arrival = np.full(len(self.cells), -NEVER)
        self.arrival[list(self.launched)] = list(self.launched.values())
        self.required = np.full(len(self.cells), NEVER)
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

    def tile(self, cell: str) -> tuple[int, int]:
        """Column and row of a cell."""
        return self._tiles.get(cell, (0, 0))

    def place(self, pin: int) -> tuple[int, int]:
        """Column and row of a pin."""
        return self.tile(self.cells[pin])

    def slow(self, part: float) -> Iterator[list[int]]:
        """The pins of paths that take at least a ``part`` of the slowest one's time, slowest first: one to each
        clocked pin."""
        paths = self.paths
        for number in np.argsort(-paths, kind="stable"):
            if paths[number] < part * paths.max():
                return
            pin = int(self._ends[number])
            pins = [pin]
            while self.launched.get(pin, -NEVER) < self.arrival[pin] and self.into[pin]:
                edge = max(self.into[pin], key=lambda edge: self.arrival[self.starts[edge]] + self.delays[edge])
                pin = int(self.starts[edge])
                pins.append(pin)
            yield pins[::-1]

    def moved(self, cells: Iterable[str]) -> None:
        """Find the lengths of wires from and to cells that have moved."""
        edges = sorted({edge for cell in cells for pin in self.pins_of[cell]
                        for edge in (*self.into[pin], *self.out_of[pin]) if edge < self.wires})
        edges = [edge for edge in edges if not self._is_direct[edge]]
        if edges:
            before = np.array([self.place(self.starts[edge]) for edge in edges])
            after = np.array([self.place(self.ends[edge]) for edge in edges])
            distance = np.abs(before - after)
            self.delays[edges] = wire_delay(distance[:, 0], distance[:, 1]) + self.sharing[self.starts[edges]]
