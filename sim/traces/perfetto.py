"""Perfetto's protobuf, for https://ui.perfetto.dev: a track for each wavefront slot, counters for the rest."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import numpy as np

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS
from fgpu.probe import WavefrontState

from ..event_log import Access, EventKind, EventLog, Stay, enabled

if TYPE_CHECKING:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

__all__ = ["write_perfetto"]

_SEQUENCE: Final = 1
_CORE: Final = 1            # the unique ids of tracks
_UNITS: Final = 100
_SLOTS: Final = 1000
_LOADS: Final = 2000
_GROUPS: Final = 3000
_PORTS: Final = 5000
_SLICES: Final = 7000
_COUNTERS: Final = 10_000
_WINDOW: Final = 64         # cycles that a value of a counter is about


def write_perfetto(log: EventLog, path: Path) -> None:
    """Write the file; a cycle is shown as a nanosecond.

    On a wavefront's track its instructions follow each other, each with its states inside, and, as instants, where
    its work-items part (push), others go on (switch) or with these (pop), and where it is refused; a flow leads from
    a load to where the wavefront waits for its data. There are tracks of its loads, of the work-groups of a compute
    unit, of the slices of the cache (requests), their tag managers (fills and write-backs), and the bursts of AXI
    ports. Counters: wavefronts in each compute unit, instructions issued, SIMD occupancy and the cache's events, of
    every 64 cycles. Needs the package ``perfetto``.
    """
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

    with path.open("wb") as file:
        for packet in _packets(log, TracePacket):
            _write(file, packet.SerializeToString())


def _write(file: BinaryIO, packet: bytes) -> None:
    """A ``Trace`` is a sequence of its field 1, so packets can be written one by one."""
    length, header = len(packet), bytearray(b"\x0a")
    while length > 127:
        header.append(length & 127 | 128)
        length >>= 7
    file.write(bytes([*header, length]) + packet)


def _packets(log: EventLog, new: Any) -> "Iterator[TracePacket]":
    visits, bars, counters = list(log.visits()), list(_bars(log)), list(_counters(log))
    groups = sorted({(track, bar.group) for track, bar in bars})
    yield from _tracks(log, new, groups, [name for name, _ in counters])
    begin, end = 1, 2       # TrackEvent.Type
    leaving, coming = _flows(log, visits)
    for number, stays in enumerate(visits):
        first = stays[0]
        track = _SLOTS + first.unit * WAVEFRONTS + first.slot
        packet = _event(new, first.start, track, begin, log.places.at(first.pc))
        if number in leaving:
            packet.track_event.flow_ids.append(leaving[number])
        if number in coming:
            packet.track_event.terminating_flow_ids.append(coming[number])
        yield packet
        for stay in stays:
            yield _event(new, stay.start, track, begin, stay.state.name.lower())
            yield _event(new, stay.end, track, end)
        yield _event(new, stays[-1].end, track, end)
    for track, bar in bars:
        yield _event(new, bar.start, track, begin, bar.name)
        yield _event(new, bar.end, track, end)
    yield from _instants(log, new)
    for track, (_, values) in enumerate(counters, _COUNTERS):
        for window, value in enumerate(values.tolist()):
            packet = _event(new, log.first + window * _WINDOW, track, 4)
            packet.track_event.double_counter_value = value
            yield packet


def _event(new: Any, cycle: int, track: int, kind: int, name: str = "") -> "TracePacket":
    packet = new(timestamp=cycle, trusted_packet_sequence_id=_SEQUENCE)
    packet.track_event.type = kind
    packet.track_event.track_uuid = track
    if name:
        packet.track_event.name = name
    return packet


def _flows(log: EventLog, visits: Sequence[Sequence[Stay]]) -> tuple[dict[int, int], dict[int, int]]:
    """The numbers of the flows that leave visits, and of those that end at visits.

    :meth:`Places.awaited <fgpu.sim.places.Places.awaited>` says for which load a wavefront waits. The first who does
    has the flow.
    """
    leaving: dict[int, int] = {}
    coming: dict[int, int] = {}
    last: dict[tuple[int, int, int], int] = {}      # compute unit, slot, PC: the latest visit
    for number, stays in enumerate(visits):
        unit, slot, pc = stays[0].unit, stays[0].slot, stays[0].pc
        last[unit, slot, pc] = number
        if any(stay.state is WavefrontState.MEMORY_READ for stay in stays):
            load = log.places.awaited(pc)
            began = number if load is None else last.get((unit, slot, load), number)
            if began != number and began not in leaving:
                leaving[began] = coming[number] = len(leaving) + 1
    return leaving, coming


class _Group(NamedTuple):
    """Tracks for what may overlap, from ``first`` on."""

    first: int
    name: str
    parent: int
    is_numbered: bool = False


class _Bar(NamedTuple):
    """Something that takes some cycles."""

    group: _Group
    start: int
    end: int
    name: str


def _all_bars(log: EventLog) -> Iterator[_Bar]:
    for unit, number, start, end, offsets in log.residences():
        group = _Group(_GROUPS + unit * 16 + number, f"work-group {number}", _UNITS + unit)
        yield _Bar(group, start, end, f"from work-item {', '.join(map(str, offsets))} on")
    for load in log.loads():
        slot = load.unit * WAVEFRONTS + load.slot
        group = _Group(_LOADS + 8 * slot, f"wavefront {load.slot}, load", _UNITS + load.unit, is_numbered=True)
        yield _Bar(group, load.start, load.end, log.places.at(load.pc))
    for burst in log.bursts():
        group = _Group(_PORTS + burst.port * 200, f"AXI {burst.port}, burst", _CORE, is_numbered=True)
        yield _Bar(group, burst.start, burst.end, f"{'write' if burst.is_write else 'read'} {burst.address:#x}")
    for part, manager, start, end, address, is_write, _ in log.transfers():
        first = _SLICES + part * 200
        what = "write-back" if is_write else "fill"
        group = _Group(first + 2 * manager + 1 + is_write, f"tag manager {manager}, {what}", first)
        yield _Bar(group, start, end, f"{what} {address:#x}")


def _bars(log: EventLog) -> Iterator[tuple[int, _Bar]]:
    """Each with its track: those of a group that overlap are on different ones."""
    free: dict[_Group, list[int]] = defaultdict(list)       # until when each track is taken
    for bar in sorted(_all_bars(log), key=lambda bar: bar.start):
        ends = free[bar.group]
        row = next((row for row, end in enumerate(ends) if end <= bar.start), len(ends))
        ends[row:row + 1] = [bar.end]
        yield bar.group.first + row, bar


_INSTANTS: Final = {
    EventKind.EVENT_REFUSAL: "refused", EventKind.EVENT_PUSH: "push", EventKind.EVENT_SWITCH: "switch",
    EventKind.EVENT_POP: "pop", EventKind.EVENT_ARRIVE: "arrive", EventKind.EVENT_RELEASE: "release",
}


def _instants(log: EventLog, new: Any) -> "Iterator[TracePacket]":
    instant = 3     # TrackEvent.Type
    entries = log.entries
    for cycle, kind, unit, number, pc, value in entries[np.isin(entries["kind"], list(_INSTANTS))].tolist():
        items = f" ({value.bit_count()} work-items)" if EventKind.EVENT_PUSH <= kind <= EventKind.EVENT_POP else ""
        yield _event(new, cycle, _SLOTS + unit * WAVEFRONTS + number, instant,
                     f"{_INSTANTS[EventKind(kind)]}{items} at {log.places.at(pc)}")
    for cycle, _, part, access, unit, address in log.of(EventKind.EVENT_REQUEST).tolist():
        name = Access(access).name.replace("_", " ").lower()
        yield _event(new, cycle, _SLICES + part * 200, instant, f"{name} {address:#x} of CU {unit}")


def _tracks(log: EventLog, new: Any, groups: Iterable[tuple[int, _Group]],
            counters: Iterable[str]) -> "Iterator[TracePacket]":
    def track(number: int, name: str, parent: int = 0, *, is_counter: bool = False) -> "TracePacket":
        packet = new(trusted_packet_sequence_id=_SEQUENCE)
        packet.track_descriptor.uuid = number
        packet.track_descriptor.name = name
        if parent:
            packet.track_descriptor.parent_uuid = parent
        if is_counter:
            packet.track_descriptor.counter.SetInParent()
        return packet

    yield track(_CORE, f"FGPU: {log.kernel}")
    for unit in log.parts.units:
        yield track(_UNITS + unit, f"CU {unit}", _CORE)
        for slot in log.parts.slots[unit]:
            yield track(_SLOTS + unit * WAVEFRONTS + slot, f"wavefront {slot}", _UNITS + unit)
    for part in log.parts.slices:
        yield track(_SLICES + part * 200, f"cache slice {part}", _CORE)
    for number, group in groups:
        yield track(number, f"{group.name} {number - group.first}" if group.is_numbered else group.name, group.parent)
    for number, name in enumerate(counters, _COUNTERS):
        yield track(number, name, _CORE, is_counter=True)


def _counters(log: EventLog) -> Iterator[tuple[str, np.ndarray]]:
    """Names of counters and their values, one for each window of cycles."""
    windows = max(1, -(-(log.end - log.first) // _WINDOW))

    def counted(events: np.ndarray) -> np.ndarray:
        places = (events["cycle"].astype(np.int64) - log.first) // _WINDOW
        return np.bincount(places, minlength=windows)[:windows]

    issues, cache = log.of(EventKind.EVENT_ISSUE), log.of(EventKind.EVENT_CACHE)
    stays = list(log.stays())
    for unit in filter(log.parts.has_all_of, log.parts.units):
        yield f"CU {unit}: instructions in {_WINDOW} cycles", counted(issues[issues["unit"] == unit])
        mine = issues[issues["unit"] == unit]
        items = np.bincount((mine["cycle"].astype(np.int64) - log.first) // _WINDOW, weights=enabled(mine["value"]),
                            minlength=windows)[:windows]
        yield f"CU {unit}: SIMD occupancy in percent", 100 / WAVEFRONT_SIZE * items / np.maximum(1, counted(mine))
        present = np.zeros(windows, np.int64)
        for stay in stays:
            if stay.unit == unit:
                first, last = (stay.start - log.first) // _WINDOW, (stay.end - 1 - log.first) // _WINDOW
                for window in range(first, last + 1):
                    low = log.first + window * _WINDOW
                    present[window] += min(stay.end, low + _WINDOW) - max(stay.start, low)
        yield f"CU {unit}: wavefronts", present / _WINDOW
    for name in dict.fromkeys(log.cache_events):
        numbers = [number for number, each in enumerate(log.cache_events) if each == name]
        mine = cache[np.isin(cache["number"], numbers)]
        if len(mine):
            yield f"cache: {name.replace('_', ' ')} in {_WINDOW} cycles", counted(mine)
