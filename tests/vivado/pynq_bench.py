"""A PYNQ program against the simulated core: run by cocotb, with cocotbpynq for the package ``pynq``."""

import mmap
import sys
from types import ModuleType
from typing import Any

import cocotb
import cocotbpynq
import numpy as np
import pytest
from cocotb.task import resume
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiBus, AxiRam
from cocotbpynq import MMIO, Overlay, synctest

from fgpu.compiler import Image
from fgpu.config import Config
from fgpu.errors import BoardError, LaunchError, SimulationTimeout
from fgpu.sim import hardware

PAGES = mmap.mmap(-1, 1 << 20)
RAM = np.frombuffer(PAGES, np.uint8)
"""DDR memory, from address 0 on."""
BURSTS: set[tuple[int, int]] = set()
"""Beats minus 1, and kind, of the bursts that there were."""


class Array(np.ndarray):
    """What PYNQ's ``allocate`` gives: it knows its physical address. Caches are none, but must be cared for."""

    synchronized = ""

    @property
    def device_address(self) -> int:
        return self.ctypes.data - RAM.ctypes.data

    def sync_to_device(self) -> None:
        Array.synchronized += ">"

    def sync_from_device(self) -> None:
        Array.synchronized += "<"


ends = [0x1000]


def allocate(shape: Any, dtype: Any = "u4") -> Any:
    """An array on pages of its own."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    begin = ends[-1]
    ends.append(begin + -(-int(np.prod(shape)) * np.dtype(dtype).itemsize // 4096) * 4096)
    return cocotbpynq.allocate(shape, dtype, buffer=RAM, offset=begin).view(Array)


class DefaultIP:
    """As PYNQ's: has the core's registers."""

    def __init__(self, description: dict[str, Any]) -> None:
        # cocotbpynq takes only ranges whose end is before the last byte.
        self.mmio = MMIO(description["phys_addr"], description["addr_range"] - 4)


pynq: Any = ModuleType("pynq")
pynq.DefaultIP, pynq.allocate = DefaultIP, allocate
sys.modules["pynq"] = pynq


def driver(overlay: Any) -> Any:
    """What PYNQ does with an IP: it makes the driver that has its name in ``bindto``."""
    from cocotbpynq.overlay import hwh_tree

    from fgpu.pynq import FGPU

    assert isinstance(overlay.fgpu_0, cocotbpynq.DefaultIP)
    core = hwh_tree.find("./MODULES/MODULE[@INSTANCE='fgpu_0']")
    assert core.get("VLNV") in FGPU.bindto
    place = hwh_tree.find("./MODULES/MODULE[@MODTYPE='processing_system7']/MEMORYMAP/MEMRANGE")
    base, high = (int(place.get(name), 16) for name in ("BASEVALUE", "HIGHVALUE"))
    parameters = {each.get("NAME"): each.get("VALUE") for each in core.findall("PARAMETERS/PARAMETER")}
    gpu = FGPU({"phys_addr": base, "addr_range": high + 1 - base, "parameters": parameters})
    gpu.arena_bytes, gpu.clock = 1 << 16, 1000.0     # a simulator's
    return gpu


@resume
async def attach_memory(dut: Any) -> None:
    """The processors' memory behind S_AXI_HP0."""
    AxiRam(AxiBus.from_prefix(dut, "m0_axi"), dut.clk, dut.rst, mem=PAGES)
    cocotb.start_soon(watch(dut))


async def watch(dut: Any) -> None:
    while True:
        await RisingEdge(dut.clk)
        await ReadOnly()
        for channel in ("ar", "aw"):
            if getattr(dut, f"m0_axi_{channel}valid").value == 1:
                beats, kind = (int(getattr(dut, f"m0_axi_{channel}{what}").value) for what in ("len", "burst"))
                BURSTS.add((beats, kind))


@synctest
def main(dut: Any = None) -> None:
    """Kernels on PYNQ's buffers and on fgpu's own, and what goes wrong."""
    hardware._POLL_SECONDS = 0, 0       # simulated time stands still while the program sleeps
    overlay = Overlay("./fgpu.bit")
    attach_memory(cocotb.top)
    gpu = driver(overlay)
    assert gpu.config == Config.preset("tiny")
    image = Image.load("program.json")

    rng = np.random.default_rng(1)
    a, b, c = (allocate(128, np.int32) for _ in range(3))
    a[:], b[:], c[:] = rng.integers(-1000, 1000, 128), rng.integers(-1000, 1000, 128), -1
    run = gpu.launch(image, "vec_add", global_size=128, local_size=64, args=[a, b, c])
    assert np.array_equal(c, a + b)
    assert (run.cycles, run.engine) == (None, "mapped")
    assert Array.synchronized == ">>><<<"

    image_rows = allocate((8, 8), np.float32)
    image_rows[:] = rng.normal(size=(8, 8))
    wanted = 2 * image_rows + 1
    gpu.launch(image, "scale", global_size=(8, 8), args=[image_rows, 2.0])
    assert np.array_equal(image_rows, wanted)

    own = gpu.device.buffer(np.arange(64, dtype=np.int32))
    gpu.device.launch(image, "look_up", global_size=64, args=[own])     # a table is among the device's own memory
    assert np.array_equal(own.read(), np.array([3, 1, 4, 1, 5, 9, 2, 6])[np.arange(64) % 8])

    with pytest.raises(LaunchError, match="elements of type float32"):
        gpu.launch(image, "vec_add", global_size=64, args=[a, b, allocate(64, np.float32)])
    with pytest.raises(SimulationTimeout, match="did not finish within 2000 cycles; it was aborted"):
        gpu.launch(image, "forever", global_size=64, args=[a], max_cycles=2000)
    c[:] = 0
    gpu.launch(image, "vec_add", global_size=128, local_size=64, args=[a, b, c])
    assert np.array_equal(c[1:], (a + b)[1:])

    with pytest.raises(BoardError, match="has no parameter FGPU_CONFIG"):
        type(gpu)({"phys_addr": gpu.mmio.base_addr, "addr_range": 0x10000})

    # The ports of a Zynq-7000 take 16 beats; and lines were read as a whole.
    assert max(beats for beats, _ in BURSTS) == 15
    assert {kind for _, kind in BURSTS} == {1}
