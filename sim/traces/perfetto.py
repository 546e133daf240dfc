"""Perfetto's protobuf, for https://ui.perfetto.dev: a track for each wavefront slot, counters for the rest."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from fgpu.config import WAVEFRONTS
from fgpu.probe import WavefrontState

from ..event_log import Burst, EventKind, EventLog

if TYPE_CHECKING:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

__all__ = ["write_perfetto"]

_SEQUENCE: Final = 1
_CORE: Final = 1            # the unique ids of tracks
_UNITS: Final = 100
_SLOTS: Final = 1000
_PORTS: Final = 5000
_COUNTERS: Final = 10_000
_WINDOW: Final = 64         # cycles that a value of a counter is about


def write_perfetto(log: EventLog, path: Path) -> None:
    """Write the file; a cycle is shown as a nanosecond.

    On a wavefront's track its instructions follow each other, each with its states inside; a flow leads from a load
    to where the wavefront waits for its data. On those of an AXI port are its bursts. Counters: wavefronts in each
    compute unit and instructions issued, and the cache's events, of every 64 cycles. Needs the package ``perfetto``.
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
    yield from _tracks(log, new)
    begin, end = 1, 2       # TrackEvent.Type
    flows = _flows(log)
    for (unit, slot, pc), group in groupby(log.stays(), key=lambda stay: (stay.unit, stay.slot, stay.pc)):
        stays = list(group)
        track = _SLOTS + unit * WAVEFRONTS + slot
        packet = _event(new, stays[0].start, track, begin, log.places.at(pc))
        leaves, comes = flows.get((unit, slot, stays[0].start), (None, None))
        if leaves is not None:
            packet.track_event.flow_ids.append(leaves)
        if comes is not None:
            packet.track_event.terminating_flow_ids.append(comes)
        yield packet
        for stay in stays:
            yield _event(new, stay.start, track, begin, stay.state.name.lower())
            yield _event(new, stay.end, track, end)
        yield _event(new, stays[-1].end, track, end)
    for track, burst in _rows(log):
        what = "write" if burst.is_write else "read"
        yield _event(new, burst.start, track, begin, f"{what} {burst.address:#x}")
        yield _event(new, burst.end, track, end)
    for track, (_, values) in enumerate(_counters(log), _COUNTERS):
        for window, value in enumerate(values.tolist()):
            packet = new(timestamp=log.first + window * _WINDOW, trusted_packet_sequence_id=_SEQUENCE)
            packet.track_event.type = 4
            packet.track_event.track_uuid = track
            packet.track_event.double_counter_value = value
            yield packet


def _event(new: Any, cycle: int, track: int, kind: int, name: str = "") -> "TracePacket":
    packet = new(timestamp=cycle, trusted_packet_sequence_id=_SEQUENCE)
    packet.track_event.type = kind
    packet.track_event.track_uuid = track
    if name:
        packet.track_event.name = name
    return packet


def _flows(log: EventLog) -> dict[tuple[int, int, int], tuple[int | None, int | None]]:
    """Of visits that begin with (compute unit, slot, cycle): the number of the flow that leaves, and that ends there.

    :meth:`Places.awaited <fgpu.sim.places.Places.awaited>` says for which load a wavefront waits.
    """
    flows: dict[tuple[int, int, int], tuple[int | None, int | None]] = {}
    last: dict[tuple[int, int, int], int] = {}      # compute unit, slot, PC: the visit's begin
    count = 0
    for (unit, slot, pc), group in groupby(log.stays(), key=lambda stay: (stay.unit, stay.slot, stay.pc)):
        stays = list(group)
        start = last[unit, slot, pc] = stays[0].start
        load = next((log.places.awaited(pc) for stay in stays if stay.state is WavefrontState.MEMORY_READ), None)
        if load is not None and (began := last.get((unit, slot, load), start)) != start:
            leaves, comes = flows.get((unit, slot, began), (None, None))
            if leaves is None:      # the first who waits for it
                count += 1
                flows[unit, slot, began] = count, comes
                flows[unit, slot, start] = flows.get((unit, slot, start), (None, None))[0], count
    return flows


def _rows(log: EventLog) -> Iterator[tuple[int, Burst]]:
    """The bursts and their tracks: those of a port that overlap are on different ones."""
    free: dict[int, list[int]] = defaultdict(list)      # port: until when each track is taken
    for burst in sorted(log.bursts(), key=lambda burst: burst.start):
        ends = free[burst.port]
        row = next((row for row, end in enumerate(ends) if end <= burst.start), len(ends))
        ends[row:row + 1] = [burst.end]
        yield _PORTS + burst.port * 200 + row, burst


def _tracks(log: EventLog, new: Any) -> "Iterator[TracePacket]":
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
    for unit in range(log.config.compute_units):
        yield track(_UNITS + unit, f"CU {unit}", _CORE)
        for slot in range(WAVEFRONTS):
            yield track(_SLOTS + unit * WAVEFRONTS + slot, f"wavefront {slot}", _UNITS + unit)
    for number in sorted({row for row, _ in _rows(log)}):
        port, row = divmod(number - _PORTS, 200)
        yield track(number, f"AXI {port}, burst {row}", _CORE)
    for number, (name, _) in enumerate(_counters(log), _COUNTERS):
        yield track(number, name, _CORE, is_counter=True)


def _counters(log: EventLog) -> Iterator[tuple[str, np.ndarray]]:
    """Names of counters and their values, one for each window of cycles."""
    windows = max(1, -(-(log.end - log.first) // _WINDOW))

    def counted(events: np.ndarray) -> np.ndarray:
        places = (events["cycle"].astype(np.int64) - log.first) // _WINDOW
        return np.bincount(places, minlength=windows)[:windows]

    issues, cache = log.of(EventKind.EVENT_ISSUE), log.of(EventKind.EVENT_CACHE)
    stays = list(log.stays())
    for unit in range(log.config.compute_units):
        yield f"CU {unit}: instructions in {_WINDOW} cycles", counted(issues[issues["unit"] == unit])
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
