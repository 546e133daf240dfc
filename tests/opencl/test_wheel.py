"""A wheel brings the platform to where pyopencl's loader looks, with no more to do."""

import os
import platform
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pyopencl
import pytest

from fgpu.opencl.library import ICD, LIBRARY

ROOT = Path(__file__).parents[2]


def wheel_of(folder: Path) -> Path:
    """A wheel of this tree."""
    shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "tests"))
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, folder / "tree"],
                   check=True)
    [wheel] = folder.glob("*.whl")
    return wheel


def symbols(library: bytes) -> set[str]:
    """Names that a shared library of 64 bits and little-endian exports."""
    sections, size, count = *struct.unpack_from("<Q", library, 0x28), *struct.unpack_from("<HH", library, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", library, sections + index * size) for index in range(count)]
    [dynamic] = [header for header in headers if header[1] == 11]       # SHT_DYNSYM
    texts = headers[dynamic[6]][4]
    entries = [struct.unpack_from("<IBBHQQ", library, dynamic[4] + at) for at in range(0, dynamic[5], 24)]
    return {library[texts + name:library.index(b"\0", texts + name)].decode()
            for name, _, _, section, _, _ in entries if section}


@pytest.mark.ci
def test_a_wheel_for_another_machine(tmp_path, monkeypatch):
    """It cannot be run here, but it is for that machine, and loaders find in it what they look for."""
    machine, number = ("x86_64", 62) if platform.machine() == "aarch64" else ("aarch64", 183)
    monkeypatch.setenv("FGPU_MACHINE", machine)
    wheel = wheel_of(tmp_path)
    assert wheel.name.endswith(f"-py3-none-manylinux_2_17_{machine}.whl")
    with zipfile.ZipFile(wheel) as archive:
        library = archive.read(f"pyopencl/.libs/{LIBRARY}")
        assert archive.read(f"pyopencl/.libs/{ICD}").decode().strip() == LIBRARY
    assert struct.unpack_from("<H", library, 18) == (number,)       # e_machine
    assert symbols(library) == {"clIcdGetPlatformIDsKHR", "clGetPlatformIDs", "clGetPlatformInfo",
                                "clGetExtensionFunctionAddress"}


@pytest.mark.ci
@pytest.mark.parametrize("compiler", ["system", "zig"])
def test_the_wheel_has_the_library_beside_the_loader(compiler, tmp_path, monkeypatch):
    if compiler == "zig":
        monkeypatch.setenv("FGPU_CXX", "zig")
    wheel = wheel_of(tmp_path)
    assert ("manylinux_2_17" in wheel.name) == (compiler == "zig")
    packages = tmp_path / "site-packages"
    zipfile.ZipFile(wheel).extractall(packages)
    shutil.copytree(Path(pyopencl.__file__).parent, packages / "pyopencl", dirs_exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OCL_", "PYOPENCL"))}
    code = ("import pyopencl, fgpu\nprint(fgpu.__file__, *(platform.version for platform in pyopencl.get_platforms()"
            " if platform.get_devices()))")
    done = subprocess.run([sys.executable, "-c", code], env=environment | {"PYTHONPATH": str(packages)}, check=True,
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith(str(packages))
    assert "OpenCL 1.2 fgpu 0." in done.stdout
