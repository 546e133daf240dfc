"""What is seen of a kernel that runs for long."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console

if TYPE_CHECKING:
    from fgpu.sim import Progress

__all__ = ["launch_progress"]

_FIRST_SECONDS: Final = 1.0
"""On a terminal; shorter runs show nothing."""
_INTERVAL_SECONDS: Final = 30.0
"""Between the lines where there is no terminal."""


@contextmanager
def launch_progress() -> Iterator[Callable[["Progress"], None]]:
    """For :class:`~fgpu.sim.Device`: one line on the terminal, kept up to date; elsewhere lines now and then."""
    console = Console(stderr=True)
    status = console.status("") if console.is_terminal else None
    next_line = _INTERVAL_SECONDS

    def tell(progress: "Progress") -> None:
        nonlocal next_line
        if status is None:
            if progress.seconds >= next_line:
                next_line = progress.seconds + _INTERVAL_SECONDS
                click.echo(f"running for {progress.seconds:.0f} s: {_text(progress)}", err=True)
        elif progress.seconds >= _FIRST_SECONDS:
            status.start()
            status.update(_text(progress))

    try:
        yield tell
    finally:
        if status is not None:
            status.stop()


def _text(progress: "Progress") -> str:
    done, unit = (progress.instructions, "instructions") if progress.cycles is None else \
        (progress.cycles, "cycles")
    parts = [f"{done:,} {unit}"]
    if progress.wavefronts:
        parts.append(f"{progress.wavefronts:,} of {progress.all_wavefronts:,} wavefronts started")
    if progress.seconds:
        parts.append(f"{done / progress.seconds:,.0f} a second")
    return ", ".join(parts)
