"""Programs that may be ended before they end."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

__all__ = ["Until", "run"]

Until = Callable[[], bool]
"""Asked now and then while a program runs: whether it is to be ended."""
_SECONDS: Final = 1.0


def run(command: Sequence[str], folder: Path, *, until: Until | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder to its end, or ``until``; its status is then that of a signal, below 0."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while True:
            try:
                output, errors = process.communicate(timeout=None if until is None else _SECONDS)
            except subprocess.TimeoutExpired:
                if until is not None and until():
                    process.kill()
            except BaseException:
                process.kill()
                raise
            else:
                return subprocess.CompletedProcess(command, process.returncode, output, errors)
