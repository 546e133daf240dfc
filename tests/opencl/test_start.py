"""Programs that only ask what devices there are do not wait for what kernels need."""

import sys
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


def test_a_folder_called_fgpu_beside_the_program_does_not_hide_the_package(tmp_path, opencl_icd):
    """As that of a checkout that is installed for editing."""
    (tmp_path / "fgpu").mkdir()
    program = "import pyopencl as cl; print(cl.get_platforms()[0].get_devices()[0].driver_version != '')"
    done = opencl_icd.run(sys.executable, "-c", program, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("True\n", "")


READS_BEFORE = '''
import numpy as np
import pyopencl as cl

context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
queue = cl.CommandQueue(context)
first = cl.Buffer(context, cl.mem_flags.READ_WRITE, 1024)
program = cl.Program(context, """kernel void k(global int *p, int is_wanted) {
    int i = get_global_id(0), before = p[i - 4096];
    p[i] = is_wanted ? before : 5;
}""")
cl.Kernel(program.build(), "k")(queue, (256,), None, first, np.int32(0)).wait()
found = np.zeros(256, np.int32)
cl.enqueue_copy(queue, found, first)
print(set(found.tolist()))
'''


def test_reading_in_front_of_the_first_buffer_ends_no_kernel(opencl_icd):
    """Programs do, as OpenCV's filters at the edge of a picture, and use nothing of it."""
    assert opencl_icd.python(READS_BEFORE).stdout == "{5}\n"
