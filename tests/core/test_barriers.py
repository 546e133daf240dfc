"""Barriers in the whole core, against the functional engine and by themselves."""

import os
import random
from functools import partial

import pytest

from fgpu.config import Config
from fgpu.sim.verilator import VerilatorEngine

from ..configurations import ATOMIC
from ..seeds import seed_of_test
from .barrier_programs import exchange
from .harness import BASE, SIZE, Pair, random_timing

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
