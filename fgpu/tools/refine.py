"""Shorter paths for a placed design: cells of the slowest move to where they, or what is beside them, are sooner.

nextpnr's placers make wires short, and paths by the way; its last step moves cells by three tiles at most, and only
where that gains at once. So LUTs are left far off the straight way between what they read and what reads them.
"""

import json
import random
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .delays import Delays
from .nextpnr import SETTINGS
from .placement import Placement, Site
from .slacks import Floats, Slacks, wire_delay

__all__ = ["refined"]

_GOAL: Final = 0.8
"""Of the slowest path: as long as none has to be longer. Shorter ones are left as they are."""
_WORTH_IT: Final = 0.98
"""Of the slowest path before: for more the search does not begin anew."""
_ROUNDS: Final = 400
_FEWEST: Final = 0.002
"""Of the cells that could gain, those which are tried at once when the search ends."""
_GAIN: Final = 0.98
_LEAST_GAIN: Final = 100.0
"""What a move must leave of the cost at most, and by how many squares of picoseconds less that must be."""
_MARGIN: Final = 4
"""Tiles around what a cell is connected to, in which it may be."""
_TRIED: Final = 60
"""Tiles in which it is tried to find room, the best first."""
_READERS: Final = 24
"""Of an output, those which are looked at: the ones in the greatest hurry."""
_WIRE: Final = 30.0
"""Squares of picoseconds that a picosecond of wire counts for, whoever waits for it: so no wire grows for nothing."""
_SECOND: Final = "$CCU2_COMB1"
"""How nextpnr calls the second half of a slice in a carry chain."""
_THROUGH_SECOND: Final = {"FCO": 71.0, "F": 443.0}
"""Picoseconds from the carry into it. In a netlist that nextpnr reads back it takes it for a first half, which is
slower."""
_HURRY: Final = 300.0
"""Picoseconds of slack below which a pin counts for where a cell could be."""


@dataclass(frozen=True)
class _Input:
    """A wire into a group: where it ends, and from there the longest ways out and to a clocked pin."""

    edge: int
    to_outputs: dict[int, float]
    to_clock: float | None


class _Group:
    """Cells that move together, as their neighbours see them."""

    def __init__(self, slacks: Slacks, cells: Collection[str]) -> None:
        self._slacks = slacks
        self.cells = cells
        pins = [pin for cell in cells for pin in slacks.pins_of[cell]]
        inside = set(pins)
        self.outputs = {pin: wires for pin in pins
                        if (wires := [edge for edge in slacks.out_of[pin] if slacks.ends[edge] not in inside])}
        self.inputs = []
        for pin in pins:
            for edge in slacks.into[pin]:
                if slacks.starts[edge] not in inside:
                    ways = self._ways(pin, inside)
                    ends = [delay + slacks.setups[end] for end, delay in ways.items() if end in slacks.setups]
                    self.inputs.append(_Input(edge, {out: ways[out] for out in self.outputs if out in ways},
                                              max(ends, default=None)))
        self._launched = dict.fromkeys(self.outputs, -1e9)
        for pin in pins:
            if pin in slacks.launched:
                for out, delay in self._ways(pin, inside).items():
                    if out in self.outputs:
                        self._launched[out] = max(self._launched[out], slacks.launched[pin] + delay)

    def _ways(self, start: int, inside: set[int]) -> dict[int, float]:
        """The longest ways from a pin to others of the group."""
        found = {start: 0.0}
        waiting = [start]
        while waiting:
            pin = waiting.pop()
            for edge in self._slacks.out_of[pin]:
                end, delay = int(self._slacks.ends[edge]), found[pin] + float(self._slacks.delays[edge])
                if end in inside and found.get(end, -1.0) < delay:
                    found[end] = delay
                    waiting.append(end)
        return found

    @property
    def neighbours(self) -> list[int]:
        """Pins at the other ends of wires."""
        return [int(self._slacks.starts[each.edge]) for each in self.inputs] + [
            int(self._slacks.ends[edge]) for wires in self.outputs.values() for edge in wires]

    def cost(self, columns: Floats, rows: Floats, period: float) -> Floats:
        """How late, all in all, what goes through the group would be in some tiles; in squares of picoseconds."""
        slacks = self._slacks

        def late(by: Floats) -> Floats:
            return np.asarray(np.maximum(by, 0) ** 2)

        def wire(pin: int) -> Floats:
            x, y = slacks.place(pin)
            return wire_delay(np.abs(columns - x), np.abs(rows - y))

        total = np.zeros(len(columns))
        arrivals = [slacks.arrival[slacks.starts[each.edge]] + wire(slacks.starts[each.edge]) for each in self.inputs]
        for each, arrival in zip(self.inputs, arrivals, strict=True):
            total += _WIRE * (arrival - slacks.arrival[slacks.starts[each.edge]])
            if each.to_clock is not None:
                total += late(arrival + each.to_clock - period)
        required = {}
        for out, wires in self.outputs.items():
            leaves = np.full(len(columns), self._launched[out])
            for each, arrival in zip(self.inputs, arrivals, strict=True):
                if out in each.to_outputs:
                    leaves = np.maximum(leaves, arrival + each.to_outputs[out])
            first = np.full(len(columns), 1e9)
            if len(wires) <= _READERS:
                total += _WIRE * sum(wire(slacks.ends[edge]) for edge in wires)
            hurried = sorted(wires, key=lambda edge: slacks.required[slacks.ends[edge]] - slacks.delays[edge])
            for edge in hurried[:_READERS]:
                wanted = slacks.required[slacks.ends[edge]] - wire(slacks.ends[edge])
                first = np.minimum(first, wanted)
                total += late(leaves - wanted)
            required[out] = first
        for each, arrival in zip(self.inputs, arrivals, strict=True):
            slack = np.full(len(columns), 1e9)
            for out, delay in each.to_outputs.items():
                slack = np.minimum(slack, required[out] - delay - arrival)
            total += late(-slack)
        return total


