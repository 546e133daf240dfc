"""The suite's programs, built by cmake, a group at a time."""

import shutil
import subprocess
from collections.abc import Sequence
from ctypes.util import find_library
from pathlib import Path

from fgpu.errors import ToolError

from .groups import Group

__all__ = ["FETCH", "Suite", "describe"]

FETCH = """\
git clone https://github.com/KhronosGroup/OpenCL-CTS
git clone https://github.com/KhronosGroup/OpenCL-Headers
git clone https://github.com/KhronosGroup/SPIRV-Headers
"""
"""How to get what the suite is built of, in the folder that ``--cts`` names."""


def describe(repository: Path) -> str:
    """The commit that a folder has, by its last tag if there is one, and whether files differ; "" without its
    repository."""
    if not (repository / ".git").exists():
        return ""
    done = subprocess.run(["git", "-C", str(repository), "describe", "--always", "--tags", "--dirty"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip()


class Suite:
    """A folder with the three repositories, side by side, and what is built of them in ``build/``.

    ``headers`` has ``CL/cl.h``, of a version not older than the suite; ``library`` is the ICD loader to link with,
    by default the system's. Raises :class:`~fgpu.errors.ToolError` if a repository or a tool is missing.
    """

    def __init__(self, folder: Path, *, headers: Path | None = None, library: Path | None = None,
                 jobs: int = 1) -> None:
        self.folder, self.jobs = folder.resolve(), jobs
        self.headers = (headers or self.folder / "OpenCL-Headers").resolve()
        self.library = library
        self.build = self.folder / "build"

    def program(self, group: Group) -> Path:
        """The group's executable, built if it is not there."""
        path = self.build / "test_conformance" / group.folder / f"test_{group.program}"
        if not path.exists():
            if not (self.build / "CMakeCache.txt").exists():
                self._configure()
            self._run(["cmake", "--build", str(self.build), "--target", path.name, "--parallel", str(self.jobs)])
        if not path.exists():
            raise ToolError(f"cmake made no {path}; remove {self.build} to build anew")
        return path

    def commit(self) -> str:
        """The suite's commit, or "unknown" without its repository."""
        return describe(self.folder / "OpenCL-CTS") or "unknown"

    def _configure(self) -> None:
        for needed in (self.folder / "OpenCL-CTS/CMakeLists.txt", self.headers / "CL/cl.h",
                       self.folder / "SPIRV-Headers/include"):
            if not needed.exists():
                raise ToolError(f"no {needed}; in {self.folder}:\n{FETCH}")
        if shutil.which("cmake") is None:
            raise ToolError("no cmake to build the conformance tests; pip install cmake ninja")
        # Debian's package without -dev has no libOpenCL.so for the linker.
        library = self.library or _system_library()
        linked = self.build / "lib/libOpenCL.so"
        linked.parent.mkdir(parents=True, exist_ok=True)
        linked.unlink(missing_ok=True)
        linked.symlink_to(library)
        self._run(["cmake", "-S", str(self.folder / "OpenCL-CTS"), "-B", str(self.build),
                   *(["-G", "Ninja"] if shutil.which("ninja") else []), "--compile-no-warning-as-error",
                   "-DCMAKE_BUILD_TYPE=Release",
                   f"-DCL_INCLUDE_DIR={self.headers}", f"-DSPIRV_INCLUDE_DIR={self.folder / 'SPIRV-Headers'}",
                   f"-DCL_LIB_DIR={linked.parent}", "-DOPENCL_LIBRARIES=OpenCL"])

    def _run(self, command: Sequence[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-2000:]}")


def _system_library() -> Path:
    name = find_library("OpenCL")
    if name is None:
        raise ToolError("no ICD loader (libOpenCL.so.1): apt install ocl-icd-libopencl1, or --library PATH")
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"):
        if (path := Path(folder, name)).exists():
            return path
    raise ToolError(f"{name} is in no usual folder: --library PATH")
