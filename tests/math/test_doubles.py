"""Functions of doubles beside NumPy's for the extended precision of x87: within OpenCL's limits, with a margin."""

from functools import cache

import numpy as np
import pytest

from fgpu.compiler import compile_opencl

from ..compiler.floating import all_pairs
from ..compiler.test_doubles import CONFIG, SPECIAL, doubles, kernel, launch

EXTENDED = np.longdouble
SAMPLE = 600
MANY = 30_000
pytestmark = [pytest.mark.skipif(np.finfo(EXTENDED).nmant < 63, reason="needs a longer type than double")]


def _exponents(rng, count):
    return np.concatenate([rng.uniform(-750, 750, count), rng.uniform(-1, 1, count), _any(rng, count)])


def _any(rng, count):
    return np.ldexp(rng.uniform(-1, 1, count), rng.integers(-1074, 1024, count))


def _positive(rng, count):
    near = 1 + np.ldexp(rng.uniform(-1, 1, count), rng.integers(-52, -1, count))
    return np.concatenate([np.abs(_any(rng, count)), rng.uniform(0.5, 2, count), near])


def _angles(rng, count):
    wide = np.ldexp(rng.uniform(-1, 1, count), rng.integers(-40, 30, count))
    return np.concatenate([rng.uniform(-4, 4, count), wide, _any(rng, count), np.arange(-100, 100) * np.pi / 2])


FUNCTIONS = {       # what they are beside, the limit, what is seen and a quarter more, arguments
    "exp": (np.exp, 3, 1.2, _exponents), "exp2": (np.exp2, 3, 1.1, _exponents),
    "exp10": (lambda x: np.power(EXTENDED(10), x), 3, 2, _exponents),
    "log": (np.log, 3, 1.4, _positive), "log2": (np.log2, 3, 2, _positive), "log10": (np.log10, 3, 2.1, _positive),
    "sin": (np.sin, 4, 0.6, _angles), "cos": (np.cos, 4, 0.6, _angles), "tan": (np.tan, 5, 2.4, _angles),
    "cbrt": (np.cbrt, 2, 1.4, _any),
}
POWERS = {"pow": "pow(a, b)", "rootn": "rootn(a, (int)b)", "pown": "pown(a, (int)b)"}


@cache
def image(name):
    """A kernel for one function."""
    two = name in POWERS
    return compile_opencl(kernel(name, POWERS[name] if two else f"{name}(a)", "ab" if two else "a"), config=CONFIG)


def demand(name, function, most, *arguments):
    got = doubles(launch(image(name), f"k_{name}", np.uint64, *(argument.view(np.uint64) for argument in arguments)))
    with np.errstate(all="ignore"):
        exact = function(*(argument.astype(EXTENDED) for argument in arguments))
        nearest = exact.astype(np.float64)
        number = np.isfinite(nearest)
        assert np.array_equal(got[~number], nearest[~number], equal_nan=True)
        units = np.abs(got.astype(EXTENDED) - exact) / np.maximum(np.abs(np.spacing(nearest)), 5e-324)
    worst = np.argmax(np.where(number, np.nan_to_num(units, nan=np.inf), 0))
    assert units[worst] <= most, f"{name}{tuple(argument[worst] for argument in arguments)} is {got[worst]}"


def demand_function(name, count):
    function, limit, most, arguments = FUNCTIONS[name]
    assert most < limit
    x = np.concatenate([arguments(np.random.default_rng(1), count), doubles(SPECIAL)])
    demand(name, function, most, x)


def demand_powers(count):
    """Results of all sizes, bases near one, integers, and all pairs of special numbers."""
    rng = np.random.default_rng(2)
    with np.errstate(all="ignore"):
        x = np.concatenate([np.exp(rng.uniform(-700, 700, count)), _positive(rng, count)])
        x = x[x != 1]
        y = rng.uniform(-750, 750, len(x)) / np.log(x)
    a, b = all_pairs(SPECIAL[::11])
    bases = np.concatenate([x, rng.uniform(-20, 20, count), doubles(a)])
    demand("pow", np.power, 8, bases, np.concatenate([y, rng.integers(-40, 40, count).astype(float), doubles(b)]))


@pytest.mark.ci
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    demand_function(name, SAMPLE)


@pytest.mark.ci
def test_powers():
    demand_powers(SAMPLE)


@pytest.mark.ci
@pytest.mark.parametrize("name", ["rootn", "pown"])
def test_integer_powers(name):
    rng = np.random.default_rng(3)
    x, n = _positive(rng, SAMPLE), rng.integers(1, 40, 3 * SAMPLE) * rng.choice([-1.0, 1.0], 3 * SAMPLE)
    demand(name, lambda x, n: np.power(x, 1 / n if name == "rootn" else n), 8, x, n)


@pytest.mark.long
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_arguments(name):
    demand_function(name, MANY)


@pytest.mark.long
def test_many_powers():
    demand_powers(MANY // 5)
