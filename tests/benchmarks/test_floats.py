"""The floating-point benchmarks, bit for bit, in software."""

import pytest

from benchmarks import FLOATS, run_benchmark


@pytest.mark.parametrize("name", FLOATS)
def test_float_benchmark_is_exact(name: str) -> None:
    record = run_benchmark(name, 64, engine="functional", seed=1)
    assert record.failure is None
    assert record.passed
