"""Random programs on the hardware and on the functional engine.

``FGPU_SEED`` repeats a run; ``FGPU_PROGRAMS`` sets the number of programs of each test, ``FGPU_CONFIGS`` that of
the random configurations. Those marked ``long`` take a minute each to build.
"""

import os
import random

import pytest

from fgpu.config import ATOMICS, DIVERGENCE, FLOAT_OPS, Config
from fgpu.errors import KernelFault
from fgpu.fault import FaultCause
from fgpu.sim.engine import MemoryTiming

from ..annotations import annotated_kernel, misplaced
from ..configurations import ATOMIC, EVERYTHING, GROUPS, LOCAL, SLICES, TWO_PORTS
from ..random_config import random_config
from ..seeds import seed_of_test
from ..tiers import quick
from .harness import BASE, SIZE, Difference, Pair, random_timing
from .program_generator import generate

SMALL = Config(compute_units=2, cache_banks=1, cache_line=64, cache_size=4, cu_stations=16, axi_data_width=32,
               scratchpad_size=8, tag_managers=1, global_stations=32, link_stack_depth=8, cram_size=8)

CONFIGS = {
    "basic": Config(),
    "small": SMALL,
    "4 CUs, 2 ports, 2 ways": Config.preset("reference", compute_units=4, axi_ports=2, cache_ways=2),
    "atomics": ATOMIC,
    "slices on a port": SLICES,
    "everything": EVERYTHING,
    "floats, rare ones on fewer lanes": Config.preset("float-small"),
    "local memory": LOCAL,
}
ALIKE = ("implicit", "tokens")
"""Schemes with most of their parts in common with others (`min_pc` and `ipdom`)."""

QUICK = ["basic", "atomics"]
LONG = {
    "4 CUs": Config.preset("reference", compute_units=4),
    "tiny": Config.preset("tiny", link_stack_depth=32),
    "words only": Config(compute_units=4, sub_integer_stores=False, cache_banks=2, scratchpad_size=16,
                         cu_stations=24),
    "2 banks": Config(cache_banks=2, cache_line=64, axi_data_width=32, cache_size=32, tag_managers=16),
    "1 bank": Config(cache_banks=1, cache_line=128, cu_stations=64, compute_units=2),
    "4 banks": Config(cache_banks=4, cache_line=64, cu_stations=40, compute_units=2, tag_managers=4),
    "8 CUs": Config.preset("full"),
    "4 ports, 4 ways": Config(compute_units=4, axi_ports=4, axi_data_width=32, cache_banks=2, cache_size=16,
                              cache_line=64, cache_ways=4, cu_stations=24),
    "floats": Config.preset("float"),
    "floats, 4 CUs": Config(compute_units=4, float_ops=FLOAT_OPS, cache_banks=4, cu_stations=24, tag_managers=2),
    "some floats, flushed": Config(float_ops=frozenset({"fadd", "fmul", "fdiv", "itofp"}), float_subnormals=False),
    "floats on 1, 2 and 4 lanes": Config(
        compute_units=2, local_memory=8, float_ops=FLOAT_OPS - {"fptoui"}, float_lanes=frozenset({
            "fadd:4", "fsub:1", "fmul:2", "fslt:4", "fsqrt:4", "itofp:2", "fptosi:1"})),
    "some atomics": Config(compute_units=4, cache_banks=1, cache_line=64, cache_size=4,
                           atomics=frozenset({"add", "umin", "xor"})),
    "local memory, 4 CUs": Config(compute_units=4, local_memory=64, atomics=ATOMICS, axi_ports=4),
    "atomics, 2 ports": TWO_PORTS.replace(cram_size=8, atomics=ATOMICS),
}


def run_programs(config: Config, timing: MemoryTiming | None, count: int) -> None:
    """Launch after launch on one engine; some repeat a kernel, some leave their results in the cache."""
    seed = seed_of_test()
    pair = Pair(config, timing)
    print(f"{config}\n{timing}\nFGPU_SEED={seed}")
    pair.fill(range(BASE, BASE + SIZE), random.Random(seed))
    cleaned, kernel = True, None
    try:
        for index in range(count):
            rng = random.Random(f"{seed} {index}")
            if kernel is None or rng.random() < 0.8:
                most = rng.choice([1, 4, 12, 8 * config.compute_units])
                kernel = annotated_kernel(generate(rng, config, BASE, SIZE, wavefronts=most), config)
                if rng.random() < 0.3:
                    kernel = misplaced(kernel, rng)
            if cleaned:
                pair.fill(kernel.memory, rng)
            was_clean, before = cleaned, pair.memories[1].bytes.copy()
            cleaned = index == count - 1 or rng.random() < 0.8
            try:
                pair.run(kernel, slot=rng.randrange(16), initialize=rng.random() < 0.5, clean=cleaned)
            except KernelFault as fault:
                # Only ``stack`` bounds its entries: by others, each round of a loop may leave some.
                if fault.cause is not FaultCause.STACK_OVERFLOW or config.divergence == "stack":
                    raise
                pair.memories[1].bytes[:] = before
                kernel, cleaned = None, was_clean
    except Difference as difference:
        raise AssertionError(f"FGPU_SEED={seed}, program {index}: {difference}") from difference
    finally:
        pair.close()


def programs(default: int) -> int:
    return int(os.environ.get("FGPU_PROGRAMS") or default)


@pytest.mark.parametrize("config", [
    pytest.param(config, id=name, marks=[pytest.mark.long] if name in LONG or config.compute_units > 2 else
                 [] if name in QUICK else [pytest.mark.ci])
    for name, config in (CONFIGS | LONG).items()])
def test_random_programs(config: Config) -> None:
    run_programs(config, None, programs(80))


@pytest.mark.ci
@pytest.mark.parametrize("scheme", [pytest.param(scheme, marks=[pytest.mark.long] if scheme in ALIKE else [])
                                    for scheme in DIVERGENCE[1:]])
def test_random_programs_under_all_schemes(scheme: str) -> None:
    run_programs(GROUPS.replace(divergence=scheme), None, programs(30))


@pytest.mark.parametrize("name", quick(CONFIGS, QUICK))
@pytest.mark.parametrize("run", range(2))
def test_random_programs_with_random_memory_timing(name: str, run: int) -> None:
    timing = random_timing(random.Random(f"{seed_of_test()} {run}"))
    run_programs(CONFIGS[name], timing, programs(15))


@pytest.mark.long
@pytest.mark.parametrize("number", range(int(os.environ.get("FGPU_CONFIGS") or 8)))
def test_random_configurations(number: int) -> None:
    rng = random.Random(f"{seed_of_test()} configuration {number}")
    config = random_config(rng)
    for timing in (None, random_timing(rng), random_timing(rng)):
        run_programs(config, timing, programs(40))


@pytest.mark.long
@pytest.mark.parametrize("run", range(20))
def test_many_random_programs(run: int) -> None:
    timing = random_timing(random.Random(f"{seed_of_test()} {run}"))
    run_programs(CONFIGS["basic"], timing, programs(200))
