"""Programs that only ask what devices there are do not wait for what kernels need."""

import time
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
print(*(name for name in ("numpy", "llvmlite", "fgpu.sim", "fgpu.compiler", "filelock", "amaranth")
        if name in sys.modules))
"""
BUILD = """
import sys
from fgpu.compiler import compile_opencl
image = compile_opencl("__kernel void k(__global int *a) { a[get_global_id(0)] += %d; }")
print([*image.kernels], "amaranth" in sys.modules)
"""


def test_neither_simulator_nor_compiler_nor_amaranth_is_imported(opencl_icd):
    assert opencl_icd.python(ATTACH).stdout == "\n"


def test_compiling_a_kernel_imports_no_amaranth(opencl_icd):
    done = opencl_icd.python(BUILD % (time.time_ns() % 2**31))      # one that no cache has
    assert done.stdout == "['k'] False\n"


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
