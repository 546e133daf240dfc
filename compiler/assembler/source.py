"""The text of the source lines that a line table names, as far as the files are there."""

from collections.abc import Sequence
from pathlib import Path

from ..ir.module import Location
from ..line_table import OWN

__all__ = ["Sources"]

_COMPILER = Path(__file__).parent.parent


class Sources:
    """Source files, each read when it is first asked for. ``missing`` are those that are not there, and ``newer``
    those that changed after ``since``, a time of the file system: their lines may not be those that were compiled."""

    def __init__(self, since: float | None = None) -> None:
        self._since = since
        self._lines: dict[str, Sequence[str]] = {}
        self.missing: list[str] = []
        self.newer: list[str] = []

    def line(self, location: Location) -> str:
        """The text of a line without the blanks around it; empty if there is none."""
        if location.file not in self._lines:
            self._lines[location.file] = self._read(location.file)
        lines = self._lines[location.file]
        return " ".join(lines[location.line - 1].split()) if 0 < location.line <= len(lines) else ""

    def _read(self, file: str) -> Sequence[str]:
        own = file.startswith(f"{OWN}/")
        path = _COMPILER / file.removeprefix(f"{OWN}/") if own else Path(file)
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
            if self._since is not None and not own and path.stat().st_mtime > self._since:
                self.newer.append(file)
        except (OSError, ValueError):
            self.missing.append(file)
            return []
        return text.split("\n")
