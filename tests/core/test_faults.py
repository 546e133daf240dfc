"""Faults: the kernel stops, the status bit rises, the register names the instruction, and the next kernel runs."""

from collections.abc import Iterator

import numpy as np
import pytest

from fgpu.compiler import Image, assemble
from fgpu.errors import KernelFault
from fgpu.fault import FaultCause
from fgpu.isa import by_mnemonic
from fgpu.sim import Device
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.engine import Launch
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.verilator import VerilatorEngine

from ..configurations import ATOMIC, TWO_PORTS
from ..tiers import quick
from .harness import BASE
from .test_several_kernels import BusyHost

# A stack pointer is moved, and the next kernel stores what it finds.
MOVED = """.kernel bad
 li r31, 1000
again:
 jsub again
 ret
.kernel found
 lp r1, 0
 lid r2, 0
 wgoff r3, 0
 add r2, r2, r3
 or r4, r31, r0
 sw r4, r1[r2]
 ret
"""
GOOD = ".kernel good\n lp r1, 0\n lid r2, 0\n wgoff r3, 0\n add r2, r2, r3\n sw r2, r1[r2]\n ret\n"

KERNELS = {
    # Work-item 5 of a work-group alone falls off the end of the program into the rest of the code RAM.
    "leaves": (".kernel bad\n lid r1, 0\n li r2, 5\n bne r1, r2, end\n jsub 5000\nend:\n ret\n",
               FaultCause.INSTRUCTION_ADDRESS, 5000),
    "branches before the start": (".kernel bad\n lid r1, 0\n beq r1, r1, -7\n ret\n",
                                  FaultCause.INSTRUCTION_ADDRESS, -7 % (1 << 15)),
    "recurses": (".kernel bad\n lid r1, 0\nagain:\n jsub again\n ret\n", FaultCause.STACK_OVERFLOW, 1),
    "overruns": (".kernel bad\n lid r1, 0\n li r2, 7\n slt r3, r2, r1\n slli r3, r3, 4\n lswi r1, r3[3]\n ret\n",
                 FaultCause.SCRATCHPAD_BOUNDS, 4),
}


CONFIGS = {"2 CUs": ATOMIC, "2 ports": TWO_PORTS}
_QUICK = "2 CUs"
BAD = [pytest.param(config, name, marks=() if config == _QUICK else pytest.mark.ci) for config in CONFIGS
       for name, (_, cause, _) in KERNELS.items()
       if CONFIGS[config].scratchpad_check or cause is not FaultCause.SCRATCHPAD_BOUNDS]


@pytest.fixture(scope="module", params=quick(CONFIGS, [_QUICK]))
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with Device(CONFIGS[request.param]) as device:
        yield device


def check_good(device: Device) -> None:
    out = device.buffer(np.zeros(256, dtype=np.int32))
    device.launch(assemble(GOOD), "good", global_size=(256,), local_size=(64,), args=[out])
    assert (out.read() == np.arange(256)).all()
    out.free()


@pytest.mark.parametrize(("device", "name"), BAD, indirect=["device"])
def test_a_fault_stops_the_kernel(device: Device, name: str) -> None:
    text, cause, pc = KERNELS[name]
    with pytest.raises(KernelFault, match=f"kernel 'bad' of slot 0: PC {pc}[:,]") as raised:
        device.launch(assemble(text), "bad", global_size=(4096,), local_size=(128,), args=[], max_cycles=20_000)
    assert raised.value.cause is cause
    check_good(device)


@pytest.mark.parametrize("name", quick(CONFIGS, [_QUICK]))
def test_a_stopped_kernel_leaves_no_registers(name: str) -> None:
    """Both kernels are started at once, as the engine begins anew after a fault."""
    image, memory = assemble(MOVED), GlobalMemory(BASE, 1 << 16)
    engine = BusyHost(CONFIGS[name], memory)
    shape = {"global_size": (1024,), "local_size": (128,), "parameters": (BASE,)}
    bad, found = (KernelDescriptor(entry=image.kernel(name).entry, **shape).words() for name in ("bad", "found"))
    engine.others, engine.reads, engine.clean, engine.initialize = {2: bad}, [], 1 << 2, 0
    memory.words[:] = 7
    with pytest.raises(KernelFault, match=r"^kernel of slot 2: PC 1: jsub 1: the link stack overflows"):
        engine.launch(Launch(program=image.words, descriptor=found, slot=5, max_cycles=50_000))
    assert not memory.words[:1024].any()


def test_stacks_may_grow_down_from_zero(device: Device) -> None:
    image = assemble(".kernel stack\n lp r4, 0\n lid r1, 0\n addi r2, r0, -16\n lswi r1, r2[0]\n lswi r0, r2[15]\n"
                     " llwi r3, r0[0]\n sw r3, r4[r1]\n ret\n")
    out = device.buffer(np.zeros(64, dtype=np.int32))
    device.launch(image, "stack", global_size=(64,), local_size=(64,), args=[out])
    assert (out.read() == np.arange(64)).all()


def test_an_illegal_instruction_stops_the_kernel(device: Device) -> None:
    """The device refuses such an image, so the engine is launched below it."""
    engine = VerilatorEngine(device.config, device.memory)
    descriptor = KernelDescriptor(entry=0, global_size=(1024,), local_size=(64,))
    words = assemble(".kernel bad\n lid r1, 0\n").words
    lacking = [0x8A000000] if device.config.lacks(by_mnemonic["acmpxchg"]) else []
    for illegal in (0x00000000, 0xFFFFFFFF, 0xC0000000, *lacking):
        with pytest.raises(KernelFault, match=r"slot 0: PC 1: .*: this is no instruction of") as raised:
            engine.launch(Launch(program=[*words, illegal], descriptor=descriptor.words(), max_cycles=10_000))
        assert raised.value.cause is FaultCause.ILLEGAL_INSTRUCTION
    good = Image.from_words([*words, 0x92000000], kernels={"good": 0})
    assert engine.launch(Launch(program=good.words, descriptor=descriptor.words())).instructions == 16 * 2
