"""What all engines and their users agree on: names, the place of global memory; without an engine to ask."""

from typing import Final

__all__ = ["BOARD", "ENGINES", "MAPPED", "MAX_CYCLES", "MEMORY_BASE"]

ENGINES: Final = ("verilator", "pysim", "functional")
BOARD: Final = "board"
"""The engine that is hardware at a serial line."""
MAPPED: Final = "mapped"
"""The engine that is hardware beside this processor."""
MAX_CYCLES: Final = 10_000_000
"""Default watchdog limit of a launch, in cycles."""
MEMORY_BASE: Final = 0x1000_0000
"""The first byte of global memory, unless something else is said: of simulators, of boards, and of buffers of OpenCL
and of benchmarks."""
