"""The slowest paths of a placed design, from the delays that nextpnr expects before it routes (SDF, IEEE 1497)."""

import re
from dataclasses import dataclass, field

__all__ = ["Delays", "Path"]

_WIRE = re.compile(r"\(INTERCONNECT (\S+) (\S+) \((\S*?)\) \((\S*?)\)\)")
_INSTANCE = re.compile(r"\(INSTANCE (\S+)\)")
_ARC = re.compile(r"\(IOPATH (?:\((?:pos|neg)edge )?([^\s)]+)\)? (\S+) \((\S*?)\) \((\S*?)\)\)")
_SETUP = re.compile(r"\(SETUPHOLD \(\w+edge (\S+?)\) \(\w+edge \S+\) \((\S*?)\)")
_CONSTANT = "$PACKER_"
"""Begins the names of the cells that nextpnr adds for constants, which never change."""
_CLOCKS = re.compile(r"(W|R)?CLK[AB]?|WCK")


@dataclass(frozen=True)
class Path:
    """From a clocked cell to another."""

    delay: float
    """Nanoseconds, from clock to clock."""
    pins: tuple[tuple[str, float], ...]
    """``cell/pin`` and arrival in nanoseconds of all on the way."""

    @property
    def cells(self) -> tuple[tuple[str, float], ...]:
        """Cells and when what leaves or reaches them does so."""
        return tuple((pin.rpartition("/")[0], arrival) for pin, arrival in self.pins)


def _worst(triple: str) -> float:
    """The greatest of ``least:typical:greatest`` picoseconds."""
    return float(triple.rpartition(":")[2] or 0)


@dataclass
class Delays:
    """Delays between pins, each called ``cell/pin``, in picoseconds."""

    before: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """Of each pin those that drive it, directly or through the cell."""
    launched: dict[str, float] = field(default_factory=dict)
    """Outputs of clocked cells, and how long after the clock they change."""
    setups: dict[str, float] = field(default_factory=dict)
    """Inputs of clocked cells, and how long before the clock they must be there."""

    @classmethod
    def read(cls, sdf: str) -> "Delays":
        """Those of an SDF file as nextpnr writes it, a statement a line."""
        found = cls()
        cell = ""
        for line in sdf.replace("\\", "").splitlines():      # names are escaped
            if match := _WIRE.search(line):
                start, end, rise, fall = match.groups()
                if not start.startswith(_CONSTANT):
                    found.before.setdefault(end, []).append((start, max(_worst(rise), _worst(fall))))
            elif match := _INSTANCE.search(line):
                cell = match[1]
            elif match := _ARC.search(line):
                start, end, rise, fall = match.groups()
                delay = max(_worst(rise), _worst(fall))
                if _CLOCKS.fullmatch(start):
                    found.launched[f"{cell}/{end}"] = delay
                else:
                    found.before.setdefault(f"{cell}/{end}", []).append((f"{cell}/{start}", delay))
            elif match := _SETUP.search(line):
                found.setups[f"{cell}/{match[1]}"] = _worst(match[2])
        return found

    def slowest(self) -> list[Path]:
        """The slowest path to each clocked input, slowest first. Where logic forms a loop it is cut."""
        arrivals: dict[str, tuple[float, str | None]] = {}
        for end in self.setups:
            self._arrive(end, arrivals)
        ends = sorted(self.setups, key=lambda end: -arrivals[end][0] - self.setups[end])
        return [self._path(end, arrivals) for end in ends if end in self.before]

    def _arrive(self, end: str, arrivals: dict[str, tuple[float, str | None]]) -> None:
        waiting = [end]
        entered = set()
        while waiting:
            pin = waiting[-1]
            unknown = [start for start, _ in self.before.get(pin, ())
                       if start not in arrivals and start not in entered]
            if pin not in arrivals and unknown:
                entered.add(pin)
                waiting += unknown
                continue
            waiting.pop()
            if pin not in arrivals:
                arrivals[pin] = max(
                    ((arrivals[start][0] + delay, start) for start, delay in self.before.get(pin, ())
                     if start in arrivals), default=(0.0, None), key=lambda each: each[0])
                if self.launched.get(pin, -1.0) >= arrivals[pin][0]:
                    arrivals[pin] = self.launched[pin], None

    def _path(self, end: str, arrivals: dict[str, tuple[float, str | None]]) -> Path:
        pins = []
        pin: str | None = end
        while pin is not None:
            arrival, before = arrivals[pin]
            pins.append((pin, arrival / 1000))
            pin = before
        return Path((arrivals[end][0] + self.setups[end]) / 1000, tuple(reversed(pins)))
