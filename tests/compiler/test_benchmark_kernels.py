"""The benchmark kernels: right results, and as few instructions as they take today."""

from collections.abc import Iterable

import numpy as np
import pytest

from fgpu import benchmarks
from fgpu.config import ATOMICS, FLOAT_OPS, Config

from .interpreter import run


@pytest.fixture(scope="module")
def images():
    return {name: benchmark.image(Config()) for name, benchmark in benchmarks.BENCHMARKS.items()}


@pytest.fixture
def random():
    return np.random.default_rng(1)


def ints(random, *shape):
    return random.integers(-2**31, 2**31, shape, dtype=np.int64).astype(np.int32)


def test_copy(images, random):
    source, out = ints(random, 64), np.zeros(64, np.int32)
    assert run(images["copy"], "copy", 64, [source, out]) == 4
    assert (out == source).all()


@pytest.mark.parametrize(("name", "operation"), [("vec_add", np.add), ("vec_mul", np.multiply)])
def test_vectors(images, random, name, operation):
    a, b, out = ints(random, 64), ints(random, 64), np.zeros(64, np.int32)
    assert run(images[name], name, 64, [a, b, out]) == 6
    assert (out == operation(a, b)).all()


def test_fir(images, random):
    taps = 12
    source, coeff, out = ints(random, 64 + taps), ints(random, taps), np.zeros(64, np.int32)
    assert run(images["fir"], "fir", 64, [source, coeff, out, taps]) <= 69
    assert (out == [(source[i:i + taps] * coeff).sum(dtype=np.int32) for i in range(64)]).all()


@pytest.mark.parametrize(("n", "bound"), [(8, 69), (16, 99), (32, 159)])
def test_matmul(images, random, n, bound):
    a, b, c = ints(random, n, n), ints(random, n, n), np.zeros((n, n), np.int32)
    assert run(images["matmul"], "matmul", (n, n), [a, b, c, n], local=(8, 8)) <= bound
    assert (c == a @ b).all()


@pytest.mark.parametrize("direction", [0, 1])
def test_bitonic(images, random, direction):
    data = random.integers(0, 2**32, 256, dtype=np.uint32)
    expected = np.sort(data)[::1 if direction else -1]
    launches = 0
    for stage in range(8):
        for step in range(stage + 1):
            launches += 1
            assert run(images["bitonic"], "bitonic", 128, [data, stage, step, direction]) <= 27
    assert launches == 36
    assert (data == expected).all()


def spilled(names: Iterable[str], config: Config) -> dict[str, int]:
    """Words of the scratchpad that the kernels of benchmarks take, where they take any."""
    words = {name: max(kernel.scratchpad_words for kernel in benchmarks.EVERY[name].image(config).kernels.values())
             for name in names}
    return {name: count for name, count in words.items() if count}


@pytest.mark.ci
def test_hardly_any_kernel_spills():
    """But around calls of routines, which leave few registers to what lives across them, and three with local memory,
    of which a work-item has several results."""
    with_local = {name for name, benchmark in benchmarks.EVERY.items() if benchmark.without}
    kernels = benchmarks.EVERY.keys() - with_local - benchmarks.DIVERGENCE.keys()
    found = spilled(kernels, Config(atomics=ATOMICS))
    assert found.pop("nbody_float") <= 4
    assert not found
    found = spilled(with_local, Config(atomics=ATOMICS, float_ops=FLOAT_OPS, local_memory=32))
    assert found.keys() == {"matmul_local", "matrixMul", "convolution_local", "kmeans_local"}     # two are the same
    assert max(found.values()) <= 4
    found = spilled(benchmarks.DIVERGENCE.keys() - with_local, Config(atomics=ATOMICS))     # logarithms are routines
    assert found.keys() <= {"BlackScholes", "MersenneTwister", "quasiRandomGenerator"}
    assert max(found.values()) <= 4
