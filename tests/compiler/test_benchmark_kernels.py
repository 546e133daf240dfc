"""The benchmark kernels: right results, and as few instructions as they take today."""

from pathlib import Path

import numpy as np
import pytest

import benchmarks
from compiler import compile_opencl

from .interpreter import run

KERNELS = Path(benchmarks.__file__).parent / "kernels"


@pytest.fixture(scope="module")
def images():
    return {path.stem: compile_opencl(path.read_text(), filename=path.name) for path in KERNELS.glob("*.cl")}


@pytest.fixture
def random():
    return np.random.default_rng(1)


def ints(random, *shape):
    return random.integers(-2**31, 2**31, shape, dtype=np.int64).astype(np.int32)


def test_copy(images, random):
    source, out = ints(random, 64), np.zeros(64, np.int32)
    assert run(images["copy"], "copy", 64, [source, out]) == 8
    assert (out == source).all()


@pytest.mark.parametrize(("name", "operation"), [("vec_add", np.add), ("vec_mul", np.multiply)])
def test_vectors(images, random, name, operation):
    a, b, out = ints(random, 64), ints(random, 64), np.zeros(64, np.int32)
    assert run(images[name], name, 64, [a, b, out]) == 11
    assert (out == operation(a, b)).all()


def test_fir(images, random):
    taps = 12
    source, coeff, out = ints(random, 64 + taps), ints(random, taps), np.zeros(64, np.int32)
    assert run(images["fir"], "fir", 64, [source, coeff, out, taps]) <= 73
    assert (out == [(source[i:i + taps] * coeff).sum(dtype=np.int32) for i in range(64)]).all()


@pytest.mark.parametrize(("n", "bound"), [(8, 68), (16, 116), (32, 212)])
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


def test_hardly_any_kernel_spills(images):
    # Calls of routines leave few registers to what lives across them.
    spilled = {name: kernel.scratchpad_words for image in images.values() for name, kernel in image.kernels.items()}
    assert spilled.pop("nbody_float") <= 2
    assert not any(spilled.values())
