"""Events as a table of comma-separated values: one a line."""

import csv
from pathlib import Path

from fgpu.probe import WavefrontState

from ..event_log import EventKind, EventLog

__all__ = ["write_csv"]


def write_csv(log: EventLog, path: Path) -> None:
    """Columns: cycle, event, compute unit, wavefront, pc, what (a state, enabled work-items, an event of the cache, a
    burst), source line."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["cycle", "event", "compute_unit", "wavefront", "pc", "what", "line"])
        for cycle, kind, unit, number, pc, value in log.entries.tolist():
            name = EventKind(kind).name.removeprefix("EVENT_").lower()
            if kind == EventKind.EVENT_CACHE:
                table.writerow([cycle, name, "", "", "", log.cache_events[number], ""])
                continue
            if kind >= EventKind.EVENT_READ:
                start = f" address {value:#x}" if kind in (EventKind.EVENT_READ, EventKind.EVENT_WRITE) else ""
                table.writerow([cycle, name, "", "", "", f"port {unit} id {number}{start}", ""])
                continue
            what = WavefrontState(value).name.lower() if kind == EventKind.EVENT_STATE else value
            table.writerow([cycle, name, unit, number, pc, what, log.locations.get(pc, "")])
