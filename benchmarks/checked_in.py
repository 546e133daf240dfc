"""Files of figures that are checked in, so that whoever moves one says so in the same commit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fgpu.files import write_atomically

__all__ = ["read_figures", "write_figures"]


def read_figures(path: Path) -> Any:
    """For each name its figures."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_figures(path: Path, figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Replace the file; a line a name, so that a commit shows what moved."""
    lines = (f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in figures.items())
    write_atomically(path, "{\n" + ",\n".join(lines) + "\n}\n")
