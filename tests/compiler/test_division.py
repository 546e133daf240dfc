"""Division by what is not a constant: divisors of all leading bits, at quotients where an error shows."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

WORD = 1 << 32
TYPES = {"uint": np.uint32, "int": np.int32}
LEADING = np.arange(1 << 15, 1 << 16)       # what the reciprocal starts from
BELOW = [0, 1, 0x8000, 0xFFFF]
SOURCE = """
__kernel void k(__global const {type} *restrict a, __global const {type} *restrict b, __global {type} *restrict out)
{{ size_t i = get_global_id(0); out[i] = a[i] {operator} b[i]; }}"""


@pytest.fixture(scope="module")
def images():
    return {(type, operator): compile_opencl(SOURCE.format(type=type, operator=operator))
            for type in TYPES for operator in "/%"}


def numerators(d, rng):
    """Multiples, what is just below one, the largest number, and any."""
    largest = (WORD - 1) // d
    multiples = rng.integers(0, WORD, d.size) % (largest + 1) * d
    return [multiples, np.maximum(multiples - 1, 0), largest * d, np.maximum(largest * d - 1, 0),
            np.full(d.size, WORD - 1), rng.integers(0, WORD, d.size) >> rng.integers(0, 32, d.size)]


def check(images, n, d):
    for (type, operator), image in images.items():
        dtype = TYPES[type]
        words = [array.astype(np.uint32).view(dtype) for array in (n, d)]
        with Device(Config(), engine="functional") as device:
            a, b, out = (device.buffer(array) for array in (*words, np.zeros(n.size, dtype)))
            device.launch(image, "k", global_size=n.size, local_size=64, args=[a, b, out])
            got = out.read()
        x, y = (array.astype(np.int64) for array in words)
        quotient = abs(x) // abs(y) * np.sign(x) * np.sign(y)
        expected = (quotient if operator == "/" else x - quotient * y).astype(dtype)
        wrong = np.flatnonzero(got != expected)
        assert not wrong.size, f"{x[wrong[0]]} {operator} {y[wrong[0]]} is {expected[wrong[0]]}, not {got[wrong[0]]}"


def test_divisors_of_all_leading_bits(images):
    rng = np.random.default_rng(1)
    d = (LEADING << 16 | rng.choice(BELOW, LEADING.size)) >> rng.integers(0, 32, LEADING.size)
    d[:256] = np.arange(1, 257)
    for n in numerators(d, rng):
        check(images, n, d)


@pytest.mark.long
@pytest.mark.parametrize("places", range(32))
def test_all_divisors_of_leading_bits_and_places(images, places):
    rng = np.random.default_rng(places)
    for below in BELOW:
        d = np.maximum((LEADING << 16 | below) >> places, 1)
        for n in numerators(d, rng):
            check(images, n, d)


def test_it_takes_few_instructions(images):
    """Eleven of them are not for the division."""
    assert {key: image.kernels["k"].instructions for key, image in images.items()} \
        == {("uint", "/"): 78, ("uint", "%"): 77, ("int", "/"): 88, ("int", "%"): 86}
