"""A wheel brings the platform to where pyopencl's loader looks, with no more to do."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pyopencl
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.ci
@pytest.mark.parametrize("compiler", ["system", "zig"])
def test_the_wheel_has_the_library_beside_the_loader(compiler, tmp_path, monkeypatch):
    if compiler == "zig":
        monkeypatch.setenv("FGPU_CXX", "zig")
    shutil.copytree(ROOT, tmp_path / "tree", ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "tests"))
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, tmp_path / "tree"],
                   check=True)
    [wheel] = tmp_path.glob("*.whl")
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
