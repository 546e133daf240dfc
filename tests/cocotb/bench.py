"""The cocotb side of ``test_cocotb``: runs inside the simulator."""

from pathlib import Path
from typing import Any

import cocotb
import numpy as np
import pytest
from axi_checker import AxiChecker, LiteChecker, bind
from cocotbext.axi import AxiResp
from numpy.typing import NDArray

from fgpu import benchmarks
from fgpu.address_map import CONTROL_BASE, LRAM_WORDS, ControlRegister, Interrupts, register_address
from fgpu.cocotb import FgpuHost
from fgpu.compiler.assembler.assembler import assemble
from fgpu.compiler.compile import compile_opencl
from fgpu.errors import KernelFault
from fgpu.sim.descriptor import KernelDescriptor

KERNELS = Path(benchmarks.__file__).parent / "kernels"
BUFFERS = [0x1000_0000, 0x2000_1000, 0xFFFF_0000]
PAUSED = cocotb.parametrize(paused=[False, True])
# Branches in a loop whose length differs: work-items part and meet again many times.
COLLATZ = """
__kernel void collatz(__global const uint *in, __global uint *unused, __global uint *out)
{
    size_t i = get_global_id(0);
    uint n = in[i], steps = 0;
    while (n != 1) {
        if (n & 1)
            n = 3 * n + 1;
        else
            n >>= 1;
        steps++;
    }
    out[i] = steps;
}
"""


def collatz(n: int) -> int:
    """The number of steps from ``n`` to 1."""
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n & 1 else n >> 1
        steps += 1
    return steps


class WatchedHost(FgpuHost):
    """Its AXI ports are checked."""

    checkers: list[AxiChecker | LiteChecker]


async def started(dut: Any, paused: bool) -> WatchedHost:
    """A host of an FGPU that is ready and watched; ``paused`` makes both AXI ports wait at random."""
    host = WatchedHost(dut)
    if paused:
        cocotb.log.info("pauses with seed %d", cocotb.RANDOM_SEED)
        host.pause(cocotb.RANDOM_SEED)
    await host.reset()
    host.checkers = await bind(dut)
    return host


async def run(host: WatchedHost, source: str, name: str, inputs: list[NDArray[Any]], golden: NDArray[Any], *,
              global_size: tuple[int, ...], local_size: tuple[int, ...], more: tuple[int, ...] = (),
              slot: int = 0) -> None:
    """Run a kernel of two inputs and one output and compare, also what surrounds the output."""
    image = compile_opencl(source)
    await host.load(image)
    for address, array in zip(BUFFERS, inputs, strict=False):
        host.memory.write(address, array.tobytes())
    guard = bytes(range(256)) * 2
    host.memory.write(BUFFERS[2] - len(guard), guard + bytes(golden.nbytes) + guard)
    await host.start(KernelDescriptor(entry=image.kernel(name).entry, global_size=global_size, local_size=local_size,
                                      parameters=(*BUFFERS, *more)), slot=slot)
    await host.wait(slot=slot)
    assert all(checker.quiet for checker in host.checkers), "a request on the AXI ports has no answer"
    assert all(checker.seen for checker in host.checkers), "the checkers see nothing"
    found = np.frombuffer(host.memory.read(BUFFERS[2], golden.nbytes), golden.dtype).reshape(golden.shape)
    np.testing.assert_array_equal(found, golden)
    around = host.memory.read(BUFFERS[2] - len(guard), 2 * len(guard) + golden.nbytes)
    assert around[:len(guard)] == around[-len(guard):] == guard, "the kernel wrote beside its output"


@cocotb.test()
@PAUSED
async def vec_add(dut: Any, paused: bool) -> None:
    """Half-empty wavefronts, and another slot than 0."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    a, b = rng.integers(-1 << 31, 1 << 31, (2, 240), dtype=np.int32)
    await run(await started(dut, paused), (KERNELS / "vec_add.cl").read_text(), "vec_add", [a, b], a + b,
              global_size=(240,), local_size=(48,), slot=5)


@cocotb.test()
@PAUSED
async def matmul(dut: Any, paused: bool) -> None:
    """16 x 16, in two dimensions."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    a, b = rng.integers(-1 << 15, 1 << 15, (2, 16, 16), dtype=np.int32)
    await run(await started(dut, paused), (KERNELS / "matmul.cl").read_text(), "matmul", [a, b], a @ b,
              global_size=(16, 16), local_size=(8, 8), more=(16,))


