"""Events as a table of comma-separated values: one a line."""

import csv
from pathlib import Path
from typing import Final

from fgpu.probe import WavefrontState

from ..event_log import Access, EventKind, EventLog, Refusal

__all__ = ["write_csv"]

_PORTS: Final = (EventKind.EVENT_READ, EventKind.EVENT_READ_END, EventKind.EVENT_WRITE, EventKind.EVENT_WRITE_END)
_MANAGERS: Final = (EventKind.EVENT_FILL, EventKind.EVENT_EVICTION, EventKind.EVENT_WRITE_BACK,
                    EventKind.EVENT_FILLED, EventKind.EVENT_WRITTEN)
_MASKS: Final = (EventKind.EVENT_ISSUE, EventKind.EVENT_ACCESS, EventKind.EVENT_PUSH, EventKind.EVENT_SWITCH,
                 EventKind.EVENT_POP)


def write_csv(log: EventLog, path: Path) -> None:
    """Columns: cycle, event, compute unit, wavefront (of work-groups: their number), pc, what (a state, work-items as
    bits, a burst, a line), source line."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["cycle", "event", "compute_unit", "wavefront", "pc", "what", "line"])
        for cycle, kind, unit, number, pc, value in log.entries.tolist():
            name = EventKind(kind).name.removeprefix("EVENT_").lower()
            if kind == EventKind.EVENT_CACHE:
                table.writerow([cycle, name, "", "", "", log.cache_events[number], ""])
            elif kind in _PORTS:
                start = f" address {value:#x}" if kind in (EventKind.EVENT_READ, EventKind.EVENT_WRITE) else ""
                table.writerow([cycle, name, "", "", "", f"port {unit} id {number}{start}", ""])
            elif kind == EventKind.EVENT_REQUEST:
                access = Access(number).name.replace("_", " ").lower()
                table.writerow([cycle, name, pc, "", "", f"slice {unit} {access} address {value:#x}", ""])
            elif kind in _MANAGERS:
                line = f" address {value:#x}" if kind in (EventKind.EVENT_FILL, EventKind.EVENT_EVICTION) else ""
                table.writerow([cycle, name, "", "", "", f"slice {unit} tag manager {number}{line}", ""])
            elif kind == EventKind.EVENT_GROUP:
                table.writerow([cycle, name, unit, number, "", f"{value & 0xFFFF_FFFF} {value >> 32} {pc}", ""])
            elif kind in (EventKind.EVENT_GROUP_END, EventKind.EVENT_START):
                table.writerow([cycle, name, unit, number, "", "", ""])
            elif kind == EventKind.EVENT_LOAD_DONE:
                table.writerow([cycle, name, unit, number, "", _memory(value), ""])
            else:
                table.writerow([cycle, name, unit, number, pc, _what(kind, value), log.locations.get(pc, "")])


def _memory(is_local: int) -> str:
    return "local" if is_local else "global"


def _what(kind: int, value: int) -> str:
    if kind == EventKind.EVENT_STATE:
        return WavefrontState(value).name.lower()
    if kind == EventKind.EVENT_REFUSAL:
        return Refusal(value).name.replace("_", " ").lower()
    if kind == EventKind.EVENT_LOAD:
        return _memory(value)
    return f"{value:#x}" if kind in _MASKS else ""
