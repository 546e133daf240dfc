"""`normalize` and `length` of vectors whose components are of very different magnitudes."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

CONFIG = Config(cram_size=16)
COUNT = 512
LIMITS = {"float": (-140, 127, np.float32), "double": (-1070, 1023, np.float64)}
"""Exponents, and NumPy's type."""


@pytest.mark.parametrize("kind", LIMITS)
def test_small_components_beside_large_ones(kind):
    low, high, number = LIMITS[kind]
    random = np.random.default_rng(5)
    exponents = random.integers(low, high + 1, (COUNT, 4))
    exponents[::2, 0] = random.integers(high // 2, high // 2 + 3, COUNT // 2)
    exponents[::2, 1] = exponents[::2, 0] - random.integers(high, high + 20, COUNT // 2)    # a subnormal result
    exponents[::2, 2:] = 0
    vectors = np.ldexp(random.uniform(1, 2, (COUNT, 4)), exponents.clip(low)).astype(number)
    source = f"""kernel void k(global {kind}4 *v, global {kind}4 *n, global {kind} *l)
                 {{ int i = get_global_id(0); n[i] = normalize(v[i]); l[i] = length(v[i]); }}"""
    image = compile_opencl(source, config=CONFIG)
    with Device(CONFIG, engine="functional") as device:
        given, normalized = device.buffer(vectors.ravel()), device.buffer(np.zeros(4 * COUNT, number))
        lengths = device.buffer(np.zeros(COUNT, number))
        device.launch(image, "k", global_size=COUNT, args=[given, normalized, lengths])
        found, measured = normalized.read().reshape(COUNT, 4), lengths.read()
    with np.errstate(over="ignore", under="ignore"):
        exact = vectors.astype(np.longdouble)
        right = np.sqrt((exact * exact).sum(axis=1))
        ulp = np.spacing(np.abs(exact / right[:, None]).astype(number))
        assert (np.abs(found - exact / right[:, None]) <= 2 * ulp).all()
        finite = right <= np.finfo(number).max
        assert np.array_equal(np.isinf(measured), ~finite)
        assert (np.abs(measured - right)[finite] <= 3 * np.spacing(right[finite].astype(number))).all()
