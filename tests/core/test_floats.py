"""Float kernels from OpenCL C on the floating-point units, bit for bit against NumPy, under random memory timing."""

import random

import pytest

from fgpu.benchmarks import FLOATS, run_benchmark
from fgpu.config import FLOAT_OPS, Config

from ..configurations import EVERYTHING
from ..seeds import seed_of_test
from .harness import random_timing

CONFIGS = {
    "some units": Config.preset("tiny", float_ops=frozenset({"fadd", "fslt"})),
    "1 CU": EVERYTHING,
    "rare ones on fewer lanes": Config.preset("float-small"),
    "4 CUs": Config(compute_units=4, float_ops=FLOAT_OPS, cache_banks=4, cu_stations=24, tag_managers=2),
    "4 CUs, half of the units": Config(compute_units=4, float_ops=frozenset({"fadd", "fdiv", "fslt", "itofp"}),
                                       cache_banks=4, cu_stations=24, tag_managers=2),
}


CI = ["1 CU", "rare ones on fewer lanes"]


@pytest.mark.ci
@pytest.mark.parametrize("name", ["vec_add_float", "div_float"])
def test_some_are_units_and_others_routines(name: str) -> None:
    check(name, "some units")


@pytest.mark.parametrize("config", [
    pytest.param(name, marks=pytest.mark.ci if name in CI else pytest.mark.long) for name in CONFIGS])
@pytest.mark.parametrize("name", FLOATS)
def test_float_kernel_is_exact(name: str, config: str) -> None:
    check(name, config)


def check(name: str, config: str) -> None:
    seed = seed_of_test()
    timing = random_timing(random.Random(f"{seed} {name}"))
    print(timing)
    record = run_benchmark(name, 64, config=CONFIGS[config], seed=seed, memory_latency=timing)
    assert record.failure is None
    assert record.passed
