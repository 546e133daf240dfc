"""A PYNQ program that exchanges the floating-point units of the simulated core: run by cocotb, with cocotbpynq for
PYNQ. Its ``pr_download`` asks for a region and a bitstream in shared memory; who answers is here."""

import json
import os
import tempfile
from typing import Any

import cocotb
import numpy as np
import pytest
from cocotb.task import resume
from cocotb.triggers import ClockCycles
from cocotbpynq import Overlay, synctest
from cocotbpynq.pr.cocotb_mode import CtrlMailbox
from pynq_bench import allocate, attach_memory, driver

from fgpu.compiler import Image
from fgpu.config import Config
from fgpu.errors import BoardError, ConfigError, KernelFault, LaunchError
from fgpu.sim import hardware

CONTENTS: dict[str, list[str]] = json.loads(os.environ["REGION_CONTENTS"])
"""What a bitstream has in it, by its name, in the order of the register ``loaded``."""
LOADING = 255
REGION, FULL, EMPTY = "floats0", ["fadd", "fmul", "fsub"], "nothing.bit"


@resume
async def attach_region(dut: Any) -> None:
    """The configuration port, as far as the region of the only compute unit has to do with it."""
    path = os.path.join(tempfile.mkdtemp(dir="."), "mailbox")
    CtrlMailbox(path, create=True).close()
    os.environ["PR_CTRL_SHM"] = path
    cocotb.start_soon(configure(dut, CtrlMailbox(path)))


async def configure(dut: Any, mailbox: CtrlMailbox) -> None:
    while True:
        await ClockCycles(dut.clk, 10)
        if mailbox.status != CtrlMailbox.STATUS_PENDING:
            continue
        assert mailbox.partition == REGION
        dut.cu0.floats.loaded.value = LOADING
        await ClockCycles(dut.clk, 100)
        dut.cu0.floats.loaded.value = [*CONTENTS].index(mailbox.rm_name)
        mailbox.complete_ok(mailbox.seq_req)


class Refusing:
    """An overlay whose partial bitstream is missing."""

    def pr_download(self, region: str, bitstream: str) -> None:
        raise RuntimeError(f"no such bitstream: {bitstream}")


@synctest
def main(dut: Any = None) -> None:
    """Kernels of integers run whatever is in the region; those of floats while their units are."""
    hardware._POLL_SECONDS = 0, 0       # simulated time stands still while the program sleeps
    overlay = Overlay("./fgpu.bit")
    attach_memory(cocotb.top)
    attach_region(cocotb.top)
    gpu = driver(overlay)
    assert gpu.config == Config.preset("tiny").replace(float_ops=frozenset({"fslt"}))
    soft, hard = Image.load("soft.json"), Image.load("hard.json")
    rng = np.random.default_rng(1)

    def integers() -> None:
        a, b, c = (allocate(64, np.int32) for _ in range(3))
        a[:], b[:], c[:] = rng.integers(-1000, 1000, 64), rng.integers(-1000, 1000, 64), -1
        gpu.launch(soft, "vec_add", global_size=64, args=[a, b, c])
        assert np.array_equal(c, a + b)

    def floats(image: Image) -> None:
        rows = allocate((8, 8), np.float32)
        rows[:] = rng.normal(size=(8, 8))
        wanted = rows * np.float32(3) + np.float32(1)
        gpu.launch(image, "scale", global_size=(8, 8), args=[rows, 3.0])
        assert np.array_equal(rows, wanted)

    def refused() -> None:
        with pytest.raises(LaunchError, match=r"\(fmul\) needs floating point in hardware \(float_ops={'fmul'}\)"):
            floats(hard)

    integers()
    refused()
    gpu.load_floats(overlay, {REGION: "arithmetic.bit"}, FULL)
    assert gpu.config.float_ops == frozenset(FULL)
    floats(hard)
    integers()
    gpu.load_floats(overlay, {REGION: EMPTY})
    integers()
    floats(soft)
    refused()

    # A program that says other than is so gets the core's fault, and goes on.
    full = gpu.config.replace(float_ops=frozenset(FULL))
    gpu.device.reconfigured(full)
    with pytest.raises(KernelFault):
        floats(hard)
    gpu.device.reconfigured(gpu.config)
    gpu.load_floats(overlay, {REGION: "arithmetic.bit"}, FULL)
    floats(hard)

    with pytest.raises(RuntimeError, match="no such bitstream"):
        gpu.load_floats(Refusing(), {REGION: "vector.bit"}, FULL)
    assert not gpu.config.float_ops
    with pytest.raises(BoardError, match=r"2 partial bitstreams for the core's 1 compute unit\(s\)"):
        gpu.load_floats(overlay, {REGION: EMPTY, "floats1": EMPTY})
    with pytest.raises(ConfigError, match="fpow"):
        gpu.load_floats(overlay, {REGION: EMPTY}, ["fpow"])
    with pytest.raises(ConfigError, match="and nothing else"):
        gpu.device.reconfigured(Config())
    integers()
