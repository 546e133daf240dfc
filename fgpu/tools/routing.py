"""Routing of what has its places: for nearly the clock that is expected, or for less where that has no end."""

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from .native import Tool

__all__ = ["AIMS", "ITERATIONS", "RIP_UP", "route"]

AIMS: Final = (0.985, 0.96, 0.93)
"""Of the frequency that is expected: for so much wires are routed, and again if they are slower."""
RIP_UP: Final = "--tmg-ripup"
"""nextpnr's option for that. Where too many wires are too slow, others never find their ways meanwhile."""
ITERATIONS: Final = 60
"""Of ``router2``, for each aim: it mostly ends after some thirty, or never."""
_ITERATION: Final = re.compile(rb"iter=(\d+) wires=")


def route(tool: Tool, folder: Path, log: str, options: Callable[[float], Sequence[str]],
          tell: Callable[[str], None]) -> subprocess.CompletedProcess[str]:
    """Run nextpnr in a folder, with its log there, until wires have their ways.

    ``options`` are for an aim: one of :data:`AIMS`, of which each is given up after :data:`ITERATIONS`. With the
    last one again, as often as it takes, wires stay as slow as they are: some by several nanoseconds.
    """
    def is_endless() -> bool:
        return _iterations(folder / log) > ITERATIONS

    for aim in AIMS:
        (folder / log).unlink(missing_ok=True)
        done = tool.run([*options(aim), RIP_UP], folder, until=is_endless)
        if not is_endless():
            return done
        tell(f"routing again: no end after {ITERATIONS} iterations for {aim:.1%} of what is expected")
    return tool.run(options(AIMS[-1]), folder)


def _iterations(log: Path) -> int:
    found = _ITERATION.findall(log.read_bytes()) if log.exists() else []
    return int(found[-1]) if found else 0
