"""What is said of kernels that go wrong: which kernel, which source line, which instruction, who and what for."""

import re
from dataclasses import replace

import numpy as np
import pytest

from fgpu import Config
from fgpu.compiler import Image, Location, assemble, compile_opencl
from fgpu.errors import KernelFault, SimulationTimeout
from fgpu.fault import FaultCause
from fgpu.sim import Device
from fgpu.sim.engine import OutOfTime, Progress
from fgpu.sim.functional.engine import FunctionalEngine
from fgpu.sim.places import Places

TINY = Config.preset("tiny")
ENGINES = ("functional", "verilator")
SPINS = """\
__kernel void spins(volatile __global int *flag, __global int *o)
{
    while (flag[0] == 0)
        ;
    o[get_global_id(0)] = flag[1];
}
"""
SPACE = """\
__kernel void beside(__global int *o, uint at)
{
    __global int *p = (__global int *)at;
    if (get_global_id(1) == 2)
        p[get_global_id(0)] = 7;
    o[0] = 1;
}
"""


def with_lines(text: str) -> Image:
    """A program with a line for each of its words: the first is in line 11."""
    image = assemble(text)
    return replace(image, lines={at: Location("k.cl", 11 + at) for at in range(len(image.words))})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_kernel_that_does_not_end(engine: str) -> None:
    image = compile_opencl(SPINS, filename="spins.cl", config=TINY)
    with Device(TINY, engine=engine, memory_latency=300) as device:
        arguments = [device.buffer(64), device.buffer(64)]
        with pytest.raises(SimulationTimeout) as caught:
            device.launch(image, global_size=64, args=arguments, max_cycles=3000)
    message = str(caught.value)
    assert message.startswith("kernel 'spins' did not finish within 3000 ")
    who = "wavefront 0 of work-group 0 is at" if engine == "functional" else r"\nCU 0 wavefront \d:"
    assert re.search(rf"{who} spins.cl:3: PC \d+: (lwp?|beq|bne) r", message), message
    if engine == "functional":
        assert message.endswith("64 work-items enabled")


def out_of_time(progress: Progress) -> None:
    raise OutOfTime("a moment")


@pytest.mark.parametrize("engine", [*ENGINES, "NumPy"])
def test_who_is_told_how_far_a_launch_is_may_end_it(engine: str) -> None:
    image = compile_opencl(SPINS, filename="spins.cl", config=TINY)
    with Device(TINY, engine="functional" if engine == "NumPy" else engine, progress=out_of_time) as device:
        if engine == "NumPy":
            device._engine = FunctionalEngine(TINY, device.memory)
        arguments = [device.buffer(64), device.buffer(64)]
        for _ in range(2):
            with pytest.raises(SimulationTimeout, match=r"^kernel 'spins' did not finish within a moment") as caught:
                device.launch(image, global_size=64, args=arguments, max_cycles=1 << 40)
        arguments[0].write(np.ones(64, np.uint32))
        device.launch(image, global_size=64, args=arguments)
    where = {"verilator": r"in \d+ cycles; it begins at spins.cl:3: PC"}.get(
        engine, r"wavefront 0 of work-group 0 is at spins.cl:3: PC \d+: .*, 64 work-items enabled$")
    assert re.search(where, str(caught.value)), caught.value


def test_a_wavefront_waits_for_the_data_of_a_load() -> None:
    image = with_lines(".kernel k\n lp r1, 0\n lw r2, r1[r0]\n add r3, r2, r2\n ret")
    with Device(TINY, memory_latency=500) as device, pytest.raises(SimulationTimeout, match=re.escape(
            "CU 0 wavefront 0: k.cl:13: PC 2: add r3, r2, r2: waits for data from memory, "
            "of k.cl:12: PC 1: lw r2, r1[r0]")):
        device.launch(image, global_size=64, args=[device.buffer(64)], max_cycles=300)


