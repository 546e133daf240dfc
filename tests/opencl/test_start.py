"""Programs that only ask what devices there are do not wait for what kernels need."""

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
