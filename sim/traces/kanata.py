"""Kanata 0004, for the viewer Konata: a row for each instruction of a wavefront, with its states as stages."""

from pathlib import Path
from typing import Final

from fgpu.config import WAVEFRONTS
from fgpu.probe import WavefrontState

from ..event_log import EventLog

__all__ = ["STAGES", "write_kanata"]

STAGES: Final = {
    WavefrontState.FETCH: "F", WavefrontState.READY: "R", WavefrontState.EXECUTE: "X", WavefrontState.BRANCH: "B",
    WavefrontState.MEMORY_READ: "M", WavefrontState.WRITE_PRESSURE: "W", WavefrontState.BARRIER: "S",
    WavefrontState.STOPPED: "!",
}
"""Stages: it waits for its fetch, for its turn, for a result, to know where the branch leads, for data, for the
memory controller, at a barrier; ``!``: a fault stopped it."""


def write_kanata(log: EventLog, path: Path) -> None:
    """Write the file. A wavefront slot is a thread."""
    commands: list[tuple[int, int, str]] = []       # cycle, order within it, text
    for number, rows in enumerate(log.visits()):
        unit, slot, pc = rows[0].unit, rows[0].slot, rows[0].pc
        thread = unit * WAVEFRONTS + slot
        text = log.places.at(pc)
        begin = [f"I\t{number}\t{number}\t{thread}", f"L\t{number}\t0\tCU {unit} wavefront {slot}: {text}"]
        commands.extend((rows[0].start, 0, line) for line in begin)
        commands.extend((stay.start, 1, f"S\t{number}\t0\t{STAGES[stay.state]}") for stay in rows)
        commands.append((rows[-1].end, 2, f"R\t{number}\t{number}\t0"))
    commands.sort(key=lambda command: command[:2])      # stable: lines of an instruction keep their order
    now = commands[0][0] if commands else 0
    lines = ["Kanata\t0004", f"C=\t{now}"]
    for cycle, _, line in commands:
        if cycle != now:
            lines.append(f"C\t{cycle - now}")
            now = cycle
        lines.append(line)
    path.write_text("\n".join([*lines, ""]))
