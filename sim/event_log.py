"""The events of a launch: what each wavefront did when, and what the cache did."""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from fgpu.compiler.ir.module import Location
from fgpu.config import WAVEFRONTS, Config
from fgpu.probe import WavefrontState

from .places import Places
from .recording import Parts
from .testbench.abi import Access, Event, EventKind, Refusal

__all__ = ["EVENT", "Access", "Burst", "EventKind", "EventLog", "Load", "Refusal", "Residence", "Stay", "Transfer",
           "enabled", "events_of", "joined_logs"]

EVENT: Final = np.dtype(Event)
"""One event (:class:`~fgpu.sim.testbench.abi.Event`)."""

_OF_PORTS: Final = (EventKind.EVENT_READ, EventKind.EVENT_READ_END, EventKind.EVENT_WRITE, EventKind.EVENT_WRITE_END)
_MOVED_ON: Final = (WavefrontState.BRANCH, WavefrontState.BARRIER)
"""The program counter is behind the instruction already."""


class Stay(NamedTuple):
    """A wavefront in one state at one instruction, from the cycle ``start`` up to, but not including, ``end``."""

    unit: int
    slot: int
    start: int
    end: int
    state: WavefrontState
    pc: int


class Burst(NamedTuple):
    """A burst on an AXI port: memory took its address in the cycle ``start``, and the last beat of a read, or the
    answer to a write, passed in the cycle ``end - 1``."""

    port: int
    identifier: int
    start: int
    end: int
    address: int
    is_write: bool


class Load(NamedTuple):
    """A load or an atomic operation: issued in the cycle ``start``, and done in the cycle ``end - 1``."""

    unit: int
    slot: int
    pc: int
    start: int
    end: int


class Residence(NamedTuple):
    """A work-group on a compute unit, which calls it ``number``, in the cycles from ``start`` to before ``end``."""

    unit: int
    number: int
    start: int
    end: int
    offsets: tuple[int, int, int]
    """Global ids of its first work-item."""


class Transfer(NamedTuple):
    """A tag manager at work on a line, in the cycles from ``start`` to before ``end``: it has it read, or written
    back, from the cycle ``burst`` on."""

    slice: int
    manager: int
    start: int
    end: int
    address: int
    is_write: bool
    burst: int


def enabled(masks: np.ndarray) -> np.ndarray:
    """How many bits of each are set: of issues, the enabled work-items."""
    bits = np.unpackbits(np.ascontiguousarray(masks).view(np.uint8).reshape(-1, masks.dtype.itemsize), axis=1)
    return np.asarray(bits.sum(axis=1, dtype=np.int64))


