"""Several kernels started at once, while the host reads descriptors and code back."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fgpu.address_map import CRAM_BASE, DESCRIPTOR_WORDS, ControlRegister, register_address
from fgpu.config import Config
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.engine import Launch
from fgpu.sim.testbench import abi
from fgpu.sim.verilator import VerilatorEngine

from ..seeds import seed_of_test
from .harness import BASE, SIZE, Pair
from .program_generator import Kernel, generate


class BusyHost(VerilatorEngine):
    """Starts further kernels together with the launched one, which must have the highest slot, and reads."""

    others: dict[int, Sequence[int]]
    """Descriptors by slot."""
    reads: list[int]
    """Addresses, read while the kernels run."""
    clean: int
    initialize: int

    def _operations(self, launch: Launch) -> Any:
        *loads, _, wait, fault = super()._operations(launch)
        writes = {4 * (slot * DESCRIPTOR_WORDS + index): word
                  for slot, words in self.others.items() for index, word in enumerate(words)}
        writes[register_address(ControlRegister.CLEAN_CACHE)] = self.clean | 1 << launch.slot
        writes[register_address(ControlRegister.INITIALIZE)] = self.initialize
        self._written |= writes
        slots = 1 << launch.slot | sum(1 << slot for slot in self.others)
        self.operations = [
            *loads, *(abi.HostOp(abi.OP_WRITE, address, word) for address, word in writes.items()),
            abi.HostOp(abi.OP_START, register_address(ControlRegister.START), slots),
            *(abi.HostOp(abi.OP_READ, address, 0) for address in self.reads), wait, fault]
        self.array = (abi.HostOp * len(self.operations))(*self.operations)
        return self.array


def relocated(kernels: list[Kernel]) -> tuple[list[int], list[KernelDescriptor]]:
    """One program of all; its branches and calls are relative."""
    program: list[int] = []
    descriptors = []
    for kernel in kernels:
        old = kernel.descriptor
        descriptors.append(KernelDescriptor(
            entry=len(program) + old.entry, global_size=old.global_size, local_size=old.local_size,
            global_offset=old.global_offset, work_groups=old.work_groups, parameters=old.parameters))
        program += kernel.program
    return program, descriptors


@pytest.mark.parametrize("run", range(8))
def test_random_kernels_in_a_row(run: int) -> None:
    seed = f"{seed_of_test()} {run}"
    print(f"FGPU_SEED={seed}")
    rng = random.Random(seed)
    config = Config()
    pair = Pair(config)
    pair.hardware = engine = BusyHost(config, pair.memories[0])
    pair.fill(range(BASE, BASE + SIZE), rng)
    program, descriptors = relocated([generate(rng, config, BASE, SIZE) for _ in range(rng.randint(2, 5))])
    slots = sorted(rng.sample(range(16), len(descriptors)))
    expected = [pair.oracle.launch(Launch(program=program, descriptor=descriptor.words())).instructions
                for descriptor in descriptors]

    engine.others = {slot: descriptor.words() for slot, descriptor in zip(slots[:-1], descriptors, strict=False)}
    engine.clean, engine.initialize = rng.getrandbits(16), rng.getrandbits(16)
    known = {CRAM_BASE + 4 * index: word for index, word in enumerate(program)}
    known |= {4 * (slot * DESCRIPTOR_WORDS + index): word
              for slot, descriptor in zip(slots, descriptors, strict=True)
              for index, word in enumerate(descriptor.words())}
    engine.reads = rng.choices(list(known), k=rng.choice([0, 300]))
    result = engine.launch(Launch(program=program, descriptor=descriptors[-1].words(), slot=slots[-1],
                                  max_cycles=2_000_000))
    assert result.instructions == sum(expected)
    assert np.array_equal(pair.memories[0].words, pair.memories[1].words)
    for operation in engine.array:
        if operation.kind == abi.OP_READ and operation.address in known:
            assert operation.data == known[operation.address]
    pair.close()
