"""How long a kernel may run: one that never ends would hold its queue, and who waits for it, for ever."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fgpu.sim.engine import Progress

__all__ = ["VARIABLE", "seconds", "watch"]

VARIABLE: Final = "FGPU_OPENCL_SECONDS"
"""The environment variable with the seconds that a launch may take; 0 is no limit."""
_FUNCTIONAL: Final = 600.0
_CYCLE_ACCURATE: Final = 12 * 3600.0
"""A night. What takes seconds elsewhere may take hours there."""


def seconds(engine: str) -> float:
    """The limit on an engine. What is no number is told once, and counts as not given."""
    default = _FUNCTIONAL if engine == "functional" else _CYCLE_ACCURATE
    text = os.environ.get(VARIABLE, "").strip()
    try:
        limit = float(text) if text else default
        if not limit >= 0:
            raise ValueError
    except ValueError:
        sys.stderr.write(f"fgpu: {VARIABLE} must be seconds, or 0 for no limit, not {text!r}; it is {default:g}\n")
        return default
    return limit


def watch(engine: str) -> "Callable[[Progress], None] | None":
    """What a simulator tells how far a launch is, and that ends it at the limit."""
    limit = seconds(engine)

    def told(progress: "Progress") -> None:
        from fgpu.sim.engine import OutOfTime

        if progress.seconds > limit:
            raise OutOfTime(f"{limit:g} seconds ({VARIABLE})")

    return told if limit else None
