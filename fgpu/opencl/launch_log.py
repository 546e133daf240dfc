"""What each launch of an unmodified program took, as lines of JSON in a file that the environment names."""

import json
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fgpu.sim.run import Run

__all__ = ["VARIABLE", "note"]

VARIABLE: Final = "FGPU_OPENCL_LAUNCHES"
"""The environment variable with the file's path. Processes may share one: a line is added by one write."""
_refused: set[str] = set()


def note(device: str, global_size: tuple[int, ...], run: "Run") -> None:
    """Add a launch that has ended to the file, if there shall be one. A file that cannot be written is told once."""
    path = os.environ.get(VARIABLE, "")
    if not path or path in _refused:
        return
    line = json.dumps({
        "device": device, "kernel": run.kernel, "global_size": global_size, "local_size": run.local_size,
        "parts": run.parts, "instructions": run.instructions, "work_item_instructions": run.work_item_instructions,
        "cycles": run.cycles, "seconds": round(run.seconds, 6)}) + "\n"
    try:
        with open(path, "ab", buffering=0) as file:
            file.write(line.encode())
    except OSError as error:
        _refused.add(path)
        sys.stderr.write(f"fgpu: {VARIABLE} names a file that cannot be written: {error}\n")
