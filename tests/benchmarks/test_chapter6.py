"""The benchmarks of chapter 6: right on the functional engine, a few in cycles; floats to the bit."""

import numpy as np
import pytest

from fgpu import Config, Device
from fgpu.benchmarks import CHAPTER6, run_benchmark
from fgpu.benchmarks.registry import EVERY
from fgpu.errors import ConfigError
from fgpu.sim.memory import GlobalMemory

from ..configurations import ATOMIC

ATOMIC_ONE = next(name for name in CHAPTER6 if EVERY[name].atomic)
IN_CYCLES = ["fir_char", "copy_char4", "sum_short2", "compass", "div_float", "ludecomposition_float"]


@pytest.mark.parametrize("name", CHAPTER6)
def test_result_is_right(name: str) -> None:
    record = run_benchmark(name, 64, engine="functional", seed=1)
    assert record.failure is None
    assert record.passed


@pytest.mark.parametrize("name", IN_CYCLES)
def test_result_is_right_in_cycles(name: str) -> None:
    record = run_benchmark(name, 256, seed=2)
    assert record.failure is None
    assert record.cycles


@pytest.mark.ci
@pytest.mark.parametrize("name", [name for name, benchmark in CHAPTER6.items() if benchmark.atomic])
def test_atomic_reductions_in_cycles(name: str) -> None:
    record = run_benchmark(name, 1024, config=ATOMIC, seed=3)
    assert record.failure is None


@pytest.mark.parametrize("size", [1, 2, 8, 63, 512, 10240])
def test_reductions_of_all_sizes(size: int) -> None:
    """Whatever divides, every element counts, and once."""
    for name in ("sum", "max_atomic", "ac_power"):
        record = run_benchmark(name, size, engine="functional", seed=size, group_size=512)
        assert record.failure is None, name


# -- the right answers are right ----------------------------------------------------------------


def test_fft_is_the_fourier_transform() -> None:
    problem = CHAPTER6["fft_float"].problem(256)
    points, [spectrum] = problem.arrays["points"], problem.expected.values()
    expected = np.fft.fft(points[:, 0] + 1j * points[:, 1])
    np.testing.assert_allclose(spectrum[:, 0] + 1j * spectrum[:, 1], expected, atol=1e-5 * abs(expected).max())


def test_factors_make_the_matrix() -> None:
    problem = CHAPTER6["ludecomposition_float"].problem(1024)
    result = problem.expected["matrix"]
    product = (np.tril(result, -1) + np.eye(len(result))) @ np.triu(result)
    np.testing.assert_allclose(product, problem.arrays["matrix"], rtol=1e-4, atol=1e-3)


def test_filters_on_pictures_with_known_results() -> None:
    """Alone in black, a white pixel: no median sees it; its neighbours have the edges, and sharpening makes rings."""
    from fgpu.benchmarks import matrices

    around = np.zeros((5, 5, 5, 5), np.int32)
    for y, x in np.ndindex(5, 5):
        around[y, x, 4 - y, 4 - x] = 255    # the pixel in the middle is white
    near = around[1:4, 1:4]
    assert not matrices._median(near)[0].any()
    assert matrices._sobel(near)[0][1:4, 1:4].tolist() == [[510, 510, 510], [510, 0, 510], [510, 510, 510]]
    amplitude, angle = matrices._compass(near)
    assert amplitude[1:4, 1:4].tolist() == [[510, 510, 510], [510, 0, 510], [510, 510, 510]]
    assert angle[2, 1] == 2     # to the right of the black pixel is the white one
    assert matrices._sharpen(around)[0][1:4, 1:4].tolist() == [[63, 63, 63], [63, 255, 63], [63, 63, 63]]


def test_reductions_of_numpy() -> None:
    problem = CHAPTER6["sum"].problem(4096)
    [total] = problem.expected.values()
    assert total == problem.arrays["in"].sum(dtype=np.int32)
    problem = CHAPTER6["max_char4"].problem(4096)
    [most] = problem.expected.values()
    assert most.tolist() == problem.arrays["in"].reshape(-1, 4).max(axis=0).tolist()


def test_on_a_device_that_is_given() -> None:
    """One after the other, at the same addresses; where memory ends before these, at others."""
    for memory in (None, GlobalMemory(size=1 << 17)):
        with Device(Config(), engine="functional", memory=memory) as device:
            for seed in (1, 2):
                record = run_benchmark("vec_add", 64, device=device, seed=seed)
                assert record.passed, record.failure
                assert record.engine == "functional"
            with pytest.raises(ConfigError, match=f"lacks what {ATOMIC_ONE} needs"):
                run_benchmark(ATOMIC_ONE, 64, device=device)
