"""Errors of global memory: reads, stores, early write-backs and atomics where no memory is.

The kernel ends, its status bit rises, the fault register tells, and the next kernel runs; with random delays.
"""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from fgpu.compiler import Image, assemble
from fgpu.errors import KernelFault
from fgpu.fault import FaultCause
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.engine import Launch
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.verilator import VerilatorEngine

from ..configurations import ATOMIC, TWO_PORTS
from ..seeds import seed_of_test
from ..tiers import quick
from .harness import BASE, random_timing
from .test_several_kernels import BusyHost

CONFIGS = {"1 port": ATOMIC, "2 ports": TWO_PORTS}
SIZE = 1 << 16
OUT = BASE + 4096       # of the good kernel
ITEMS = 1024
_ID = " lp r1, 0\n lid r2, 0\n wgoff r3, 0\n add r2, r2, r3\n"
_INSIDE = " andi r5, r2, 1023\n lp r6, 1\n"
# r1: an address, r2: the work-item's number.
BAD = {
    "one word": (" lw r4, r1[r0]\n", "read"),
    "load": (" lw r4, r1[r2]\n", "read"),
    "scattered load": (" slli r5, r2, 7\n lw r4, r1[r5]\n", "read"),
    "one work-item": (" li r5, 777\n bne r5, r2, end\n lw r4, r1[r2]\nend:\n", "read"),
    "many loads": (_INSIDE + "lw r4, r6[r5]\n lw r7, r1[r2]\n lw r8, r6[r5]\n lw r9, r1[r5]\n", "read"),
    "store": (" slli r5, r2, 2\n sw r4, r1[r5]\n", "write"),
    "byte": (" li r5, 777\n bne r5, r2, end\n sb r4, r1[r2]\nend:\n", "write"),
    "whole lines": (" sw r2, r1[r2]\n", "write"),
    "much": (" slli r5, r2, 5\n sw r2, r1[r5]\n addi r1, r1, 64\n sb r2, r1[r5]\n", "write"),
    "store, load": (" sw r2, r1[r2]\n lw r3, r1[r2]\n sb r2, r1[r2]\n", ""),
    "atomic": (" aadd r2, r1[r0]\n", "read"),
    "atomics": (" slli r5, r2, 4\n aadd r2, r1[r5]\n sw r2, r1[r2]\n", ""),
}
GOOD = f".kernel good\n{_ID} lw r4, r1[r2]\n addi r4, r4, 7\n sw r4, r1[r2]\n ret\n"


def images(bad: str) -> tuple[Image, Image]:
    """The program of a bad kernel and a good one, and the good one alone."""
    return assemble(f".kernel bad\n{_ID}{bad} ret\n{GOOD}"), assemble(GOOD)


def descriptor(image: Image, name: str, *parameters: int) -> KernelDescriptor:
    return KernelDescriptor(entry=image.kernel(name).entry, global_size=(ITEMS,), local_size=(128,),
                            parameters=parameters)


@pytest.fixture(params=quick(CONFIGS, ["1 port"]))
def engine(request: pytest.FixtureRequest) -> Iterator[BusyHost]:
    rng = random.Random(f"{seed_of_test()} {request.node.name}")
    print(f"FGPU_SEED={seed_of_test()}")
    engine = BusyHost(CONFIGS[request.param], GlobalMemory(BASE, SIZE), random_timing(rng))
    engine.others, engine.reads, engine.clean, engine.initialize = {}, [], 0, 0
    yield engine
    engine.close()


@pytest.mark.parametrize("address", [0, BASE + SIZE, 0xFFFF_0000])
@pytest.mark.parametrize("kind", BAD)
def test_the_next_kernel_runs(engine: BusyHost, kind: str, address: int) -> None:
    """A bad kernel in slot 2, a good one in slot 5: both are started at once, and the first one is told of."""
    text, access = BAD[kind]
    image, _ = images(text)
    engine.memory.words[:] = np.arange(SIZE // 4)
    engine.clean = 1 << 2
    engine.others = {2: descriptor(image, "bad", address, BASE).words()}
    with pytest.raises(KernelFault, match=rf"slot 2: .*{access} of .* is outside memory") as raised:
        engine.launch(Launch(program=image.words, descriptor=descriptor(image, "good", OUT).words(), slot=5,
                             max_cycles=200_000))
    assert raised.value.cause is FaultCause.BUS_ERROR
    expected = np.arange(SIZE // 4)
    expected[(OUT - BASE) // 4:][:ITEMS] += 7
    assert (engine.memory.words == expected).all()


@pytest.mark.parametrize("config", quick(CONFIGS, ["1 port"]))
def test_a_late_write_back_stops_the_kernel_that_meets_it(config: str) -> None:
    """Without cleaning, what a kernel stored beside memory shows in the next kernel, or between them."""
    engine = VerilatorEngine(CONFIGS[config], GlobalMemory(BASE, SIZE))
    image, good = images(BAD["one work-item"][0].replace("lw", "sw"))
    bad = descriptor(image, "bad", BASE + SIZE, BASE)
    engine.launch(Launch(program=image.words, descriptor=bad.words(), clean=False, max_cycles=100_000))
    with pytest.raises(KernelFault, match=r"slot 1: .*write .* is outside memory") as raised:
        engine.launch(Launch(program=good.words, descriptor=descriptor(good, "good", OUT).words(), slot=1,
                             max_cycles=100_000))
    assert raised.value.cause is FaultCause.BUS_ERROR
