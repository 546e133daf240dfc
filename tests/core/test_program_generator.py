"""The generator of random programs: it writes one for every configuration and every number of work-items."""

import random

import pytest

from fgpu.config import WAVEFRONTS, Config

from ..random_config import random_config
from .harness import BASE, SIZE
from .program_generator import generate
from .test_random_programs import CONFIGS, LONG

ANY = {f"random {seed}": random_config(random.Random(seed), compute_units=(1, 2, 4, 8)) for seed in range(30)}


@pytest.mark.parametrize("config", [pytest.param(config, id=name) for name, config in (CONFIGS | LONG | ANY).items()])
def test_programs_fit(config: Config) -> None:
    """No number that an instruction cannot hold, no place outside memory, and no longer than the code RAM."""
    for seed in range(50):
        kernel = generate(random.Random(seed), config, BASE, SIZE, wavefronts=WAVEFRONTS * config.compute_units)
        assert BASE <= kernel.memory.start < kernel.memory.stop <= BASE + SIZE
        assert 0 < len(kernel.program) <= config.cram_words