@cocotb.test()
@PAUSED
async def diverging(dut: Any, paused: bool) -> None:
    """Every work-item takes its own way; twice on one FGPU, so that stale lines would be noticed."""
    host = await started(dut, paused)
    for first in (1, 9):
        numbers = np.arange(first, first + 64, dtype=np.uint32)
        golden = np.array([collatz(int(n)) for n in numbers], np.uint32)
        await run(host, COLLATZ, "collatz", [numbers], golden, global_size=(64,), local_size=(64,))


@cocotb.test()
@PAUSED
async def faults(dut: Any, paused: bool) -> None:
    """A kernel that leaves the code RAM, and then one that is right."""
    host = await started(dut, paused)
    host.memory.write(BUFFERS[0], bytes(256))
    descriptor = KernelDescriptor(entry=0, global_size=(64,), local_size=(64,), parameters=(BUFFERS[0],))
    await host.load(assemble(".kernel bad\n lid r1, 0\n jsub 3000\n ret\n"))
    await host.start(descriptor, slot=3)
    with pytest.raises(KernelFault, match=r"slot 3: PC 3000, behind .*: this is outside the code RAM"):
        await host.wait(slot=3)
    await host.load(assemble(".kernel good\n lid r1, 0\n lp r2, 0\n sw r1, r2[r1]\n ret\n"))
    await host.start(descriptor, slot=3)
    await host.wait(slot=3)
    assert host.memory.read(BUFFERS[0], 256) == np.arange(64, dtype=np.int32).tobytes()


@cocotb.test()
@PAUSED
async def bad_accesses(dut: Any, paused: bool) -> None:
    """Unmapped, misaligned and partial accesses are answered with SLVERR, change nothing, block nothing."""
    host = await started(dut, paused)
    await host.write(0x0040, 0x0123_4567)
    # 0x7FFC is beyond the tiny FGPU's code RAM.
    unmapped = [4 * LRAM_WORDS, 0x3FFC, 0x7FFC, CONTROL_BASE + 4 * len(ControlRegister), 0xFFFC]
    for address, size in [*((address, 4) for address in unmapped), (0x0041, 1), (0x0042, 2), (0x8001, 1)]:
        read = await host.control.read(address, size)
        assert read.resp == AxiResp.SLVERR, f"read of {size} bytes at {address:#06x}: {read.resp!r}"
        write = await host.control.write(address, bytes(size))
        assert write.resp == AxiResp.SLVERR, f"write of {size} bytes at {address:#06x}: {write.resp!r}"
    partial = await host.control.write(0x0040, bytes(2))
    assert partial.resp == AxiResp.SLVERR, partial.resp
    assert await host.read(0x0040) == 0x0123_4567


@cocotb.test()
@PAUSED
async def interrupts(dut: Any, paused: bool) -> None:
    """Two kernels end one after the other, a third one faults: each time there is an interrupt."""
    host = await started(dut, paused)
    descriptor = KernelDescriptor(entry=0, global_size=(64,), local_size=(64,), parameters=(BUFFERS[0],))
    await host.load(assemble(".kernel good\n lid r1, 0\n lp r2, 0\n sw r1, r2[r1]\n ret\n"))
    assert not dut.irq.value
    for slot in (1, 2):
        await host.start(descriptor, slot=slot)
    ended = 0
    while ended != 0b110:
        assert await host.interrupt() == Interrupts.KERNEL_END
        status = await host.read(register_address(ControlRegister.STATUS))
        assert status | ended == status, "a kernel's status fell"
        ended = status
    await host.load(assemble(".kernel bad\n jsub 3000\n ret\n"))
    await host.start(descriptor, slot=3)
    assert await host.interrupt(Interrupts.FAULT) & Interrupts.FAULT
    with pytest.raises(KernelFault):
        await host.wait(slot=3)
    assert not dut.irq.value, "the end is not enabled"
