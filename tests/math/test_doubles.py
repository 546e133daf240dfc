"""Functions of doubles beside NumPy's for the extended precision of x87, or mpmath's: within OpenCL's limits, with a
margin."""

import math
from functools import cache

import mpmath
import numpy as np
import pytest

from fgpu.compiler import compile_opencl

from ..compiler.floating import all_pairs
from ..compiler.test_doubles import CONFIG, SPECIAL, doubles, kernel, launch
from ..seeds import seed_of_test
from . import polynomials

EXTENDED = np.longdouble
SAMPLE = 600
MANY = 30_000
needs_extended = pytest.mark.skipif(np.finfo(EXTENDED).nmant < 63, reason="needs a longer type than double")


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


def demand_function(name, count, seed=1):
    function, limit, most, arguments = FUNCTIONS[name]
    assert most < limit
    x = np.concatenate([arguments(np.random.default_rng(seed), count), doubles(SPECIAL)])
    demand(name, function, most, x)


def demand_powers(count, seed=2):
    """Results of all sizes, bases near one, integers, and all pairs of special numbers."""
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        x = np.concatenate([np.exp(rng.uniform(-700, 700, count)), _positive(rng, count)])
        x = x[x != 1]
        y = rng.uniform(-750, 750, len(x)) / np.log(x)
    a, b = all_pairs(SPECIAL[::11])
    bases = np.concatenate([x, rng.uniform(-20, 20, count), doubles(a)])
    demand("pow", np.power, 8, bases, np.concatenate([y, rng.integers(-40, 40, count).astype(float), doubles(b)]))


@needs_extended
@pytest.mark.ci
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    demand_function(name, SAMPLE)


@needs_extended
@pytest.mark.ci
def test_powers():
    demand_powers(SAMPLE)


@needs_extended
@pytest.mark.ci
@pytest.mark.parametrize("name", ["rootn", "pown"])
def test_integer_powers(name):
    rng = np.random.default_rng(3)
    x, n = _positive(rng, SAMPLE), rng.integers(1, 40, 3 * SAMPLE) * rng.choice([-1.0, 1.0], 3 * SAMPLE)
    demand(name, lambda x, n: np.power(x, 1 / n if name == "rootn" else n), 8, x, n)


@needs_extended
@pytest.mark.long
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_arguments(name):
    demand_function(name, MANY, seed_of_test())


