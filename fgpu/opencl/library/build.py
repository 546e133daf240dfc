"""Compiles the C library."""

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from fgpu.errors import ToolError
from fgpu.store import kept_files

from .source import LIBRARY, library_source

__all__ = ["build_library", "compile_library"]

_FLAGS: Final = ("-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
_LINK: Final = ("-Wl,-Bsymbolic", "-Wl,-z,nodelete", "-ldl", "-lpthread")     # Khronos' loader unloads libraries


def build_library() -> Path:
    """The library for this machine, from the cache if it has it.

    Raises :class:`~fgpu.errors.ToolError` where it cannot be made.
    """
    source = library_source()
    compiler = _compiler()
    key = hashlib.sha256("\0".join([*compiler, *_FLAGS, *_LINK, source]).encode()).hexdigest()[:32]

    def build(folder: Path) -> dict[str, Any]:
        compile_library(folder / LIBRARY, compiler)
        return {}

    return kept_files("opencl", key, build, (LIBRARY,))[0] / LIBRARY


def compile_library(output: Path, compiler: tuple[str, ...] | None = None) -> None:
    """Write the library to ``output``, and its source beside it."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        raise ToolError(f"the OpenCL platform is for 64-bit Linux, not for {sys.platform}")
    source = output.with_suffix(".c")
    source.write_text(library_source())
    command = [*(compiler or _compiler()), *_FLAGS, "-o", str(output), str(source), *_LINK]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{' '.join(command)} failed:\n{done.stderr}")


def _compiler() -> tuple[str, ...]:
    """The system's C compiler, or the one of the ``ziglang`` package."""
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path is not None:
            return (path,)
    return zig()


def zig() -> tuple[str, ...]:
    """A compiler whose libraries run wherever glibc is not older than that of 2012."""
    return (sys.executable, "-m", "ziglang", "cc", "-target", f"{platform.machine()}-linux-gnu.2.17", "-s")
