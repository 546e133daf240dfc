"""The cocotb side of ``test_icarus``: kernels whose results and cycles any simulator must agree on.

Meanwhile nothing that the core says to its surroundings may be X. ``cycles.json`` gets the cycles of each kernel.
"""

import json
import os
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from axi_checker import bind
from bench import BUFFERS, COLLATZ, KERNELS, collatz
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from four_state_configs import CONFIGS
from numpy.typing import NDArray

from fgpu.address_map import ControlRegister, register_address
from fgpu.cocotb import FgpuHost
from fgpu.compiler.compile import compile_opencl
from fgpu.sim.descriptor import KernelDescriptor

CONFIG = CONFIGS[os.environ["FGPU_BENCH_CONFIG"]]
BYTES = """
__kernel void bytes(__global const uint *in, __global const ushort *more, __global uchar *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i] + more[i];
}
"""
FLOATS = """
__kernel void floats(__global const float *a, __global const float *b, __global float *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] * b[i] + a[i] / b[i];
}
"""
HISTOGRAM = """
__kernel void histogram(__global const uint *in, __global uint *unused, __global uint *out)
{
    atomic_add(out + (in[get_global_id(0)] & 7), 3);
}
"""
# Of a channel: what is always known, and what is while it is valid.
ADDRESS = ("addr", "id", "len", "size", "burst", "cache", "prot")
AXI_OUT = {"aw": ADDRESS, "ar": ADDRESS, "w": ("strb", "last")}
LITE_OUT = {"b": ("resp",), "r": ("resp", "data")}


class Watch:
    """Looks at all outputs in every cycle from now on, and counts the cycles of kernels."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self.cycles: list[int] = []
        ready = [dut.s_axi_awready, dut.s_axi_wready, dut.s_axi_arready, dut.m0_axi_bready, dut.m0_axi_rready]
        self._channels = [
            (getattr(dut, f"{bus}_{channel}valid"), [getattr(dut, f"{bus}_{channel}{field}") for field in fields])
            for bus, channels in (("m0_axi", AXI_OUT), ("s_axi", LITE_OUT)) for channel, fields in channels.items()]
        self._always = [*ready, dut.kernel_status, dut.kernel_fault, dut.irq,
                        *(valid for valid, _ in self._channels)]

    async def run(self) -> None:
        dut, cycle, start, before = self._dut, 0, 0, 0
        begin = register_address(ControlRegister.START)
        while True:
            await RisingEdge(dut.clk)
            await ReadOnly()    # all that changes with the edge has changed
            cycle += 1
            unknown = [signal._name for signal in self._always if not signal.value.is_resolvable]
            assert not unknown, f"X in cycle {cycle}: {', '.join(unknown)}"
            for valid, payload in self._channels:
                if valid.value:
                    unknown = [field._name for field in payload if not field.value.is_resolvable]
                    assert not unknown, f"X in cycle {cycle}, while valid: {', '.join(unknown)}"
            if dut.s_axi_awvalid.value and dut.s_axi_awready.value and int(dut.s_axi_awaddr.value) == begin:
                start = cycle
            status = int(dut.kernel_status.value)
            if status & ~before:
                self.cycles.append(cycle - start)
            before = status


async def run(host: FgpuHost, source: str, name: str, inputs: list[NDArray[Any]], golden: NDArray[Any], *,
              local_size: int = 64) -> None:
    """Run a kernel of two inputs and one output, and compare."""
    image = compile_opencl(source, config=CONFIG)
    await host.load(image)
    for address, array in zip(BUFFERS, inputs, strict=False):
        host.memory.write(address, array.tobytes())
    host.memory.write(BUFFERS[2], bytes(golden.nbytes))
    await host.start(KernelDescriptor(entry=image.kernel(name).entry, global_size=(len(inputs[0]),),
                                      local_size=(local_size,), parameters=tuple(BUFFERS)))
    await host.wait()
    np.testing.assert_array_equal(np.frombuffer(host.memory.read(BUFFERS[2], golden.nbytes), golden.dtype), golden)


@cocotb.test()
async def kernels(dut: Any) -> None:
    """Work-groups that half fill a wavefront, divergence, bytes, floating point, and what else there is."""
    host, watch = FgpuHost(dut), Watch(dut)
    if os.environ.get("FGPU_BENCH_RESET", "1") == "1":
        await host.reset()
    else:
        dut.rst.value = 0
        await Timer(5, unit="ns")       # the bench drives its side
        cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    watching = cocotb.start_soon(watch.run())
    await bind(dut)
    rng = np.random.default_rng(1)

    a, b = rng.integers(-1 << 31, 1 << 31, (2, 96), dtype=np.int32)
    await run(host, (KERNELS / "vec_add.cl").read_text(), "vec_add", [a, b], a + b, local_size=48)
    numbers = np.arange(1, 17, dtype=np.uint32)
    await run(host, COLLATZ, "collatz", [numbers], np.array([collatz(int(n)) for n in numbers], np.uint32),
              local_size=16)
    word, half = rng.integers(0, 1 << 32, 64, dtype=np.uint32), rng.integers(0, 1 << 16, 64, dtype=np.uint16)
    await run(host, BYTES, "bytes", [word, half], (word + half).astype(np.uint8))
    x, y = rng.uniform(-100, 100, (2, 8)).astype(np.float32)
    await run(host, FLOATS, "floats", [x, y], x * y + x / y, local_size=8)
    if CONFIG.atomics:
        await run(host, HISTOGRAM, "histogram", [word], (3 * np.bincount(word & 7, minlength=8)).astype(np.uint32))
    watching.cancel()
    Path("cycles.json").write_text(json.dumps(watch.cycles))
