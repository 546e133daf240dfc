"""Floating point compiled for cores with all units, with some and with none, bit for bit against NumPy."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import FLOAT_OPS, Config

from .floating import (
    all_pairs,
    canonical,
    floats,
    fused,
    half_away,
    launch,
    random_pairs,
    special_words,
    triples,
)

SPECIAL = special_words()
SAMPLE = 30_000
LONG_SAMPLE = 10_000_000
CHUNK = 1 << 20


def result(operation):
    return lambda a, b: canonical(operation(floats(a), floats(b)))


BINARY = {
    "add": ("a + b", result(np.add)),
    "sub": ("a - b", result(np.subtract)),
    "mul": ("a * b", result(np.multiply)),
    "div": ("a / b", result(np.divide)),
    "fmin": ("fmin(a, b)", result(np.fmin)),    # of a number and a NaN the number
    "fmax": ("fmax(a, b)", result(np.fmax)),
    "copysign": ("copysign(a, b)", lambda a, b: a & np.uint32(0x7FFFFFFF) | b & np.uint32(0x80000000)),
}
COMPARISONS = {
    "olt": ("a < b", np.less), "ole": ("a <= b", np.less_equal), "ogt": ("a > b", np.greater),
    "oge": ("a >= b", np.greater_equal), "oeq": ("a == b", np.equal), "une": ("a != b", np.not_equal),
    "ult": ("!(a >= b)", lambda a, b: ~(a >= b)), "ule": ("!(a > b)", lambda a, b: ~(a > b)),
    "ugt": ("!(a <= b)", lambda a, b: ~(a <= b)), "uge": ("!(a < b)", lambda a, b: ~(a < b)),
    "one": ("islessgreater(a, b)", lambda a, b: (a < b) | (a > b)),
    "ueq": ("!islessgreater(a, b)", lambda a, b: ~((a < b) | (a > b))),
    "ord": ("isordered(a, b)", lambda a, b: ~(np.isnan(a) | np.isnan(b))),
    "uno": ("isunordered(a, b)", lambda a, b: np.isnan(a) | np.isnan(b)),
}
UNARY = {
    "neg": ("-a", lambda a: a ^ np.uint32(0x80000000)),
    "fabs": ("fabs(a)", lambda a: a & np.uint32(0x7FFFFFFF)),
    "sqrt": ("sqrt(a)", lambda a: canonical(np.sqrt(floats(a)))),
    "trunc": ("trunc(a)", lambda a: canonical(np.trunc(floats(a)))),
    "floor": ("floor(a)", lambda a: canonical(np.floor(floats(a)))),
    "ceil": ("ceil(a)", lambda a: canonical(np.ceil(floats(a)))),
    "rint": ("rint(a)", lambda a: canonical(np.rint(floats(a)))),
    "round": ("round(a)", lambda a: canonical(half_away(floats(a)))),
    "isnan": ("as_float(isnan(a))", lambda a: np.isnan(floats(a)).astype(np.uint32)),
    "isinf": ("as_float(isinf(a))", lambda a: np.isinf(floats(a)).astype(np.uint32)),
    "isfinite": ("as_float(isfinite(a))", lambda a: np.isfinite(floats(a)).astype(np.uint32)),
    "twice": ("a * 2", lambda a: canonical(floats(a) * np.float32(2))),
    "square": ("a * a", lambda a: canonical(floats(a) * floats(a))),
    "half": ("a / 2", lambda a: canonical(floats(a) / np.float32(2))),
    "far": ("a * 0x1p63f", lambda a: canonical(floats(a) * np.float32(2.0**63))),
    "farther": ("a * 0x1p-64f", lambda a: canonical(floats(a) * np.float32(2.0**-64))),
    "tenth": ("a * 0.1f", lambda a: canonical(floats(a) * np.float32(0.1))),
    "above": ("a + 1.5f", lambda a: canonical(floats(a) + np.float32(1.5))),
    "positive": ("as_float(a > 0)", lambda a: (floats(a) > 0).astype(np.uint32)),
}
TERNARY = {
    "fma": ("fma(a, b, c)", lambda a, b, c: canonical(fused(floats(a), floats(b), floats(c)))),
    "mad": ("mad(a, b, c)", lambda a, b, c: canonical(floats(a) * floats(b) + floats(c))),
}
INTEGERS = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
            "uint": np.uint32}


def saturated(words, dtype):
    """C's truncation, towards the nearest integer there is, as a word."""
    limits = np.iinfo(dtype)
    exact = np.nan_to_num(np.trunc(floats(words).astype(np.float64)), nan=0.0, posinf=1e30, neginf=-1e30)
    return np.clip(exact, limits.min, limits.max).astype(np.int64).astype(np.uint32)


def kernel(name, expression, inputs, output="float", input_type="float"):
    parameters = ", ".join(f"__global const {input_type} *p{name}" for name in inputs)
    loads = " ".join(f"{input_type} {name} = p{name}[i];" for name in inputs)
    return (f"__kernel void k_{name}({parameters}, __global {output} *out)\n"
            f"{{ int i = get_global_id(0); {loads} out[i] = {expression}; }}\n")


SOME = frozenset({"fadd", "fmul", "fslt", "uitofp", "fptosi"})
TARGETS = {
    "soft": Config(),
    "hard": Config.preset("float"),
    "some": Config(float_ops=SOME),
    "others": Config(float_ops=FLOAT_OPS - SOME),
}


