"""The simulation engines' names, for those who need no engine to ask which there are."""

from typing import Final

__all__ = ["BOARD", "ENGINES", "MAPPED", "MAX_CYCLES"]

ENGINES: Final = ("verilator", "pysim", "functional")
BOARD: Final = "board"
"""The engine that is hardware at a serial line."""
MAPPED: Final = "mapped"
"""The engine that is hardware beside this processor."""
MAX_CYCLES: Final = 10_000_000
"""Default watchdog limit of a launch, in cycles."""
