"""Puts the OpenCL platform's library into the wheel, where pyopencl's loader looks; pyproject.toml has all else.

Without a C compiler the ``ziglang`` package compiles it, and with it if FGPU_CXX is ``zig``: that library runs on all
systems since glibc 2.17. FGPU_MACHINE=aarch64 (or x86_64) makes the wheel for such a machine, whatever this one is.
"""

import os
import platform
import sys
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).parent))      # none of what is used of fgpu imports another package

import fgpu
from fgpu.opencl.library import ICD, LIBRARY
from fgpu.opencl.library.build import compile_library, compiler, zig

HAS_LIBRARY = sys.platform == "linux" and sys.maxsize > 1 << 32
MACHINE = os.environ.get("FGPU_MACHINE") or platform.machine()
COMPILER = compiler() if os.environ.get("FGPU_CXX") != "zig" and platform.machine() == MACHINE else None


class BuildWithLibrary(build_py):
    """Modules, and the library."""

    def run(self) -> None:
        super().run()
        if HAS_LIBRARY and not self.editable_mode:
            fgpu.__version__ = self.distribution.get_version()
            folder = Path(self.build_lib) / "pyopencl" / ".libs"
            folder.mkdir(parents=True, exist_ok=True)
            compile_library(folder / LIBRARY, COMPILER or zig(MACHINE))
            (folder / ICD).write_text(f"{LIBRARY}\n")


class LibraryWheel(bdist_wheel):
    """For every Python, but for one kind of machine."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = True    # modules and library lie side by side

    def get_tag(self) -> tuple[str, str, str]:
        if not HAS_LIBRARY:
            return super().get_tag()
        return ("py3", "none", f"{'linux' if COMPILER else 'manylinux_2_17'}_{MACHINE}")


commands: dict[str, Any] = {"build_py": BuildWithLibrary, "bdist_wheel": LibraryWheel}
setup(cmdclass=commands, setup_requires=[] if COMPILER or not HAS_LIBRARY else ["ziglang>=0.15"])
