"""FST, for GTKWave and Surfer: signals of wavefronts, of the cache and of AXI ports, with a selection of them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from vcd.gtkw import GTKWSave  # a package that Amaranth brings

from fgpu.config import WAVEFRONTS
from fgpu.probe import WavefrontState

from ..event_log import Access, EventKind, EventLog, enabled

__all__ = ["write_fst"]

_STATE_BITS: Final = WavefrontState.as_shape().width
_PC_BITS: Final = 16

Changes = Iterable[tuple[int, int | str]]
"""Cycles from which on a signal has a value, in order."""


def write_fst(log: EventLog, path: Path) -> None:
    """Write the file, a cycle as a nanosecond, and beside it one for GTKWave (``.gtkw``) with what to look at first.

    Scopes and signals: ``cuN.wavefrontM``: ``state`` (by name), ``pc``, ``instruction``, ``mask`` (the work-items
    that were enabled last), ``loads`` under way, and ``push``, ``switch``, ``pop`` and ``refused``, one cycle long;
    ``cuN``: ``issue`` (one cycle long), ``lanes``, ``wavefront`` of what is issued, ``groups`` that are there;
    ``cache``: each event of a slice, one cycle long; ``cache.sliceN``: ``request`` (what, and its line), ``fills``
    and ``write_backs`` of tag managers under way; ``axiN``: ``reads`` and ``writes`` under way. Needs the package
    ``pylibfst``.
    """
    from pylibfst import ffi, lib

    file = lib.fstWriterCreate(str(path).encode(), 1)
    if file == ffi.NULL:
        raise OSError(f"cannot write {path}")
    try:
        _write(log, path, _File(ffi, lib, file))
    finally:
        lib.fstWriterClose(file)


class _File:
    """Signals and their changes in a file that is open."""

    def __init__(self, ffi: Any, lib: Any, file: Any) -> None:
        self._ffi, self._lib, self._file = ffi, lib, file
        lib.fstWriterSetTimescaleFromString(file, b"1ns")
        states = [(state.name.lower(), format(state.value, f"0{_STATE_BITS}b")) for state in WavefrontState]
        names, values = ([ffi.new("char[]", text.encode()) for text in texts]
                         for texts in zip(*states, strict=True))
        self._states = lib.fstWriterCreateEnumTable(
            file, b"WavefrontState", len(states), _STATE_BITS, ffi.new("char *[]", names),
            ffi.new("char *[]", values))
        self._changes: list[tuple[int, int, int | str]] = []
        self._widths: dict[int, int] = {}

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """What signals that are made meanwhile belong to."""
        self._lib.fstWriterSetScope(self._file, self._lib.FST_ST_VCD_MODULE, name.encode(), self._ffi.NULL)
        yield
        self._lib.fstWriterSetUpscope(self._file)

    def signal(self, name: str, width: int, changes: Changes) -> None:
        """A signal of so many bits, 0 for a text, with its values."""
        if name == "state":
            self._lib.fstWriterEmitEnumTableRef(self._file, self._states)
        kind = self._lib.FST_VT_VCD_REG if width else self._lib.FST_VT_GEN_STRING
        handle = self._lib.fstWriterCreateVar(self._file, kind, self._lib.FST_VD_IMPLICIT, width, name.encode(), 0)
        self._widths[handle] = width
        self._changes.extend((cycle, handle, value) for cycle, value in changes)

    def finish(self, first: int, end: int) -> None:
        """Write all changes: a signal that has none at the first cycle is 0 there."""
        for handle, width in self._widths.items():
            self._changes.append((first - 1, handle, 0 if width else ""))
        self._changes.sort(key=lambda change: change[0])    # stable: of two in a cycle the later one counts
        now = -1
        for cycle, handle, value in self._changes:
            if max(cycle, first) > now:
                now = max(cycle, first)
                self._lib.fstWriterEmitTimeChange(self._file, now)
            if isinstance(value, str):
                text = value.encode()
                self._lib.fstWriterEmitVariableLengthValueChange(self._file, handle, text, len(text))
            else:
                self._lib.fstWriterEmitValueChange64(self._file, handle, self._widths[handle], value)
        self._lib.fstWriterEmitTimeChange(self._file, end)


def _write(log: EventLog, path: Path, file: _File) -> None:
    shown: dict[str, list[tuple[str, str]]] = {}        # signals to look at first by group, with their formats
    with file.scope("fgpu"):
        for unit in log.parts.units:
            with file.scope(f"cu{unit}"):
                shown[f"CU {unit}"] = list(_unit(log, unit, file))
        with file.scope("cache"):
            _cache(log, file)
            for number in log.parts.slices:
                with file.scope(f"slice{number}"):
                    shown[f"cache slice {number}"] = list(_slice(log, number, file))
        for port in log.parts.ports:
            with file.scope(f"axi{port}"):
                shown[f"AXI {port}"] = list(_port(log, port, file))
    file.finish(log.first, log.end)
    with path.with_suffix(".gtkw").open("w") as save:
        gtkw = GTKWSave(save)
        gtkw.dumpfile(path.name, abspath=False)
        gtkw.zoom_markers(-4.0)
        for group, signals in shown.items():
            with gtkw.group(group):
                for name, form in signals:
                    gtkw.trace(name, datafmt=form)


def _unit(log: EventLog, unit: int, file: _File) -> Iterator[tuple[str, str]]:
    states = log.of(EventKind.EVENT_STATE)
    if log.parts.has_all_of(unit):
        issues = log.of(EventKind.EVENT_ISSUE)
        mine = issues[issues["unit"] == unit]
        file.signal("issue", 1, _pulses(mine["cycle"]))
        file.signal("lanes", 7, zip(mine["cycle"].tolist(), enabled(mine["value"]).tolist(), strict=True))
        file.signal("wavefront", 3, zip(mine["cycle"].tolist(), mine["number"].tolist(), strict=True))
        yield f"fgpu.cu{unit}.issue", "bin"
        yield f"fgpu.cu{unit}.lanes[6:0]", "dec"
        groups = ((start, end) for place, _, start, end, _ in log.residences() if place == unit)
        file.signal("groups", 4, _how_many(log, groups))
    loads: dict[int, list[tuple[int, int]]] = {slot: [] for slot in range(WAVEFRONTS)}
    for load in log.loads():
        if load.unit == unit:
            loads[load.slot].append((load.start, load.end))
    for slot in range(WAVEFRONTS):
        there = states[(states["unit"] == unit) & (states["number"] == slot)]
        if len(there):
            with file.scope(f"wavefront{slot}"):
                _wavefront(log, there, file)
                _work_items(log, unit, slot, file)
                file.signal("loads", 4, _how_many(log, loads[slot]))
            yield f"fgpu.cu{unit}.wavefront{slot}.state[{_STATE_BITS - 1}:0]", "bin"
            yield f"fgpu.cu{unit}.wavefront{slot}.instruction", "ascii"
            yield f"fgpu.cu{unit}.wavefront{slot}.mask[63:0]", "hex"


def _cache(log: EventLog, file: _File) -> None:
    events, names = log.of(EventKind.EVENT_CACHE), list(log.cache_events)
    for number, name in enumerate(names):
        part = names[:number].count(name)
        if part not in log.parts.slices:
            continue
        of_slice = f"_{part}" if names.count(name) > 1 else ""
        file.signal(name + of_slice, 1, _pulses(events["cycle"][events["number"] == number]))


def _port(log: EventLog, port: int, file: _File) -> Iterator[tuple[str, str]]:
    for name, begin, end in (("reads", EventKind.EVENT_READ, EventKind.EVENT_READ_END),
                             ("writes", EventKind.EVENT_WRITE, EventKind.EVENT_WRITE_END)):
        file.signal(name, 8, _under_way(log, port, begin, end))
        yield f"fgpu.axi{port}.{name}[7:0]", "dec"


def _wavefront(log: EventLog, states: np.ndarray, file: _File) -> None:
    cycles, pcs = states["cycle"].tolist(), states["pc"].tolist()
    free = [value == WavefrontState.FREE.value for value in states["value"].tolist()]
    file.signal("state", _STATE_BITS, zip(cycles, states["value"].tolist(), strict=True))
    file.signal("pc", _PC_BITS, zip(cycles, pcs, strict=True))
    texts = {pc: log.places.at(pc) for pc in set(pcs)}
    file.signal("instruction", 0, (
        (cycle, "" if nobody else texts[pc]) for cycle, pc, nobody in zip(cycles, pcs, free, strict=True)))


def _work_items(log: EventLog, unit: int, slot: int, file: _File) -> None:
    """Which are enabled, and where that changes."""
    mine = log.entries[(log.entries["unit"] == unit) & (log.entries["number"] == slot)]

    def of(kind: EventKind) -> np.ndarray:
        return mine[mine["kind"] == kind]

    issues = of(EventKind.EVENT_ISSUE)
    file.signal("mask", 64, zip(issues["cycle"].tolist(), issues["value"].tolist(), strict=True))
    for name, kind in (("push", EventKind.EVENT_PUSH), ("switch", EventKind.EVENT_SWITCH),
                       ("pop", EventKind.EVENT_POP), ("refused", EventKind.EVENT_REFUSAL)):
        file.signal(name, 1, _pulses(of(kind)["cycle"]))


def _slice(log: EventLog, number: int, file: _File) -> Iterator[tuple[str, str]]:
    requests = log.of(EventKind.EVENT_REQUEST)
    mine = requests[requests["unit"] == number]
    cycles = mine["cycle"].tolist()
    texts = [f"{Access(access).name.replace('_', ' ').lower()} {address:#x} of CU {unit}" for access, unit, address
             in mine[["number", "pc", "value"]].tolist()]
    after = [(cycle + 1, "") for cycle, following in zip(cycles, [*cycles[1:], -1], strict=False)
             if following != cycle + 1]
    file.signal("request", 0, sorted([*zip(cycles, texts, strict=True), *after], key=lambda change: change[0]))
    yield f"fgpu.cache.slice{number}.request", "ascii"
    for name, is_write in (("fills", False), ("write_backs", True)):
        some = ((each.start, each.end) for each in log.transfers()
                if each.slice == number and each.is_write is is_write)
        file.signal(name, 6, _how_many(log, some))
        yield f"fgpu.cache.slice{number}.{name}[5:0]", "dec"


def _how_many(log: EventLog, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """How many there are of what lasts from a cycle to another one, not included; in the log's cycles."""
    changes: Counter[int] = Counter()
    for start, end in spans:
        changes[start] += 1
        if end < log.end:
            changes[end] -= 1
    count = 0
    for cycle, change in sorted(changes.items()):
        count += change
        yield cycle, count


def _pulses(cycles: np.ndarray) -> Iterator[tuple[int, int]]:
    """A signal that is 1 in these cycles only, which are in order."""
    after = [*cycles.tolist()[1:], None]
    for cycle, following in zip(cycles.tolist(), after, strict=False):
        yield cycle, 1
        if following != cycle + 1:
            yield cycle + 1, 0


def _under_way(log: EventLog, port: int, begin: EventKind, end: EventKind) -> Iterator[tuple[int, int]]:
    """How many bursts there are on a port; those that began before the log are unknown."""
    entries = log.entries
    count = 0
    for cycle, kind in entries[(entries["unit"] == port) & np.isin(entries["kind"], (begin, end))][
            ["cycle", "kind"]].tolist():
        count = max(0, count + (1 if kind == begin else -1))
        yield cycle, count
