"""Whatever registers and memories hold at power-up: one cycle of reset, and every launch is the same."""

import os
import random
from functools import partial

import numpy as np
import pytest

from fgpu.compiler.assembler.assembler import assemble
from fgpu.config import Config
from fgpu.errors import ConfigError, ToolError
from fgpu.isa import REGISTER_COUNT
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.engine import Launch
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.verilator import VerilatorEngine

from ..configurations import ATOMIC
from ..seeds import seed_of_test
from .harness import BASE, SIZE, Pair
from .program_generator import generate

ITEMS = 512     # that fill a compute unit


def registers(scratch: tuple[int, int, int], items: int) -> str:
    """A program that stores all registers of its work-items but three, as they are when it starts."""
    place, index, more = (f"r{number}" for number in scratch)
    step = "\n".join([f"addi {place}, {place}, 2048"] * (4 * items // 2048))
    stores = [f"sw r{number}, {place}[{index}]\n{step}" for number in range(REGISTER_COUNT) if number not in scratch]
    return "\n".join([".kernel k", f"lp {place}, 0", f"lid {index}, 0", f"wgoff {more}, 0",
                      f"add {index}, {index}, {more}", *stores, "ret", ""])


def first_registers(config: Config, power_up: int, scratch: tuple[int, int, int]) -> tuple[np.ndarray, int]:
    """Those of a core that was just reset, and the cycles of the launch."""
    items = ITEMS * config.compute_units
    memory = GlobalMemory(BASE, SIZE)
    memory.words[:] = 0xDEAD_BEEF
    engine = VerilatorEngine(config, memory, power_up=power_up)
    descriptor = KernelDescriptor(entry=0, global_size=(items,), local_size=(ITEMS,), parameters=(BASE,))
    try:
        result = engine.launch(Launch(program=assemble(registers(scratch, items)).words,
                                      descriptor=descriptor.words(), max_cycles=1_000_000))
    finally:
        engine.close()
    count = (REGISTER_COUNT - len(scratch)) * items
    assert (memory.words[count:] == 0xDEAD_BEEF).all(), "the kernel, or what the cache held, was written elsewhere"
    return memory.words[:count].reshape(-1, items), result.cycles


def check(config: Config, seeds: range) -> None:
    cycles: dict[tuple[int, int, int], set[int]] = {}
    for power_up in seeds:
        for scratch in ((1, 2, 3), (31, 30, 29)):
            found, taken = first_registers(config, power_up, scratch)
            kept = [number for number in range(REGISTER_COUNT) if number not in scratch]
            wrong = [kept[row] for row in np.flatnonzero(found.any(axis=1))]
            assert not wrong, f"power_up={power_up}: registers {wrong} are not zero"
            cycles.setdefault(scratch, set()).add(taken)
    assert all(len(each) == 1 for each in cycles.values()), f"cycles depend on what was there at power-up: {cycles}"


def test_registers_are_zero() -> None:
    check(ATOMIC, range(5))


@pytest.mark.long
@pytest.mark.parametrize("units", [1, 4])
def test_registers_are_zero_after_a_hundred_power_ups(units: int) -> None:
    first = seed_of_test() % (1 << 30) + 1
    check(Config.preset("tiny", compute_units=units), range(first, first + 100))


def program_cycles(config: Config, power_up: int, count: int) -> list[int]:
    """Of random programs, one after the other; their results are right."""
    pair = Pair(config, engine=partial(VerilatorEngine, power_up=power_up))
    cycles = []
    try:
        for index in range(count):
            rng = random.Random(f"power-up {index}")
            kernel = generate(rng, config, BASE, SIZE, wavefronts=8)
            pair.fill(kernel.memory, rng)
            cycles.append(pair.run(kernel).cycles)
    finally:
        pair.close()
    return cycles


def test_programs_do_not_notice() -> None:
    assert program_cycles(ATOMIC, 1, 8) == program_cycles(ATOMIC, 0, 8)


def test_seeds_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = GlobalMemory(BASE, SIZE)
    with pytest.raises(ConfigError, match="power_up must be from 0 to 2147483647, not -1"):
        VerilatorEngine(ATOMIC, memory, power_up=-1)
    monkeypatch.setitem(os.environ, "FGPU_POWER_UP", "many")
    with pytest.raises(ToolError, match="FGPU_POWER_UP must be from 0 to 2147483647, not 'many'"):
        VerilatorEngine(ATOMIC, memory)
