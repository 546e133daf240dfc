"""What meets the end of a kernel: an abort, the error of a last write-back, and the kernel after it."""

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np
import pytest

from fgpu.compiler import assemble
from fgpu.config import Config
from fgpu.cu.pipeline import SLOT_CYCLES
from fgpu.fault import FaultCause
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench import abi

from .harness import BASE, SIZE
from .stepwise import ABORT, FAULT, START, StepwiseEngine, cause

ITEMS, FIRST, SECOND = 256, 5, 9
REGISTERS = range(1, 29)


def kernel(name: str, *lines: str) -> str:
    """One that stores r1 to the word of each work-item, from its parameter on."""
    begin = ("lid r29, 0", "wgoff r30, 0", "add r29, r29, r30", "lp r30, 0")
    body = "".join(f"    {line}\n" for line in (*begin, *lines, "sw r1, r30[r29]", "ret"))
    return f".kernel {name}\n{body}"


BUSY = kernel("busy", *(f"li r{number}, {number}" for number in REGISTERS))
ONES = kernel("ones", "li r1, 1")
ALL = kernel("all", *(f"or r1, r1, r{number}" for number in (*REGISTERS, 31)))


@pytest.fixture
def core() -> Iterator[StepwiseEngine]:
    core = StepwiseEngine(Config.preset("tiny"), GlobalMemory(BASE, SIZE))
    yield core
    core.close()


def load(core: StepwiseEngine, second: str, *places: int, clean: int) -> None:
    """A kernel that leaves no register zero, and another one; each stores a word a work-item from its place on."""
    image = assemble(BUSY + second)
    core.load(image.words, *(
        (slot, KernelDescriptor(entry=kernel.entry, global_size=(ITEMS,), local_size=(64,), parameters=(place,)))
        for slot, kernel, place in zip((FIRST, SECOND), image.kernels.values(), places, strict=True)),
        clean=clean, initialize=0xFFFF)


def words(core: StepwiseEngine, place: int) -> np.ndarray:
    return core.memory.words[(place - BASE) // 4:][:ITEMS]


@pytest.mark.parametrize("clean", [0, 1 << FIRST], ids=["", "clean"])
def test_an_abort_stops_no_other_kernel(core: StepwiseEngine, clean: int) -> None:
    """In each cycle around the end of the first kernel, while the second one waits."""
    load(core, ONES, BASE, BASE + 4096, clean=clean | 1 << SECOND)

    def stops(moment: int) -> bool:
        """Whether an abort so many cycles after the start finds the first kernel; the second one runs to its end."""
        words(core, BASE + 4096)[:] = 0
        fault, = core.do(
            (abi.OP_WRITE, FAULT, 0), (abi.OP_START, START, 1 << FIRST | 1 << SECOND), (abi.OP_PAUSE, 0, moment),
            (abi.OP_WRITE, ABORT, 1 << FIRST), (abi.OP_WAIT, 0, FIRST), (abi.OP_WAIT, 0, SECOND),
            (abi.OP_READ, FAULT, 0))
        assert (words(core, BASE + 4096) == 1).all(), f"aborted after {moment} cycles: fault 0x{fault:08X}"
        assert fault in (0, 1 << 31 | FaultCause.ABORTED.value << 25 | FIRST << 21)
        return fault != 0

    end = bisect_left(range(4096), True, key=lambda moment: not stops(moment))
    around = [stops(moment) for moment in range(end - 20, end + 20)]
    # Where the issue slots stand when the kernel starts, which the runs before decide, moves its end a little.
    assert all(around[:20 - SLOT_CYCLES])
    assert not any(around[20 + SLOT_CYCLES:])


def test_registers_are_zero_after_the_error_of_a_last_write_back(core: StepwiseEngine) -> None:
    """It comes while the cache is cleaned."""
    load(core, ALL, BASE + SIZE, BASE, clean=0xFFFF)
    words(core, BASE)[:] = 7
    for slot, expected in ((FIRST, FaultCause.BUS_ERROR), (SECOND, FaultCause.NONE)):
        fault, = core.do((abi.OP_START, START, 1 << slot), (abi.OP_WAIT, 0, slot), (abi.OP_READ, FAULT, 0))
        assert cause(fault) is expected
    assert (words(core, BASE) == 0).all()