def test_a_wavefront_at_a_branch_is_where_the_branch_is() -> None:
    """In each of some cycles, though the program counter moves on before the branch is decided."""
    image, doing = with_lines(".kernel k\nself:\n beq r0, r0, self\n ret"), set()
    with Device(TINY) as device:
        for cycles in range(300, 324):
            with pytest.raises(SimulationTimeout) as caught:
                device.launch(image, global_size=64, args=[], max_cycles=cycles)
            found = re.search(r"wavefront 0: k.cl:11: PC 0: beq r0, r0, 0: (.*)", str(caught.value))
            assert found is not None, caught.value
            doing.add(found[1])
    assert "waits for the divergence unit" in doing


def test_which_load_is_waited_for() -> None:
    words = assemble("lw r1, r9[r0]\n lw r2, r9[r0]\n beq r3, r3, 3\n lw r4, r9[r0]\n lw r5, r9[r0]\n"
                     "add r6, r6, r6\n add r7, r4, r6\n add r7, r6, r6\n aadd r8, r9[r0]\n sw r7, r9[r0]").words
    places = Places(words)
    assert [places.awaited(pc) for pc in range(len(words))] == [None, 0, 1, None, 3, 4, 3, 4, 4, 8]
    assert places.awaited(len(words)) is None


@pytest.mark.parametrize("last", ["sw r4, r9[r0]", "beq r4, r0, 0", "movn r4, r9, r0", "add r1, r4, r0",
                                  "add r1, r0, r4"])
def test_any_register_may_be_waited_for(last: str) -> None:
    """What is stored, compared or moved over as well as an operand, although a younger load is under way."""
    assert Places(assemble(f"lw r4, r9[r0]\n lw r5, r9[r0]\n {last}").words).awaited(2) == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stack_that_overflows(engine: str) -> None:
    image = with_lines(".kernel k\n lid r1, 0\nagain:\n jsub again\n ret")
    with Device(TINY, engine=engine) as device, pytest.raises(KernelFault) as caught:
        device.launch(image, global_size=64, args=[], max_cycles=20_000)
    whose, rest = str(caught.value).split(": ", 1)
    assert whose == ("kernel 'k'" if engine == "functional" else "kernel 'k' of slot 0")
    assert "k.cl:12: PC 1: jsub 1: the " in rest
    assert "overflow" in rest
    assert "wavefront " in rest
    assert caught.value.cause is FaultCause.STACK_OVERFLOW


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wavefront_that_leaves_the_program(engine: str) -> None:
    image = with_lines(".kernel k\n jsub 6000")
    message = r"^kernel 'k'.*: PC 6000.* outside "
    with Device(TINY, engine=engine) as device, pytest.raises(KernelFault, match=message):
        device.launch(image, global_size=64, args=[], max_cycles=20_000)


def test_accesses_beside_memory_are_told_in_the_same_words() -> None:
    """The host gave an address of its own, so all of memory is the kernel's, but there is none."""
    image = compile_opencl(SPACE, filename="space.cl", config=TINY)
    texts = []
    for engine in ENGINES:
        with Device(TINY, engine=engine) as device:
            out = device.buffer(64)
            device.read(out.address + 4096, 1)
            with pytest.raises(KernelFault) as caught:
                device.launch(image, global_size=(4, 4), local_size=(4, 2), args=[out, 0x4000_0000])
            assert caught.value.cause is FaultCause.BUS_ERROR
            device.launch(image, global_size=(4, 4), local_size=(4, 2), args=[out, out.address + 4096])
            assert device.read(out.address + 4096, 5).tolist() == [7, 7, 7, 7, 0]
        texts.append(str(caught.value))
    assert re.fullmatch(r"kernel 'beside', space.cl:5: PC \d+: swp? .*: store to 0x40000000 by work-item \(0, 2\) "
                        r"is outside memory, 0x10000000 to 0x1FFFFFFF", texts[0])
    assert texts[0] == texts[1]


def test_unchecked_accesses_beside_memory() -> None:
    image = compile_opencl(SPACE, filename="space.cl", config=TINY)
    with Device(TINY, check_accesses=False) as device, pytest.raises(KernelFault, match=(
            r"^kernel 'beside' of slot 0: global memory answered .*: .* 0x40000000 .*; check_accesses=True "
            r"\(--check-accesses\) names the instruction and the work-item")):
        device.launch(image, global_size=(4, 4), args=[device.buffer(64), 0x4000_0000])
