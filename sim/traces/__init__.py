"""Files that show the events of a launch in other people's viewers."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from fgpu.errors import LaunchError
from fgpu.extras import demand

from ..event_log import EventLog
from ..recording import Parts
from .csv_table import write_csv
from .fst import write_fst
from .kanata import write_kanata
from .perfetto import write_perfetto
from .picture import write_picture

__all__ = ["TRACE_WRITERS", "check_trace", "write_trace"]

TRACE_WRITERS: Final[dict[str, Callable[[EventLog, Path], None]]] = {
    ".pftrace": write_perfetto,
    ".kanata": write_kanata,
    ".fst": write_fst,
    ".csv": write_csv,
    ".svg": write_picture,
    ".png": write_picture,
}
"""What writes a file, by the end of its name."""
_OF_WAVEFRONTS: Final = (".kanata", ".svg", ".png")
_EXTRAS: Final = {".pftrace": "trace", ".fst": "trace", ".svg": "plot", ".png": "plot"}


def check_trace(path: Path, parts: Parts) -> None:
    """Raise :class:`~fgpu.errors.LaunchError` for a path that nothing can be written to, or nothing that such a file
    has, and :class:`~fgpu.errors.MissingExtraError` where the package for it is missing."""
    if path.suffix not in TRACE_WRITERS:
        raise LaunchError(f"events are written to files that end in {', '.join(TRACE_WRITERS)}, unlike {path.name}")
    if path.suffix in _EXTRAS:
        demand(f"a trace in {path.suffix}", _EXTRAS[path.suffix])
    if path.suffix in _OF_WAVEFRONTS and not parts.units:
        raise LaunchError(f"{path.suffix} shows wavefronts only; record a compute unit, too, or write another format")
    if not path.parent.is_dir():
        raise LaunchError(f"there is no folder {path.parent} to write {path.name} to")


def write_trace(log: EventLog, path: Path) -> None:
    """Write the log; the end of the path's name says how. Raises as :func:`check_trace`."""
    check_trace(path, log.parts)
    TRACE_WRITERS[path.suffix](log, path)
