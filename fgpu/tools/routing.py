"""Routing of what has its places: for nearly the clock that is expected, or for less where that has no end."""

import re
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from .native import Tool

__all__ = ["AIMS", "ITERATIONS", "PATIENCE", "RIP_UP", "route"]

AIMS: Final = (0.985, 0.96, 0.93)
"""Of the frequency that is expected: for so much wires are routed, and again if they are slower."""
RIP_UP: Final = "--tmg-ripup"
"""nextpnr's option for that. Where too many wires are too slow, others never find their ways meanwhile."""
PATIENCE: Final = 20
"""Iterations of ``router2`` without fewer conflicts than ever before, after which an aim is given up."""
ITERATIONS: Final = 100
"""After so many it is given up in any case: it mostly ends after thirty to eighty, or never."""
_CONFLICTS: Final = re.compile(rb"iter=\d+ wires=\d+ overused=(\d+)")


def route(tool: Tool, folder: Path, log: str, options: Callable[[float], Sequence[str]],
          tell: Callable[[str], None]) -> subprocess.CompletedProcess[str]:
    """Run nextpnr in a folder, with its log there, until wires have their ways.

    ``options`` are for an aim: one of :data:`AIMS`, of which each is given up after :data:`PATIENCE` or
    :data:`ITERATIONS`. With the last one again, as often as it takes, wires stay as slow as they are: some by several
    nanoseconds.
    """
    is_endless = partial(_is_endless, folder / log)
    for aim in AIMS:
        (folder / log).unlink(missing_ok=True)
        done = tool.run([*options(aim), RIP_UP], folder, until=is_endless)
        if done.returncode == 0 or not is_endless():
            return done
        tell(f"routing again: no end for {aim:.1%} of what is expected")
    return tool.run(options(AIMS[-1]), folder)


def _is_endless(log: Path) -> bool:
    """Whether the router's log gives no hope of an end."""
    conflicts = [int(number) for number in _CONFLICTS.findall(log.read_bytes())] if log.exists() else []
    if not conflicts:
        return False
    return len(conflicts) > ITERATIONS or len(conflicts) - conflicts.index(min(conflicts)) > PATIENCE