@needs_extended
@pytest.mark.long
def test_many_powers():
    demand_powers(MANY // 5, seed_of_test())


def _by_mpmath(function):
    """``function`` to 40 digits; where it has poles, or no real value, NaN."""
    def one(*arguments):
        if any(map(math.isnan, arguments)):
            return mpmath.nan
        try:
            value = function(*map(mpmath.mpf, arguments))
        except (ValueError, ZeroDivisionError):
            return mpmath.nan
        return mpmath.nan if isinstance(value, mpmath.mpc) else value
    return one


def _gamma(x):
    if x == 0:
        return mpmath.inf       # its sign is the zero's
    if x < 0 and x == mpmath.floor(x):
        return mpmath.nan
    return mpmath.gamma(x) if abs(x) < 1000 else mpmath.inf if x > 0 else mpmath.mpf(0)


def _erfc(x):
    return mpmath.erfc(x) if abs(x) < 40 else mpmath.mpf(0 if x > 0 else 2)


def _of_half_turns(function):
    return lambda x: mpmath.nan if mpmath.isinf(x) else function(x)


def _tanpi(x):
    if x % 1 == 0.5:
        return mpmath.inf if x % 2 == 0.5 else -mpmath.inf
    return mpmath.sinpi(x) / mpmath.cospi(x)


def _area(rng, count):
    below = 1 - np.ldexp(rng.uniform(0, 1, count), rng.integers(-52, -1, count))
    return np.concatenate([rng.uniform(-1, 1, count), below, -below, _any(rng, count)])


def _above_one(rng, count):
    near = 1 + np.ldexp(rng.uniform(0, 1, count), rng.integers(-52, 4, count))
    return np.concatenate([near, np.abs(_any(rng, count))])


def _near_zero(rng, count):
    return np.concatenate([np.ldexp(rng.uniform(-1, 1, count), rng.integers(-60, 3, count)), _exponents(rng, count)])


def _middle(rng, count):
    return np.concatenate([rng.uniform(-30, 30, count), _near_zero(rng, count)])


def _halves(rng, count):
    long = np.ldexp(rng.integers(-(1 << 52), 1 << 52, count).astype(float), rng.integers(-51, 3, count))
    return np.concatenate([rng.integers(-200, 200, count) / 4, rng.uniform(-50, 50, count), long,
                           _near_zero(rng, count)])


def _around_integers(rng, count):
    whole = rng.integers(-186, 173, count)
    return np.concatenate([whole + np.ldexp(rng.uniform(-1, 1, count), rng.integers(-50, -1, count)),
                           rng.uniform(-186, 173, count), _near_zero(rng, count)])


BY_MPMATH = {       # as above, by mpmath; -0 is checked by itself
    "expm1": (mpmath.expm1, 3, 1.8, _near_zero), "log1p": (mpmath.log1p, 2, 0.7, _area),
    "sinh": (mpmath.sinh, 4, 1.3, _near_zero), "cosh": (mpmath.cosh, 4, 1.2, _near_zero),
    "tanh": (mpmath.tanh, 5, 2.7, _middle),
    "asinh": (mpmath.asinh, 4, 1.6, _near_zero), "acosh": (mpmath.acosh, 4, 1.8, _above_one),
    "atanh": (mpmath.atanh, 5, 1.6, _area),
    "asin": (mpmath.asin, 4, 1.5, _area), "acos": (mpmath.acos, 4, 1.5, _area), "atan": (mpmath.atan, 5, 0.7, _any),
    "asinpi": (lambda x: mpmath.asin(x) / mpmath.pi, 5, 1.7, _area),
    "acospi": (lambda x: mpmath.acos(x) / mpmath.pi, 5, 1.6, _area),
    "atanpi": (lambda x: mpmath.atan(x) / mpmath.pi, 5, 0.9, _near_zero),
    "sinpi": (_of_half_turns(mpmath.sinpi), 4, 1.4, _halves),
    "cospi": (_of_half_turns(mpmath.cospi), 4, 1.4, _halves),
    "tanpi": (_of_half_turns(_tanpi), 6, 2, _halves),
    "erf": (mpmath.erf, 16, 1, _middle), "erfc": (_erfc, 16, 2, _middle),
    "tgamma": (_gamma, 16, 1.5, _around_integers),
}
FEW_OF_MPMATH, MPMATH_SAMPLE, MANY_OF_MPMATH = 40, 300, 4_000


def units(got, exact):
    """The distance in units in the last place of the exact number, of those that a double can be."""
    if mpmath.isnan(exact) or math.isnan(got):
        return 0.0 if mpmath.isnan(exact) and math.isnan(got) else math.inf
    limit = mpmath.ldexp(1, 1024) - mpmath.ldexp(1, 970)
    if mpmath.isinf(exact) or abs(exact) >= limit or math.isinf(got):
        return 0.0 if math.isinf(got) and abs(exact) >= limit and (got > 0) == (exact > 0) else math.inf
    exponent = max(mpmath.frexp(exact)[1], -1021) if exact else -1021
    return float(abs(mpmath.mpf(got) - exact) / mpmath.ldexp(1, exponent - 53))


def demand_by_mpmath(name, count, seed=4):
    function, limit, most, arguments = BY_MPMATH[name]
    assert most < limit
    x = np.concatenate([arguments(np.random.default_rng(seed), count), doubles(SPECIAL[::3]), [1, -1, 2, 0.5, -1.5]])
    x = np.where(x == 0, 0.0, x)
    got = doubles(launch(image(name), f"k_{name}", np.uint64, x.view(np.uint64)))
    with mpmath.workprec(160):
        found = [units(float(value), _by_mpmath(function)(float(at))) for value, at in zip(got, x, strict=True)]
    worst = int(np.argmax(found))
    assert found[worst] <= most, f"{name}({x[worst].hex()}) is {got[worst].hex()}: {found[worst]}"


@pytest.mark.parametrize("name", ["expm1", "acospi", "tgamma"])
def test_few_by_mpmath(name):
    demand_by_mpmath(name, FEW_OF_MPMATH)


@pytest.mark.ci
@pytest.mark.parametrize("name", BY_MPMATH)
def test_by_mpmath(name):
    demand_by_mpmath(name, MPMATH_SAMPLE)


@pytest.mark.long
@pytest.mark.parametrize("name", BY_MPMATH)
def test_many_by_mpmath(name):
    demand_by_mpmath(name, MANY_OF_MPMATH, seed_of_test())


@pytest.mark.ci
@pytest.mark.parametrize("name", ["atan2", "atan2pi"])
def test_angles_of_points(name):
    """All pairs of edges as the C library has them, and any."""
    rng = np.random.default_rng(6)
    edges = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e308, -1e308, 2, -2])
    y, x = (np.concatenate([array, _any(rng, 300), rng.uniform(-3, 3, 300)]) for array in all_pairs(edges))
    image = compile_opencl(kernel(name, f"{name}(a, b)", "ab"), config=CONFIG)
    got = doubles(launch(image, f"k_{name}", np.uint64, y.view(np.uint64), x.view(np.uint64)))
    for value, b, a in zip(got.tolist(), y.tolist(), x.tolist(), strict=True):
        exact = math.atan2(b, a)
        if exact == 0 or math.isnan(exact):
            assert str(value) == str(exact), (b, a, value)
            continue
        assert math.copysign(1, value) == math.copysign(1, exact)
        with mpmath.workprec(160):
            finite = math.isfinite(a) and math.isfinite(b) and a and b
            exact = mpmath.atan2(b, a) if finite else mpmath.pi * round(exact / math.pi * 4) / 4
            exact = exact / mpmath.pi if name == "atan2pi" else exact
            assert units(value, exact) <= 0.9, (b, a, value)


