"""Every math function is within the limits of the full profile."""

import re

import numpy as np
import pytest

from fgpu.config import Config

from . import coefficients
from .functions import FUNCTIONS, HALF, NATIVE, NATIVE_ANGLES
from .ulp import DOCUMENT, SPECIAL, WAVEFRONT, measure, run

HALF_LIMIT = 8192
QUICK = ("exp", "log", "sin", "atan2", "pow", "tgamma", "remainder", "ldexp")
SAMPLES, LONG_SAMPLES = 3_000, 100_000


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long)
                                  for name in FUNCTIONS])
def test_errors(name):
    found = measure(name, SAMPLES if name in QUICK else LONG_SAMPLES, seed=2)
    assert found.worst <= FUNCTIONS[name].limit, found
    # Nor is it much worse than it was when the table was written.
    written = re.search(rf"\| {name} \| \S+ \| ([\d.]+) \|", DOCUMENT.read_text(encoding="utf-8"))
    assert written is not None
    assert found.worst <= 1.3 * float(written[1]) + 0.05, found


@pytest.mark.long
@pytest.mark.parametrize("name", HALF)
def test_half_functions(name):
    found = measure(name, SAMPLES, prefix="half_")
    assert found.worst <= HALF_LIMIT, found


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long)
                                  for name in NATIVE])
def test_native_functions(name):
    """The standard has no limit; programs are written for devices with few units in the last place."""
    found = measure(name, SAMPLES, seed=3, prefix="native_")
    assert found.worst <= 4, found


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long)
                                  for name in NATIVE_ANGLES])
def test_native_angles(name):
    random = np.random.default_rng(4)
    angles = [random.uniform(-bound, bound, 1024) for bound in (1e-3, 1, 4, 256, 2.0 ** 25, 2.0 ** 33)]
    turns = np.arange(-512, 512) * (np.pi / 4)
    x = np.concatenate([SPECIAL, *angles, turns]).astype(np.float32)
    x = np.resize(x, -(-len(x) // WAVEFRONT) * WAVEFRONT)
    got, _ = run(f"native_{name}", FUNCTIONS[name], [x], Config())
    assert (np.isnan(got) == ~np.isfinite(x)).all()
    near = np.abs(x) < 2.0 ** 33
    assert np.abs(got[near] - FUNCTIONS[name].reference(x[near].astype(np.float64))).max() < 2.0 ** -24
    assert (np.abs(got[np.isfinite(x)]) <= 1).all()
    assert (got[x == 0] == FUNCTIONS[name].reference(x[x == 0])).all()


@pytest.mark.long
def test_coefficients_are_those_of_the_program():
    assert coefficients.HEADER.read_text(encoding="utf-8") == coefficients.text()
