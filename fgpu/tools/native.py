"""Yosys and nextpnr where they are installed, several times quicker than those of the Python registry (YoWASP)."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from ..errors import ToolError
from .process import Until, run
from .yowasp import PACKAGES, run_yowasp

__all__ = ["Tool", "find_tool", "is_native"]

_NATIVE: Final = {
    "yosys": "yosys", "nextpnr_ecp5": "nextpnr-ecp5", "nextpnr_himbaechel_gowin": "nextpnr-himbaechel-gowin"}
_VERSION = re.compile(r"(?:Version |Yosys )(?:nextpnr-)?([\w.+-]+)")


@dataclass(frozen=True)
class Tool:
    """A program, found at ``path`` or else of YoWASP."""

    program: str
    version: str
    path: str | None

    def __str__(self) -> str:
        return f"{_NATIVE[self.program]} {self.version} ({'native' if self.path else 'YoWASP'})"

    def run(self, arguments: Sequence[str], folder: Path, *, until: Until | None = None
            ) -> subprocess.CompletedProcess[str]:
        """Run it in a folder, as :func:`~.process.run` does. Who calls looks at what came of it."""
        if self.path is None:
            return run_yowasp(self.program, arguments, folder, until=until)
        return run([self.path, *arguments], folder, until=until)


def is_native(program: str) -> bool:
    """Whether a program is installed, outside of Python's packages."""
    return shutil.which(_NATIVE[program]) is not None


def find_tool(program: str) -> Tool:
    """The installed program, or else that of YoWASP, which must be there.

    Raises :class:`~fgpu.errors.ToolError` if what is installed does not run.
    """
    path = shutil.which(_NATIVE[program])
    return Tool(program, _version(path) if path else version(PACKAGES[program]), path)


@cache
def _version(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolError(f"{path} does not run: {error.strerror}; take it off the PATH or install it anew") from error
    said = _VERSION.search(done.stdout + done.stderr)
    if done.returncode or said is None:
        raise ToolError(f"{path} --version fails: {done.stderr[-300:].strip() or 'no version'}; "
                        "take it off the PATH or install it anew")
    return said[1]
