"""Random errors on the bus, with cached lines afterwards.

No kernel sees a line whose read ended in an error; what an error of a write lost, the next kernel can write.
"""

import random

import numpy as np
import pytest

from fgpu.compiler import assemble
from fgpu.config import Config
from fgpu.fault import FaultCause
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench import abi

from ..configurations import TWO_PORTS
from ..seeds import seed_of_test
from .harness import BASE, random_timing
from .stepwise import FAULT, START, StepwiseEngine, cause

TINY = Config.preset("tiny")
WORDS = 512             # of the input, some 16 lines
OUT = BASE + 0x2000     # clear of the input in every cache
# Work-item i copies word (i * step + first) of the input, modulo its size, to word i of the output.
COPY = assemble("""
.kernel copy
 lp r1, 0
 lp r2, 1
 lp r3, 2
 lp r4, 3
 lid r5, 0
 wgoff r6, 0
 add r5, r5, r6
 mul r7, r5, r3
 add r7, r7, r4
 andi r7, r7, 511
 lw r8, r1[r7]
 sw r8, r2[r5]
 ret
""")


def launch(core: StepwiseEngine, items: int, step: int, first: int, *, clean: bool, slot: int) -> FaultCause:
    """Run the copy; why it was stopped."""
    descriptor = KernelDescriptor(entry=0, global_size=(items,), local_size=(64,),
                                  parameters=(BASE, OUT, step, first))
    core.load(list(COPY.words), (slot, descriptor), clean=clean << slot, initialize=1 << slot)
    fault, = core.do((abi.OP_START, START, 1 << slot), (abi.OP_WAIT, 0, slot), (abi.OP_READ, FAULT, 0))
    return cause(fault)


def run(config: Config, seed: object, turns: int, kinds: tuple[str, ...]) -> None:
    """Kernels while memory errs, then one while it does not: that may be stopped once, by an error on its way."""
    rng = random.Random(f"{seed}")
    memory = GlobalMemory(BASE, 1 << 16)
    core = StepwiseEngine(config, memory, random_timing(rng))
    memory.words[:WORDS] = np.random.default_rng(rng.getrandbits(32)).integers(0, 1 << 32, WORDS, np.uint32)
    expected = memory.words[:WORDS].copy()
    stopped = 0
    for turn in range(turns):
        core.bus_errors(**{kind: rng.choice([0.002, 0.02, 0.1, 0.5]) for kind in kinds})
        for _ in range(rng.randint(1, 3)):
            step, first = rng.choice([1, 1, 3, 32, 33]), rng.randrange(WORDS)
            cleaned = rng.random() < 0.3
            why = launch(core, rng.choice([64, 128, 512]), step, first, clean=cleaned, slot=rng.randrange(16))
            assert why in (FaultCause.NONE, FaultCause.BUS_ERROR)
            stopped += why is FaultCause.BUS_ERROR
        core.bus_errors()
        step, first = rng.choice([1, 33, 511]), rng.randrange(WORDS)
        for attempt in range(2):
            why = launch(core, WORDS, step, first, clean=True, slot=rng.randrange(16))
            if why is FaultCause.NONE:
                break
            assert attempt == 0, f"turn {turn}: stopped twice, though memory does not err: {why}"
        wanted = expected[(np.arange(WORDS) * step + first) % WORDS]
        found = memory.words[(OUT - BASE) // 4:][:WORDS]
        wrong = np.flatnonzero(found != wanted)
        assert not len(wrong), (f"{seed}, turn {turn}: {len(wrong)} words are wrong, the first is word {wrong[0]}: "
                                f"0x{found[wrong[0]]:08X} instead of 0x{wanted[wrong[0]]:08X}")
        memory.words[(OUT - BASE) // 4:][:WORDS] = 0
    assert stopped
    core.close()


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(3))
def test_lines_are_read_anew(seed: int) -> None:
    run(TINY, seed, 20, ("reads",))


@pytest.mark.ci
@pytest.mark.parametrize("kinds", [("writes",), ("reads", "writes")], ids=" and ".join)
def test_what_was_lost_is_written_anew(kinds: tuple[str, ...]) -> None:
    run(TINY, f"{kinds}", 20, kinds)


@pytest.mark.long
@pytest.mark.parametrize("config", [TINY, TWO_PORTS, Config()], ids=["tiny", "2 ports", "default"])
@pytest.mark.parametrize("kinds", [("reads",), ("writes",), ("reads", "writes")], ids=" and ".join)
@pytest.mark.parametrize("number", range(10))
def test_more_errors(config: Config, kinds: tuple[str, ...], number: int) -> None:
    run(config, f"{seed_of_test()} {number}", 100, kinds)