@dataclass(frozen=True, kw_only=True, repr=False)
class EventLog:
    """What happened in some cycles of a launch, counted as :attr:`Run.cycles <fgpu.sim.run.Run.cycles>` are."""

    kernel: str
    config: Config
    words: Sequence[int]
    locations: Mapping[int, Location]
    entries: np.ndarray
    """:data:`EVENT`, in the order of their cycles."""
    cache_events: Sequence[str]
    """What the ``number`` of an event of the cache means: a field of :class:`~fgpu.cache.probe.CacheProbe`, once for
    each slice."""
    first: int
    end: int
    """The cycles that were recorded, ``end`` not included."""
    parts: Parts
    """The parts of the core that were."""

    def __repr__(self) -> str:
        return f"<EventLog of {self.kernel}: {len(self.entries)} events of cycles {self.first} to {self.end}>"

    @cached_property
    def places(self) -> Places:
        """What to say of the program's words."""
        return Places(self.words, self.kernel, self.locations)

    def of(self, kind: EventKind) -> np.ndarray:
        """The events of a kind."""
        return self.entries[self.entries["kind"] == kind]

    def stays(self) -> Iterator[Stay]:
        """What the wavefronts did, one slot after the other."""
        states = self.of(EventKind.EVENT_STATE)
        free = WavefrontState.FREE.value
        for unit, slot in self.parts.wavefronts:
            mine = states[(states["unit"] == unit) & (states["number"] == slot)]
            ends = [*mine["cycle"][1:].tolist(), self.end][:len(mine)]      # some slots are never used
            for start, end, state, pc in zip(
                    mine["cycle"].tolist(), ends, mine["value"].tolist(), mine["pc"].tolist(), strict=True):
                if state != free and end > start:
                    there = WavefrontState(state)
                    at = (pc - 1) & 0xFFFF if there in _MOVED_ON else pc
                    yield Stay(unit, slot, start, end, there, at)

    def visits(self) -> Iterator[list[Stay]]:
        """The same, for each time that a wavefront came to an instruction."""
        for _, stays in groupby(self.stays(), key=lambda stay: (stay.unit, stay.slot, stay.pc)):
            yield list(stays)

    def bursts(self) -> Iterator[Burst]:
        """What went through the AXI ports, in the order of the ends; bursts that the log does not begin with are left
        out, and those that are under way at its end reach until there."""
        begun: dict[tuple[bool, int, int], tuple[int, int]] = {}
        ports = self.entries[np.isin(self.entries["kind"], _OF_PORTS)]
        for cycle, kind, port, identifier, _, address in ports.tolist():
            key = kind in (EventKind.EVENT_WRITE, EventKind.EVENT_WRITE_END), port, identifier
            if kind in (EventKind.EVENT_READ, EventKind.EVENT_WRITE):
                begun[key] = cycle, address
            elif key in begun:
                start, first = begun.pop(key)
                yield Burst(port, identifier, start, cycle + 1, first, key[0])
        for (is_write, port, identifier), (start, address) in begun.items():
            yield Burst(port, identifier, start, self.end, address, is_write)

    def loads(self) -> Iterator[Load]:
        """Loads in the order of their ends; those that the log does not begin with are left out, and those that are
        under way at its end reach until there."""
        begun: dict[tuple[int, int, int], deque[tuple[int, int]]] = defaultdict(deque)
        both = (EventKind.EVENT_LOAD, EventKind.EVENT_LOAD_DONE)
        for cycle, kind, unit, slot, pc, is_local in self.entries[np.isin(self.entries["kind"], both)].tolist():
            waiting = begun[unit, slot, is_local]
            if kind == EventKind.EVENT_LOAD:
                waiting.append((pc, cycle))
            elif waiting:
                yield Load(unit, slot, *waiting.popleft(), cycle + 1)
        for (unit, slot, _), waiting in begun.items():
            for pc, start in waiting:
                yield Load(unit, slot, pc, start, self.end)

    def residences(self) -> Iterator[Residence]:
        """Work-groups in the order of their ends; as :meth:`loads`."""
        begun: dict[tuple[int, int], tuple[int, tuple[int, int, int]]] = {}
        both = (EventKind.EVENT_GROUP, EventKind.EVENT_GROUP_END)
        for cycle, kind, unit, number, third, two in self.entries[np.isin(self.entries["kind"], both)].tolist():
            if kind == EventKind.EVENT_GROUP:
                begun[unit, number] = cycle, (two & 0xFFFF_FFFF, two >> 32, third)
            elif (unit, number) in begun:
                start, offsets = begun.pop((unit, number))
                yield Residence(unit, number, start, cycle, offsets)
        for (unit, number), (start, offsets) in begun.items():
            yield Residence(unit, number, start, self.end, offsets)

    def transfers(self) -> Iterator[Transfer]:
        """What the tag managers do, in the order of the ends; as :meth:`loads`."""
        begun: dict[tuple[bool, int, int], tuple[int, int, int]] = {}
        chosen = (EventKind.EVENT_FILL, EventKind.EVENT_EVICTION, EventKind.EVENT_WRITE_BACK, EventKind.EVENT_FILLED,
                  EventKind.EVENT_WRITTEN)
        for cycle, kind, part, manager, _, address in self.entries[np.isin(self.entries["kind"], chosen)].tolist():
            key = kind not in (EventKind.EVENT_FILL, EventKind.EVENT_FILLED), part, manager
            if kind in (EventKind.EVENT_FILL, EventKind.EVENT_EVICTION):
                begun[key] = cycle, address, cycle
            elif key in begun:
                start, line, burst = begun.pop(key)
                if kind == EventKind.EVENT_WRITE_BACK:
                    begun[key] = start, line, cycle
                else:
                    yield Transfer(part, manager, start, cycle + 1, line, key[0], burst)
        for (is_write, part, manager), (start, line, burst) in begun.items():
            yield Transfer(part, manager, start, self.end, line, is_write, burst)


_OF_SLICES: Final = (EventKind.EVENT_REQUEST, EventKind.EVENT_FILL, EventKind.EVENT_EVICTION,
                     EventKind.EVENT_WRITE_BACK, EventKind.EVENT_FILLED, EventKind.EVENT_WRITTEN)
_OF_GROUPS: Final = (EventKind.EVENT_GROUP, EventKind.EVENT_GROUP_END)


def events_of(parts: Parts, entries: np.ndarray, cache_events: Sequence[str]) -> np.ndarray:
    """Those of ``entries`` that are about the parts."""
    kind, unit, number = (entries[name] for name in ("kind", "unit", "number"))
    slots = np.zeros((max(len(parts.slots), 1), WAVEFRONTS), bool)
    for place, chosen in enumerate(parts.slots):
        slots[place, chosen] = True
    in_cache = [cache_events[:place].count(name) in parts.slices for place, name in enumerate(cache_events)]
    of_others = np.isin(kind, (EventKind.EVENT_CACHE, *_OF_SLICES, *_OF_PORTS, *_OF_GROUPS))
    kept = np.isin(kind, _OF_SLICES) & np.isin(unit, parts.slices)
    kept |= np.isin(kind, _OF_PORTS) & np.isin(unit, parts.ports)
    kept |= np.isin(kind, _OF_GROUPS) & np.isin(unit, list(filter(parts.has_all_of, parts.units)))
    kept |= (kind == EventKind.EVENT_CACHE) & np.isin(number, np.flatnonzero(in_cache))
    mine = np.flatnonzero(~of_others)
    kept[mine] = slots[unit[mine], number[mine]]
    return entries[kept]


def joined_logs(logs: Sequence[EventLog]) -> EventLog:
    """The log of launches one after the other: each goes on where the one before it ended."""
    parts, begin = [], 0
    for log in logs:
        entries = log.entries.copy()
        entries["cycle"] += begin
        parts.append(entries)
        begin += log.end
    return replace(logs[0], entries=np.concatenate(parts), end=begin)
