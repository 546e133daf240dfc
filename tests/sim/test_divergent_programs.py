"""Random programs whose work-items go ways of their own, under all schemes of divergence, on models and hardware."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import DIVERGENCE
from fgpu.errors import CompileError, KernelFault
from fgpu.sim import Device

from ..configurations import GROUPS
from ..divergent_programs import GROUP, INPUTS, ITEMS, Program, random_program
from ..seeds import seed_of_test

DATA = np.random.default_rng(7).integers(0, 1 << 32, INPUTS, dtype=np.uint32)
QUICK = "0"
"""A short program."""
SEEDS = ("14", "16", "17")


def run(program: Program, scheme: str, engine: str) -> tuple[int, int]:
    """The instructions that it took, and the work-items in them; its results are right."""
    config = GROUPS.replace(divergence=scheme)
    image = compile_opencl(program.text, config=config)
    with Device(config, engine=engine) as device:
        out = device.buffer(np.zeros(len(program.expected), np.uint32))
        done = device.launch(image, "k", global_size=ITEMS, local_size=GROUP, args=[out, device.buffer(DATA)])
        wrong = np.flatnonzero(out.read() != program.expected)
    assert not len(wrong), f"{scheme}, {engine}: words {wrong[:8]} of {len(wrong)} are wrong\n{program.text}"
    return done.instructions, done.work_item_instructions


@pytest.mark.parametrize("scheme", DIVERGENCE)
def test_models_do_what_the_program_says(scheme: str) -> None:
    instructions, items = run(random_program(QUICK, DATA.tolist()), scheme, "functional")
    assert items < 0.5 * 64 * instructions      # most of the work-items are elsewhere


@pytest.mark.ci
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scheme", DIVERGENCE)
def test_hardware_does_what_the_program_says(scheme: str, seed: str) -> None:
    """Memory is the program's, and it took the model's instructions, with as many work-items in them."""
    program = random_program(seed, DATA.tolist())
    assert run(program, scheme, "verilator") == run(program, scheme, "functional")


def fresh(count: int) -> Iterator[Program]:
    seed = seed_of_test()
    return (random_program(f"{seed} {number}", DATA.tolist()) for number in range(count))


@pytest.mark.long
@pytest.mark.parametrize("scheme", DIVERGENCE)
def test_more_programs(scheme: str) -> None:
    done = 0
    for program in fresh(40):
        try:
            expected = run(program, scheme, "functional")
        except (CompileError, KernelFault) as error:        # of the link stack's 16 entries, or of the code RAM
            if re.search(r"stacks overflow|calls nest|the code RAM holds", str(error)):
                continue
            raise
        assert run(program, scheme, "verilator") == expected
        done += 1
    assert done > 10
