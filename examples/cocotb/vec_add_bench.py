"""A cocotb bench in a page: an OpenCL kernel on the Verilog of an FGPU. Run it with ``python run.py``."""

from typing import Any

import cocotb
import numpy as np

from fgpu.cocotb import FgpuHost
from fgpu.compiler.compile import compile_opencl
from fgpu.sim.descriptor import KernelDescriptor

SOURCE = """
__kernel void vec_add(__global const int *a, __global const int *b, __global int *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
"""
A, B, OUT = 0x1000_0000, 0x2000_0000, 0x3000_0000      # byte addresses in global memory
SIZE = 256


@cocotb.test()
async def vec_add(dut: Any) -> None:
    """256 work-items add two vectors."""
    host = FgpuHost(dut)
    await host.reset()
    image = compile_opencl(SOURCE)
    await host.load(image)

    a, b = np.arange(SIZE, dtype=np.int32), np.full(SIZE, 1000, np.int32)
    host.memory.write(A, a.tobytes())
    host.memory.write(B, b.tobytes())
    await host.start(KernelDescriptor(
        entry=image.kernel("vec_add").entry, global_size=(SIZE,), local_size=(64,), parameters=(A, B, OUT)))
    await host.wait()
    out = np.frombuffer(host.memory.read(OUT, a.nbytes), np.int32)
    np.testing.assert_array_equal(out, a + b)
