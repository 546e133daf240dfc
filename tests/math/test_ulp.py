"""Every math function is within the limits of the full profile."""

import re

import pytest

from . import coefficients
from .functions import FUNCTIONS, HALF
from .ulp import DOCUMENT, measure

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


@pytest.mark.long
def test_coefficients_are_those_of_the_program():
    assert coefficients.HEADER.read_text(encoding="utf-8") == coefficients.text()
