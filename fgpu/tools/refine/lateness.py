"""How late what goes through cells that move together is, and would be elsewhere."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from .slacks import NEVER, Distances, Floats, Slacks, wire_delay

__all__ = ["Lateness"]

_READERS: Final = 24
"""Of an output, those which are looked at: the ones in the greatest hurry."""
_WIRE: Final = 30.0
"""Squares of picoseconds that a picosecond of wire counts for, whoever waits for it: so no wire grows for nothing."""


@dataclass(frozen=True)
class _Input:
    """A wire into the cells: where it ends, and from there the longest ways out and to a clocked pin."""

    edge: int
    to_outputs: dict[int, float]
    to_clock: float | None


class Lateness:
    """Cells that move together, none to or from another, as their neighbours see them."""

    def __init__(self, slacks: Slacks, cells: Collection[str]) -> None:
        self._slacks = slacks
        self.tile = slacks.tile(next(iter(cells)))
        """Column and row of the first."""
        pins = [pin for cell in cells for pin in slacks.pins_of[cell]]
        inside = set(pins)
        self._outputs = {pin: wires for pin in pins
                         if (wires := [edge for edge in slacks.out_of[pin] if slacks.ends[edge] not in inside])}
        self._inputs = []
        for pin in pins:
            for edge in slacks.into[pin]:
                if slacks.starts[edge] not in inside:
                    ways = self._ways(pin, inside)
                    ends = [delay + slacks.setups[end] for end, delay in ways.items() if end in slacks.setups]
                    self._inputs.append(_Input(edge, {out: ways[out] for out in self._outputs if out in ways},
                                               max(ends, default=None)))
        self._launched = dict.fromkeys(self._outputs, -NEVER)
        for pin in pins:
            if pin in slacks.launched:
                for out, delay in self._ways(pin, inside).items():
                    if out in self._outputs:
                        self._launched[out] = max(self._launched[out], slacks.launched[pin] + delay)

    def _ways(self, start: int, inside: set[int]) -> dict[int, float]:
        """The longest ways from a pin to others of the cells."""
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
        return [int(self._slacks.starts[each.edge]) for each in self._inputs] + [
            int(self._slacks.ends[edge]) for wires in self._outputs.values() for edge in wires]

    def cost(self, columns: Distances, rows: Distances) -> Floats:
        """How late, all in all, what goes through would be if the first cell were in some tiles; in squares of
        picoseconds."""
        slacks = self._slacks
        right, down = columns - self.tile[0], rows - self.tile[1]

        def late(by: Floats) -> Floats:
            return np.asarray(np.maximum(by, 0) ** 2)

        def wire(edge: int, own: int, other: int) -> Floats:
            (x, y), (left, top) = slacks.place(own), slacks.place(other)
            return wire_delay(np.abs(right + x - left), np.abs(down + y - top)) + slacks.sharing[slacks.starts[edge]]

        total = np.zeros(len(columns))
        arrivals = []
        for each in self._inputs:
            start, end = slacks.starts[each.edge], slacks.ends[each.edge]
            delay = wire(each.edge, end, start)
            arrivals.append(slacks.arrival[start] + delay)
            total += _WIRE * delay
            if each.to_clock is not None:
                total += late(arrivals[-1] + each.to_clock - slacks.period)
        required = {}
        for out, wires in self._outputs.items():
            leaves = np.full(len(columns), self._launched[out])
            for each, arrival in zip(self._inputs, arrivals, strict=True):
                if out in each.to_outputs:
                    leaves = np.maximum(leaves, arrival + each.to_outputs[out])
            first = np.full(len(columns), NEVER)
            hurried = sorted(wires, key=lambda edge: slacks.required[slacks.ends[edge]] - slacks.delays[edge])
            for edge in hurried[:_READERS]:
                delay = wire(edge, out, slacks.ends[edge])
                wanted = slacks.required[slacks.ends[edge]] - delay
                first = np.minimum(first, wanted)
                total += late(leaves - wanted)
                if len(wires) <= _READERS:
                    total += _WIRE * delay
            required[out] = first
        for each, arrival in zip(self._inputs, arrivals, strict=True):
            slack = np.full(len(columns), NEVER)
            for out, within in each.to_outputs.items():
                slack = np.minimum(slack, required[out] - within - arrival)
            total += late(-slack)
        return total