def compiled(config):
    source = "".join(kernel(name, expression, "ab") for name, (expression, _) in BINARY.items())
    source += "".join(kernel(name, expression, "ab", "int") for name, (expression, _) in COMPARISONS.items())
    source += "".join(kernel(name, expression, "abc") for name, (expression, _) in TERNARY.items())
    source += "".join(kernel(name, expression, "a") for name, (expression, _) in UNARY.items())
    for name in INTEGERS:
        source += kernel(f"to_{name}", f"({name})a", "a", "int")
        source += kernel(f"from_{name}", f"(float)({name})a", "a", input_type="int")
    return compile_opencl(source, filename="floats.cl", config=config), config


@pytest.fixture(scope="module", params=TARGETS)
def target(request):
    """All kernels for a configuration, and the configuration."""
    return compiled(TARGETS[request.param])


@pytest.fixture(scope="module")
def soft():
    return compiled(TARGETS["soft"])


def check(target, name, expected, *inputs):
    image, config = target
    got = launch(image, f"k_{name}", *inputs, config=config)
    wrong = np.flatnonzero(got != expected)
    if len(wrong):
        lines = [f"{', '.join(f'{array[i]:08x}' for array in inputs)} -> {got[i]:08x}, not {expected[i]:08x}"
                 for i in wrong[:8]]
        pytest.fail(f"{name}: {len(wrong)} of {len(got)} are wrong\n" + "\n".join(lines))


def pairs(seed, count=SAMPLE):
    return np.concatenate([all_pairs(SPECIAL), random_pairs(np.random.default_rng(seed), count)], axis=1)


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("name", BINARY)
def test_binary(target, name):
    a, b = pairs(1)
    if name in ("fmin", "fmax"):        # either zero is right
        a, b = (array[(a | b) << 1 != 0] for array in (a, b))
    check(target, name, BINARY[name][1](a, b), a, b)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_ends_of_ranges(soft, name):
    """Exponents from which on the routines go another way, and sums that cancel all but some bits."""
    ranges = [(0, 3), (26, 34), (61, 67), (125, 129), (187, 195), (251, 256)]
    exponents = np.concatenate([np.arange(*ends) for ends in ranges])
    fractions = np.array([0, 1, 0x7FFFFF, 0x400000, 0x3FFFFF, 0x123456])
    words = (exponents[:, None] << 23 | fractions).ravel().astype(np.uint32)
    a, b = all_pairs(np.concatenate([words, words | np.uint32(1 << 31)]))
    check(soft, name, BINARY[name][1](a, b), a, b)
    a = a[::29]
    b = np.concatenate([a ^ np.uint32(1 << bit) for bit in range(23)])
    a = np.resize(a, len(b))
    check(soft, name, BINARY[name][1](a, b), a, b)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(target, name):
    a, b = pairs(3)
    b = np.where(np.arange(len(b)) % 3 == 2, a ^ np.uint32(1), b)
    check(target, name, COMPARISONS[name][1](floats(a), floats(b)).astype(np.uint32), a, b)


TRIPLES = random_pairs, lambda a, b: canonical(floats(a) * floats(b)), 30, 23


@pytest.mark.parametrize("name", TERNARY)
def test_ternary(target, name):
    rng = np.random.default_rng(8)
    some = rng.choice(SPECIAL, (3, SAMPLE))
    a, b, c = (np.concatenate(parts) for parts in zip(some, triples(9, SAMPLE, *TRIPLES), strict=True))
    check(target, name, TERNARY[name][1](a, b, c), a, b, c)


@pytest.mark.parametrize("name", UNARY)
def test_unary(target, name):
    a = pairs(4)[0]
    check(target, name, UNARY[name][1](a), a)


@pytest.mark.parametrize("name", INTEGERS)
def test_to_integers(target, name):
    a = pairs(5)[0]
    check(target, f"to_{name}", saturated(a, INTEGERS[name]), a)


@pytest.mark.parametrize("name", INTEGERS)
def test_from_integers(target, name):
    edges = np.array([sign * ((1 << bit) + delta) for bit in range(33) for delta in (-2, -1, 0, 1, 2)
                      for sign in (1, -1)], np.int64).astype(np.uint32)
    words = np.concatenate([edges, np.random.default_rng(6).integers(0, 1 << 32, SAMPLE, dtype=np.uint32)])
    words[len(edges)::2] >>= np.arange(len(words[len(edges)::2]), dtype=np.uint32) % 32
    expected = words.astype(INTEGERS[name]).astype(np.float32)
    check(target, f"from_{name}", canonical(expected), words)


@pytest.mark.long
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_many_pairs(soft, name):
    for seed in range(LONG_SAMPLE // CHUNK + 1):
        a, b = random_pairs(np.random.default_rng([7, seed]), CHUNK)
        check(soft, name, BINARY[name][1](a, b), a, b)


@pytest.mark.long
def test_many_triples(soft):
    for seed in range(LONG_SAMPLE // CHUNK + 1):
        operands = triples([10, seed], CHUNK, *TRIPLES)
        check(soft, "fma", TERNARY["fma"][1](*operands), *operands)


@pytest.mark.long
@pytest.mark.parametrize("name", ["sqrt", "to_int", "to_uint"])
def test_all_words(soft, name):
    expected = UNARY["sqrt"][1] if name == "sqrt" else \
        lambda a: saturated(a, np.int32 if name == "to_int" else np.uint32)
    for start in range(0, 1 << 32, CHUNK):
        a = np.arange(start, start + CHUNK, dtype=np.uint32)
        check(soft, name, expected(a), a)
