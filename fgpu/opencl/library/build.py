"""Compiles the C library."""

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from fgpu.errors import ToolError

from . import LIBRARY
from .source import library_source

__all__ = ["build_library", "compile_library", "compiler", "zig"]

_FLAGS: Final = ("-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
_LINK: Final = ("-Wl,-Bsymbolic", "-Wl,-z,nodelete", "-ldl", "-lm", "-lpthread")   # Khronos' loader unloads it


def build_library() -> Path:
    """The library for this machine, from the cache if it has it.

    Raises :class:`~fgpu.errors.ToolError` where it cannot be made.
    """
    from fgpu.store import kept_files

    command = compiler() or zig()
    key = hashlib.sha256("\0".join([*command, *_FLAGS, *_LINK, library_source()]).encode()).hexdigest()[:32]

    def build(folder: Path) -> dict[str, Any]:
        compile_library(folder / LIBRARY, command)
        return {}

    return kept_files("opencl", key, build, (LIBRARY,))[0] / LIBRARY


def compile_library(output: Path, compiler: tuple[str, ...]) -> None:
    """Write the library to ``output``. Raises :class:`~fgpu.errors.ToolError` where that fails."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        raise ToolError(f"the OpenCL platform is for 64-bit Linux, not for {sys.platform}")
    command = [*compiler, *_FLAGS, "-x", "c", "-", "-o", str(output), *_LINK]
    done = subprocess.run(command, input=library_source(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{' '.join(command)} failed:\n{done.stderr}")


def compiler() -> tuple[str, ...] | None:
    """The system's C compiler."""
    return next(((path,) for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


def zig(machine: str = platform.machine()) -> tuple[str, ...]:
    """The compiler of the ``ziglang`` package, for a machine such as ``x86_64`` or ``aarch64``. Its libraries run
    wherever glibc is not older than that of 2012."""
    return (sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.2.17", "-s")
