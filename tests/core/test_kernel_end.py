"""The end of a kernel whose last stores are still on their way."""

import random

import numpy as np
import pytest

from fgpu.compiler import assemble
from fgpu.sim import Device, MemoryTiming

from ..seeds import seed_of_test
from ..tiers import quick
from .test_bus_errors import CONFIGS

# Stores to many lines of the second slice, which evict each other, and then one line of the first slice.
SOURCE = """.kernel end
 lp r1, 0
 lid r2, 0
 slli r3, r2, 6
 addi r3, r3, 32
 sw r2, r1[r3]
 sw r2, r1[r2]
 ret
"""


@pytest.mark.parametrize("config", quick(CONFIGS, []))
@pytest.mark.parametrize("run", range(4))
def test_cleaning_waits_for_stores_in_compute_units(config: str, run: int) -> None:
    """A slice that has nothing to do must not be cleaned while stores for it stand behind those for another one."""
    rng = random.Random(f"{seed_of_test()} {run}")
    print(f"FGPU_SEED={seed_of_test()}")
    timing = MemoryTiming(write_latency=(rng.choice([0, 30, 200]), 200), seed=rng.getrandbits(32))
    with Device(CONFIGS[config], memory_latency=timing) as device:
        out = device.buffer(np.full(64 * 64, -1, dtype=np.int32))
        device.launch(assemble(SOURCE), "end", global_size=(64,), local_size=(64,), args=[out])
        expected = np.full(64 * 64, -1)
        expected[32::64] = np.arange(64)
        expected[:64] = np.arange(64)
        assert (out.read() == expected).all()
