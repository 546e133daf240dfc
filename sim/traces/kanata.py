"""Kanata 0004, for the viewer Konata: a row for each instruction of a wavefront, with its states as stages."""

from bisect import bisect_left
from collections import defaultdict
from pathlib import Path
from typing import Final

import numpy as np

from fgpu.config import WAVEFRONTS
from fgpu.probe import WavefrontState

from ..event_log import EventKind, EventLog

__all__ = ["STAGES", "write_kanata"]

STAGES: Final = {
    WavefrontState.FETCH: "F", WavefrontState.READY: "R", WavefrontState.EXECUTE: "X", WavefrontState.BRANCH: "B",
    WavefrontState.MEMORY_READ: "M", WavefrontState.WRITE_PRESSURE: "W", WavefrontState.BARRIER: "S",
    WavefrontState.STOPPED: "!",
}
"""Stages: it waits for its fetch, for its turn, for a result, to know where the branch leads, for data, for the
memory controller, at a barrier; ``!``: a fault stopped it."""


_NAMES: Final = {
    EventKind.EVENT_ISSUE: "issued", EventKind.EVENT_PUSH: "push", EventKind.EVENT_SWITCH: "switch",
    EventKind.EVENT_POP: "pop", EventKind.EVENT_REFUSAL: "refused",
}


def write_kanata(log: EventLog, path: Path) -> None:
    """Write the file. A wavefront slot is a thread. What is said on hover: the enabled work-items, where they part
    and meet, and refusals."""
    commands: list[tuple[int, int, str]] = []       # cycle, order within it, text
    notes = _notes(log)
    for number, rows in enumerate(log.visits()):
        unit, slot, pc = rows[0].unit, rows[0].slot, rows[0].pc
        thread = unit * WAVEFRONTS + slot
        text = log.places.at(pc)
        begin = [f"I\t{number}\t{number}\t{thread}", f"L\t{number}\t0\tCU {unit} wavefront {slot}: {text}"]
        commands.extend((rows[0].start, 0, line) for line in begin)
        commands.extend((stay.start, 1, f"S\t{number}\t0\t{STAGES[stay.state]}") for stay in rows)
        commands.extend((cycle, 1, f"L\t{number}\t1\t{note} ")
                        for cycle, note in _between(notes.get((unit, slot), []), rows[0].start, rows[-1].end))
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


def _notes(log: EventLog) -> dict[tuple[int, int], list[tuple[int, str]]]:
    """By compute unit and slot: in which cycle something is to be said when the pointer is over an instruction."""
    notes: dict[tuple[int, int], list[tuple[int, str]]] = defaultdict(list)
    for cycle, kind, unit, slot, _, value in log.entries[np.isin(log.entries["kind"], list(_NAMES))].tolist():
        if kind == EventKind.EVENT_REFUSAL:
            notes[unit, slot].append((cycle, "refused"))
        else:
            notes[unit, slot].append((cycle, f"{_NAMES[EventKind(kind)]}: work-items {value:#x}"))
    return notes


def _between(notes: list[tuple[int, str]], start: int, end: int) -> list[tuple[int, str]]:
    """Those of the cycles from ``start`` to before ``end``."""
    return notes[bisect_left(notes, start, key=_cycle):bisect_left(notes, end, key=_cycle)]


def _cycle(note: tuple[int, str]) -> int:
    return note[0]
