"""Atomics on the functional engine: in the order of the work-items, each sees what the one before it left."""

import random

import numpy as np
import pytest

from fgpu.compiler import assemble
from fgpu.config import ATOMICS, Config
from fgpu.errors import KernelFault, LaunchError
from fgpu.sim import Device, GlobalMemory
from fgpu.sim.functional.atomics import atomic

from ..arithmetic import signed

CORNERS = (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)


def golden(name: str, old: int, operand: int, expected: int) -> int:
    """The new word, written apart from the engine's."""
    new = {
        "add": old + operand, "and": old & operand, "or": old | operand, "xor": old ^ operand, "xchg": operand,
        "max": old if signed(old) > signed(operand) else operand, "umax": old if old > operand else operand,
        "min": old if signed(old) < signed(operand) else operand, "umin": old if old < operand else operand,
        "cmpxchg": operand if old == expected else old,
    }[name]
    return new % (1 << 32)


@pytest.mark.parametrize("name", sorted(ATOMICS))
@pytest.mark.parametrize("places", [1, 3, 1000])
def test_old_and_new_words(name: str, places: int) -> None:
    rng = random.Random(f"{name} {places}")

    def value() -> int:
        return rng.choice([rng.choice(CORNERS), rng.getrandbits(32)])

    words = [value() for _ in range(1000)]
    memory = np.array(words, np.uint32)
    indices, operands = [rng.randrange(places) for _ in range(300)], [value() for _ in range(300)]
    expected = [rng.choice([words[index], value(), operands[at - 1]]) for at, index in enumerate(indices)]
    olds = []
    for index, operand, compared in zip(indices, operands, expected, strict=True):
        olds.append(words[index])
        words[index] = golden(name, words[index], operand, compared)
    result = atomic(name, memory, np.array(indices), np.array(operands, np.uint32), np.array(expected, np.uint32))
    assert result.tolist() == olds
    assert memory.tolist() == words


def test_addresses_and_registers() -> None:
    """The index of aadd is scaled, that of cmpxchg does not exist; the old word goes to rd, but not to r0."""
    image = assemble("""
        .kernel k
        lid r1, 0
        lp r2, 0
        andi r3, r1, 7
        li r4, 1
        aadd r4, r2[r3]
        lp r5, 1
        sw r4, r5[r1]
        addi r6, r2, 32
        lw r7, r6[r0]
        li r8, 77
        acmpxchg r8, r6, r7
        addi r5, r5, 256
        sw r8, r5[r1]
        amax r0, r2[r3]
        ret
    """)
    with Device(Config(atomics=ATOMICS), engine="functional") as device:
        table, out = device.buffer(np.r_[np.arange(0, 80, 10), 5].astype(np.int32)), device.buffer(128)
        device.launch(image, global_size=64, args=[table, out])
        assert table.read().tolist() == [10 * n + 8 for n in range(8)] + [77]
        assert out.read()[:64].tolist() == [10 * (n % 8) + n // 8 for n in range(64)]
        assert out.read()[64:].tolist() == [5] + 63 * [77]


@pytest.mark.parametrize("name", sorted(ATOMICS))
def test_an_atomic_that_is_not_built(name: str) -> None:
    image = assemble(f".kernel k\n a{name} r1, r2{', r3' if name == 'cmpxchg' else '[r3]'}\n ret")
    with Device(Config(atomics=ATOMICS - {name}), engine="functional") as device:
        with pytest.raises(LaunchError, match=rf"instruction 0 \(a{name}\) needs atomics in hardware "
                                              rf"\(atomics={{'{name}'}}\), which this configuration lacks"):
            device.launch(image, global_size=64)


def test_an_atomic_outside_memory() -> None:
    image = assemble(".kernel k\n aadd r1, r0[r0]\n ret")
    memory = GlobalMemory(size=4096)
    with Device(Config(atomics=ATOMICS), engine="functional", memory=memory, check_accesses=False) as device:
        with pytest.raises(KernelFault, match=r"aadd at 0x00000000 by work-item 0 is outside memory"):
            device.launch(image, global_size=64)