class _Search:
    """Moves groups for as long as that makes the slowest paths shorter."""

    def __init__(self, placement: Placement, slacks: Slacks) -> None:
        self._placement, self._slacks = placement, slacks
        self._columns, self._rows = np.array(placement.places, float).T
        self._random = random.Random(1)

    def run(self) -> None:
        share = 1.0
        best = self._late()
        for _ in range(_ROUNDS):
            undo = self._round(share)
            self._slacks.run()
            if undo and (now := self._late()) < best:
                best, share = now, min(1.0, 1.5 * share)
                continue
            for sites in reversed(undo):
                self._move(sites)
            self._slacks.run()
            if not undo and share == 1.0:
                return
            share = share / 2 if undo else min(1.0, 2 * share)
            if share < _FEWEST:
                return

    def _late(self) -> float:
        """What is to become less: all that is late, and much more so the slowest path."""
        late = np.maximum(self._slacks.paths - self._slacks.period, 0)
        return float((late ** 2).sum() * 1e-6 + (late.max() / 100) ** 4)

    def _round(self, share: float) -> list[dict[str, Site]]:
        """Move some of the cells without slack; none beside another that moves. Returns where they were."""
        slack = self._slacks.slack
        urgent: dict[str, float] = {}
        for pin in np.flatnonzero(slack < 0).tolist():
            cell = self._slacks.cells[pin]
            urgent[cell] = min(urgent.get(cell, 0.0), float(slack[pin]))
        undo = []
        done: set[str] = set()
        for name in sorted(urgent, key=lambda name: urgent[name]):
            cells = self._placement.group(name)
            if self._random.random() > share or not cells or not done.isdisjoint(cells):
                continue
            group = _Group(self._slacks, cells)
            if (sites := self._better(group, slack)) is not None:
                undo.append(self._placement.sites(cells))
                self._move(sites)
                done |= {*cells, *(self._slacks.cells[pin] for pin in group.neighbours)}
        return undo

    def _better(self, group: _Group, slack: Floats) -> dict[str, Site] | None:
        """Where there is room for a group and less is late."""
        here, period = self._placement.tiles[next(iter(group.cells))], self._slacks.period
        now = group.cost(np.array([float(here[0])]), np.array([float(here[1])]), period)[0]
        near = [self._slacks.place(pin) for pin in group.neighbours if slack[pin] < _HURRY]
        if not near:
            return None
        places = np.array(near, float)
        (left, top), (right, bottom) = places.min(0) - _MARGIN, places.max(0) + _MARGIN
        chosen = np.flatnonzero((self._columns >= left) & (self._columns <= right)
                                & (self._rows >= top) & (self._rows <= bottom))
        costs = group.cost(self._columns[chosen], self._rows[chosen], period)
        order: NDArray[np.int64] = np.argsort(costs, kind="stable")[:_TRIED]
        for number in order.tolist():
            if costs[number] >= _GAIN * now - _LEAST_GAIN:
                return None
            tile = chosen[number]
            sites = self._placement.room(group.cells, int(self._columns[tile]), int(self._rows[tile]))
            if sites is not None:
                return sites
        return None

    def _move(self, sites: dict[str, Site]) -> None:
        self._placement.move(sites)
        self._slacks.moved(sites)


def _read_back(delays: Delays) -> Delays:
    """What nextpnr says of the same netlist when it has read it back."""
    for end, starts in delays.before.items():
        cell, _, port = end.rpartition("/")
        if cell.endswith(_SECOND) and port in _THROUGH_SECOND:
            delays.before[end] = [(start, _THROUGH_SECOND[port] if start == f"{cell}/FCI" else delay)
                                  for start, delay in starts]
    return delays


def refined(netlist: str, sdf: str) -> tuple[str, float]:
    """A placed netlist (JSON, as nextpnr writes it) with the places of all cells fixed, after some have moved.

    ``sdf`` are the delays that nextpnr expects. Returns, besides, nanoseconds of the slowest path.
    """
    design = json.loads(netlist)
    module = next(module for module in design["modules"].values() if module["cells"])
    placement = Placement(module["cells"])
    slacks = Slacks(_read_back(Delays.read(sdf)), placement.tiles)
    search, slowest = _Search(placement, slacks), np.inf
    while slacks.slowest < _WORTH_IT * slowest:
        slowest = slacks.slowest
        slacks.period = _GOAL * slowest
        slacks.run()
        search.run()
    placement.fix()
    module["settings"] = dict(SETTINGS)       # and none of those that nextpnr had
    return json.dumps(design), slacks.slowest / 1000