ZEROS = ("expm1", "log1p", "sinh", "tanh", "asinh", "atanh", "asin", "atan", "asinpi", "atanpi", "sinpi", "tanpi",
         "erf")


@pytest.mark.ci
def test_zeros_keep_their_sign():
    """And the smallest numbers are as they are."""
    kernels = "".join(kernel(name, f"{name}(a)", "a") for name in ZEROS)
    x = np.array([0.0, -0.0, 5e-324, -5e-324])
    for name in ZEROS:
        image = compile_opencl(kernels, kernels=[f"k_{name}"], config=CONFIG)
        got = doubles(launch(image, f"k_{name}", np.uint64, x.view(np.uint64)))
        times = {"sinpi": 3, "tanpi": 3, "asinpi": 0, "atanpi": 0}.get(name, 1)
        assert got.tolist() == (x * times).tolist(), name
        assert np.array_equal(np.signbit(got), np.signbit(x)), name


@pytest.mark.ci
def test_the_largest_number_is_no_infinity():
    """Powers that are numbers by a unit in the last place."""
    largest = np.finfo(np.float64).max
    a, b = np.array([largest, -largest, largest, 0.5]), np.array([1.0, 1.0, -1.0, 1074.0])
    for name in ("pow", "rootn", "pown"):
        got = doubles(launch(image(name), f"k_{name}", np.uint64, a.view(np.uint64), b.view(np.uint64)))
        assert np.allclose(got[:2], a[:2], rtol=1e-15, atol=0), name
        assert np.allclose(got[2] * 2.0 ** 1000, 2.0 ** 1000 / largest, rtol=1e-15), name
    assert doubles(launch(image("pow"), "k_pow", np.uint64, a.view(np.uint64), b.view(np.uint64)))[3] == 5e-324


@pytest.mark.ci
@pytest.mark.parametrize("call", ["tan(p[i])", "pow(p[i], p[i])", "tgamma(p[i])", "atan2(p[i], p[i])"])
def test_vectors_call_subroutines(call):
    """Sixteen times the body would neither fit nor compile in seconds."""
    source = "__kernel void k(__global double16 *p) { size_t i = get_global_id(0); p[i] = " + call + "; }"
    assert len(compile_opencl(source, config=CONFIG.replace(cram_size=64)).words) < 5000


@pytest.mark.ci
def test_polynomials_are_those_of_the_program():
    assert polynomials.HEADER.read_text(encoding="utf-8") == polynomials.text()
