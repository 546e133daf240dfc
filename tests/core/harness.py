"""Two engines side by side: the hardware must leave the same memory, after equally many instructions."""

import random
from collections.abc import Callable

import numpy as np

from fgpu.compiler.assembler.disassembler import instruction_text
from fgpu.config import Config
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.engine import EngineResult, Launch, MemoryTiming
from fgpu.sim.functional import FunctionalEngine
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench.driver import BenchEngine
from fgpu.sim.verilator import VerilatorEngine

from .program_generator import Kernel
from .program_statements import corners

__all__ = ["BASE", "SIZE", "Difference", "Pair", "random_timing", "simple_kernel"]

BASE = 0x1000_0000
SIZE = 1 << 20


def random_timing(rng: random.Random) -> MemoryTiming:
    """Memory that is fast, slow or erratic."""
    return MemoryTiming(
        read_latency=rng.choice([(0, 0), (0, 30), (40, 40), (10, 200)]),
        write_latency=rng.choice([(0, 0), (0, 30), (100, 100)]),
        pause_probability=rng.choice([0.0, 0.1, 0.5]), interleave=rng.random() < 0.5, reorder=rng.random() < 0.5,
        seed=rng.getrandbits(32))


class Difference(AssertionError):
    """What went wrong, with all that is needed to see it again."""

    def __init__(self, kernel: Kernel, what: str) -> None:
        super().__init__(what)
        self.kernel, self.what = kernel, what

    def __str__(self) -> str:
        lines = [f"{pc:4} {instruction_text(word, pc)}" for pc, word in enumerate(self.kernel.program)]
        return "\n".join([self.what, str(self.kernel.descriptor), *lines])


class Pair:
    """An engine with a clock, Verilator's by default, and a functional engine with equal memories."""

    def __init__(self, config: Config, timing: MemoryTiming | None = None,
                 engine: Callable[..., BenchEngine] = VerilatorEngine) -> None:
        self.config = config
        self.memories = GlobalMemory(BASE, SIZE), GlobalMemory(BASE, SIZE)
        self.hardware = engine(config, self.memories[0], timing)
        self.oracle = FunctionalEngine(config, self.memories[1])

    def fill(self, memory: range, rng: random.Random) -> None:
        """Random bytes and corner cases; the hardware's cache must hold nothing of it."""
        generator = np.random.default_rng(rng.getrandbits(64))
        words = generator.integers(0, 1 << 32, len(memory) // 4, dtype=np.uint32)
        chosen = generator.random(len(words)) < 0.3
        choices = np.array(corners(self.config), dtype=np.uint32)
        words[chosen] = generator.choice(choices, np.count_nonzero(chosen))
        for each in self.memories:
            each.view(memory.start, len(memory))[:] = words.view(np.uint8)

    def run(self, kernel: Kernel, *, slot: int = 0, initialize: bool = True, clean: bool = True) -> EngineResult:
        """Launch on both; compare memories if the hardware's cache was cleaned."""
        launch = Launch(program=kernel.program, descriptor=kernel.descriptor.words(), slot=slot,
                        initialize=initialize, clean=clean, max_cycles=20_000_000)
        expected = self.oracle.launch(launch)
        try:
            result = self.hardware.launch(launch)
        except Exception as error:
            raise Difference(kernel, repr(error)) from error
        counts = [(each.instructions, each.work_item_instructions) for each in (result, expected)]
        if counts[0] != counts[1]:
            raise Difference(kernel, f"instructions, of work-items: {counts[0]}; expected {counts[1]}")
        if clean:
            hardware, oracle = (each.words for each in self.memories)
            different = np.flatnonzero(hardware != oracle)
            if len(different):
                lines = [f"  0x{BASE + 4 * i:08X}: 0x{hardware[i]:08X} instead of 0x{oracle[i]:08X}"
                         for i in different[:20]]
                raise Difference(kernel, f"{len(different)} words differ\n" + "\n".join(lines))
        return result

    def close(self) -> None:
        self.hardware.close()


def simple_kernel(program: list[int], **descriptor: tuple[int, ...]) -> Kernel:
    """A kernel that may touch all of memory."""
    return Kernel(program, KernelDescriptor(entry=0, **descriptor), range(BASE, BASE + SIZE), range(0))
