"""Barriers in the whole core, against the functional engine and by themselves."""

import os
import random
import re
from dataclasses import replace
from functools import partial

import pytest

from fgpu.compiler import Image, Location, assemble
from fgpu.config import Config
from fgpu.errors import KernelFault, SimulationTimeout
from fgpu.fault import FaultCause
from fgpu.sim import Device, MemoryTiming
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.engine import Launch
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench import abi
from fgpu.sim.verilator import VerilatorEngine

from ..configurations import ATOMIC
from ..seeds import seed_of_test
from .barrier_programs import exchange
from .harness import BASE, SIZE, Pair, random_timing
from .stepwise import ABORT, FAULT, START, STATUS, StepwiseEngine, cause

KERNELS = int(os.environ.get("FGPU_BARRIERS") or 12)


@pytest.mark.ci
@pytest.mark.parametrize("config", [Config(), ATOMIC], ids=["default", "atomic"])
def test_random_programs(config: Config) -> None:
    """With memory of all kinds, and anything in registers and memories when power comes."""
    rng = random.Random(f"{seed_of_test()}")
    print(f"FGPU_SEED={seed_of_test()}")
    for _ in range(3):
        pair = Pair(config, random_timing(rng), partial(VerilatorEngine, power_up=rng.getrandbits(31)))
        try:
            for _ in range(KERNELS):
                pair.fill(range(BASE, BASE + SIZE), rng)
                pair.run(exchange(rng))
        finally:
            pair.close()


LONELY = """.kernel k
    lid r2, 0
    srli r3, r2, 6
    li r4, 1
    bne r3, r4, others
    spins:
    beq r0, r0, spins
    others:
    sync
    ret
"""


def launch_lonely(device: Device, **options: int) -> None:
    device.launch(_with_lines(LONELY), "k", global_size=(192,), local_size=(192,), args=[], **options)


def _with_lines(text: str) -> Image:
    """A program with a line for each of its words: the first is in line 1."""
    image = assemble(text)
    return replace(image, lines={at: Location("k.cl", 1 + at) for at in range(len(image.words))})


def test_who_waits_for_others_that_never_come() -> None:
    """The watchdog says who and where; afterwards the device runs other kernels."""
    with Device(Config()) as device:
        with pytest.raises(SimulationTimeout) as caught:
            launch_lonely(device, max_cycles=2000)
        message = str(caught.value)
        for wavefront in (0, 2):
            assert (f"CU 0 wavefront {wavefront}: k.cl:6: PC 5: sync: waits for the others of its work-group"
                    in message)
        assert re.search(r"CU 0 wavefront 1: k\.cl:5: PC 4: beq r0, r0, ", message)


def test_a_fault_frees_those_that_wait() -> None:
    """The work-item that is waited for goes wrong."""
    wrong = LONELY.replace("beq r0, r0, spins", "jsub spins")
    with Device(Config()) as device:
        for _ in range(2):
            with pytest.raises(KernelFault, match="stack"):
                device.launch(_with_lines(wrong), "k", global_size=(192,), local_size=(192,), args=[])
        run = device.launch(assemble(".kernel k\n sync\n ret\n"), "k", global_size=(512,), local_size=(512,), args=[])
        assert run.instructions == 16


def test_an_abort_frees_those_that_wait() -> None:
    memory = GlobalMemory(BASE, SIZE)
    core = StepwiseEngine(Config(), memory, MemoryTiming())
    descriptor = KernelDescriptor(entry=0, global_size=(192,), local_size=(192,))
    for moment in range(60, 400, 17):
        core.load(assemble(LONELY).words, (0, descriptor), clean=0, initialize=1)
        fault, status = core.do(
            (abi.OP_START, START, 1), (abi.OP_PAUSE, 0, moment), (abi.OP_WRITE, ABORT, 1), (abi.OP_WAIT, 0, 0),
            (abi.OP_READ, FAULT, 0), (abi.OP_READ, STATUS, 0), limit=5000)
        assert cause(fault) is FaultCause.ABORTED
        assert status & 1


@pytest.mark.ci
def test_places() -> None:
    """A work-group finds in its place what it stored there before a barrier and a while: nobody else has it."""
    source = """.kernel k
        lp r1, 0
        lp r20, 1
        wgid r2, 0
        lid r3, 0
        wgoff r4, 3
        sw r2, r1[r4]
        sync
        slli r5, r2, 29
        srli r5, r5, 26
        addi r5, r5, 40
        waits:
        addi r5, r5, -1
        bne r5, r0, waits
        lw r6, r1[r4]
        sub r6, r6, r2
        wgoff r7, 0
        add r7, r7, r3
        slli r6, r6, 8
        or r6, r6, r4
        sw r6, r20[r7]
        ret
    """
    for limit, size in ((0, 64), (0, 130), (3, 64), (1, 64)):
        memory = GlobalMemory(BASE, SIZE)
        engine = VerilatorEngine(ATOMIC, memory, MemoryTiming())
        descriptor = KernelDescriptor(entry=0, global_size=(60 * size,), local_size=(size,), place=True,
                                      local_groups=limit, parameters=(BASE, BASE + SIZE // 2))
        engine.launch(Launch(program=assemble(source).words, descriptor=descriptor.words(), max_cycles=200_000))
        engine.close()
        found = memory.words[SIZE // 8:][:60 * size]
        most = limit or 8 // -(-size // 64)
        units = {int(place) for place in found}
        assert {place >> 3 for place in units} == {0, 1}, "also: nobody has stored another work-group's number"
        assert {place & 7 for place in units} >= set(range(most))
        assert not limit or max(place & 7 for place in units) < limit
        groups = found.reshape(-1, size)
        assert (groups == groups[:, :1]).all()
