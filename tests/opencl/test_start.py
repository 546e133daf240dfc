"""Programs that only ask what devices there are do not wait for what kernels need."""

from importlib.machinery import ModuleSpec

import fgpu
from fgpu.opencl import device_info
from fgpu.opencl.functions import SLOTS

ATTACH = f"""
import ctypes, sys
from fgpu.opencl.bridge import attach
table = ctypes.create_string_buffer({SLOTS * 8})
interrupted = ctypes.c_size_t()
attach(0, 0, ctypes.addressof(table), ctypes.addressof(interrupted))
print(*(name for name in ("numpy", "llvmlite", "fgpu.sim", "fgpu.compiler", "filelock") if name in sys.modules))
"""


def test_neither_simulator_nor_compiler_is_imported(opencl_icd):
    assert opencl_icd.python(ATTACH).stdout == "\n"


def test_the_driver_version_changes_with_the_compiler(tmp_path, monkeypatch):
    """pyopencl's cache of binaries goes by it."""
    (tmp_path / "__init__.py").write_text("")
    spec = ModuleSpec("fgpu.compiler", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(device_info, "find_spec", lambda name: spec)
    versions = []
    for code in ("", "x = 1\n"):
        (tmp_path / "passes.py").write_text(code)
        versions.append(device_info.driver_version.__wrapped__())
    assert versions[0] != versions[1]
    assert all(version.startswith(fgpu.__version__) for version in versions)
