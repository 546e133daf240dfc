"""Arithmetic in double, bit for bit against NumPy's binary64."""

import ctypes

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.errors import CompileError
from fgpu.sim import Device

from ..seeds import seed_of_test
from .floating import all_pairs, triples

NAN = np.uint64(0x7FF8_0000_0000_0000)
SIGN = np.uint64(1 << 63)
SAMPLE = 4_000
LONG_SAMPLE = 2_000_000
CHUNK = 1 << 17
GROUP = 512


def special_numbers():
    """Numbers at the edges of something, as integers."""
    exponents = [1, 2, 53, 54, 970, 1011, 1022, 1023, 1024, 1053, 1054, 1055, 1075, 1076, 1086, 1087, 2045, 2046]
    positive = {0, 1, 2, 3, 1 << 51, (1 << 52) - 1, (1 << 52) - 2, 0x7FF << 52, (0x7FF << 52) + 1, int(NAN),
                (1 << 63) - 1}
    for exponent in exponents:
        one = exponent << 52
        positive |= {one - 1, one, one + 1, one | 1 << 51, one | (1 << 52) - 1, one | 0x5555_5555_5555, one | 1 << 28,
                     one | 1 << 29, one | 3 << 28}
    numbers = np.array(sorted(positive), np.uint64)
    return np.concatenate([numbers, numbers | SIGN])


SPECIAL = special_numbers()


def random_pairs(rng, count):
    """Any two; exponents that differ little or add up to an end of the range; of many bits, of few, and of all."""
    any_two = rng.integers(0, 1 << 64, (2, count), dtype=np.uint64)
    exponent = rng.integers(0, 2048, count)
    other = np.clip(exponent + rng.integers(-58, 59, count), 0, 2047)
    mirrored = np.clip(rng.choice([1, 1023, 2045, 3068], count) - exponent + rng.integers(-58, 59, count), 0, 2047)
    fractions = rng.integers(0, 1 << 52, (2, count))
    few = fractions & rng.integers(0, 1 << 52, (2, count)) & rng.integers(0, 1 << 52, (2, count)) \
        & rng.integers(0, 1 << 52, (2, count))
    few = np.where(rng.random((2, count)) < 0.3, (1 << 52) - 1 ^ few, few)
    kind = rng.integers(0, 6, count)
    fractions = np.where(kind % 2, few, fractions)
    exponents = np.stack([exponent, np.where(kind < 4, other, mirrored)])
    signs = rng.integers(0, 2, (2, count))
    close = signs.astype(np.uint64) << np.uint64(63) | (exponents << 52 | fractions).astype(np.uint64)
    return np.where(rng.random(count) < 0.15, any_two, close)


def doubles(numbers):
    return numbers.view(np.float64)


def canonical(values):
    """The integers of results, every NaN as the one that we produce."""
    values = np.asarray(values, np.float64)
    return np.where(np.isnan(values), NAN, values.view(np.uint64))


def half_away(values):
    whole = np.trunc(values)
    return np.where(np.abs(values - whole) >= 0.5, whole + np.copysign(1, values), np.copysign(whole, values))


def logb(values):
    exponents = np.frexp(values)[1] - 1.0
    return np.where(np.isfinite(values) & (values != 0), exponents, np.where(values == 0, -np.inf, np.abs(values)))


_LIBM = ctypes.CDLL(None)
for name, count in (("fma", 3), ("remainder", 2)):
    getattr(_LIBM, name).restype = ctypes.c_double
    getattr(_LIBM, name).argtypes = [ctypes.c_double] * count


def exact(function, *operands):
    """What a function of NumPy gives, or, by its name, one of the C library."""
    if callable(function):
        return canonical(function(*operands))
    lists = zip(*(operand.tolist() for operand in operands), strict=True)
    return canonical(np.array([getattr(_LIBM, function)(*each) for each in lists]))


BINARY = {
    "add": ("a + b", np.add), "sub": ("a - b", np.subtract), "mul": ("a * b", np.multiply),
    "div": ("a / b", np.divide), "fmin": ("fmin(a, b)", np.fmin), "fmax": ("fmax(a, b)", np.fmax),
    "copysign": ("copysign(a, b)", np.copysign), "nextafter": ("nextafter(a, b)", np.nextafter),
}
FARTHER = {"fmod": ("fmod(a, b)", np.fmod), "remainder": ("remainder(a, b)", "remainder"),
           "hypot": ("hypot(a, b)", np.hypot)}
"""What takes long where the operands are far apart."""
COMPARISONS = {
    "olt": ("a < b", np.less), "ole": ("a <= b", np.less_equal), "ogt": ("a > b", np.greater),
    "oge": ("a >= b", np.greater_equal), "oeq": ("a == b", np.equal), "une": ("a != b", np.not_equal),
    "ult": ("!(a >= b)", lambda a, b: ~(a >= b)), "ugt": ("!(a <= b)", lambda a, b: ~(a <= b)),
    "one": ("a < b || a > b", lambda a, b: (a < b) | (a > b)),
}
UNARY = {
    "neg": ("-a", np.negative), "half": ("a / 2", lambda a: a / 2), "tenth": ("a * 0.1", lambda a: a * 0.1),
    "square": ("a * a", np.square), "sqrt": ("sqrt(a)", np.sqrt), "trunc": ("trunc(a)", np.trunc),
    "floor": ("floor(a)", np.floor), "ceil": ("ceil(a)", np.ceil), "rint": ("rint(a)", np.rint),
    "round": ("round(a)", half_away), "fabs": ("fabs(a)", np.abs), "logb": ("logb(a)", logb),
    "frexp": ("frexp(a, &n)", lambda a: np.frexp(a)[0]),
    "near": ("ldexp(a, 55)", lambda a: np.ldexp(a, 55)), "far": ("ldexp(a, -900)", lambda a: np.ldexp(a, -900)),
    "farther": ("ldexp(a, -2090)", lambda a: np.ldexp(a, -2090)),
    "above": ("ldexp(a, 2000)", lambda a: np.ldexp(a, 2000)),
}
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
         "isnormal": lambda a: np.isfinite(a) & (np.abs(a) >= np.finfo(np.float64).tiny), "signbit": np.signbit,
         "ilogb": lambda a: np.where((a == 0) | np.isnan(a), -1 << 31, np.where(np.isinf(a), (1 << 31) - 1,
                                                                                np.frexp(a)[1] - 1))}
TERNARY = {"fma": ("fma(a, b, c)", "fma"), "mad": ("mad(a, b, c)", lambda a, b, c: a * b + c)}
INTEGERS = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
            "uint": np.uint32, "long": np.int64, "ulong": np.uint64}


def kernel(name, expression, inputs, output="double", types=None):
    types = types or dict.fromkeys(inputs, "double")
    parameters = ", ".join(f"__global const {types[name]} *p{name}" for name in inputs)
    loads = " ".join(f"{types[name]} {name} = p{name}[i];" for name in inputs) + " int n;" * ("&n" in expression)
    return (f"__kernel void k_{name}({parameters}, __global {output} *out)\n"
            f"{{ int i = get_global_id(0); {loads} out[i] = {expression}; }}\n")


KERNELS = [
    *(kernel(name, expression, "ab") for name, (expression, _) in {**BINARY, **FARTHER}.items()),
    *(kernel(name, expression, "ab", "int") for name, (expression, _) in COMPARISONS.items()),
    *(kernel(name, expression, "abc") for name, (expression, _) in TERNARY.items()),
    *(kernel(name, expression, "a") for name, (expression, _) in UNARY.items()),
    *(kernel(name, f"{name}(a)", "a", "int") for name in TESTS),
    *(kernel(f"to_{name}", f"({name})a", "a", name) for name in (*INTEGERS, "float", "half")),
    *(kernel(f"from_{name}", "a", "a", types={"a": name}) for name in (*INTEGERS, "float", "half")),
]
CONFIG = Config(cram_size=16)
PARTS = 2


@pytest.fixture(scope="module")
def image():
    """The image of a kernel: all of them have no room in one."""
    images = [compile_opencl("".join(KERNELS[part::PARTS]), filename="doubles.cl", config=CONFIG)
              for part in range(PARTS)]
    return lambda name: next(image for image in images if name in image.kernels)


def launch(image, kernel, output, *inputs, engine="functional", config=CONFIG):
    """What ``kernel`` makes of arrays, as an array of type ``output``; of NaN the bits that we produce."""
    padded = -(-len(inputs[0]) // GROUP) * GROUP
    with Device(config, engine=engine) as device:
        buffers = [device.buffer(np.resize(array, padded)) for array in inputs]
        out = device.buffer(np.zeros(padded, output))
        device.launch(image, kernel, global_size=(padded,), local_size=(GROUP,), args=[*buffers, out])
        return out.read()[:len(inputs[0])]


def check(image, name, expected, *inputs):
    got = launch(image(f"k_{name}"), f"k_{name}", expected.dtype, *inputs)
    wrong = np.flatnonzero(got != expected)
    if len(wrong):
        lines = [f"{', '.join(f'{array[i]:x}' for array in inputs)} -> {got[i]:x}, not {expected[i]:x}"
                 for i in wrong[:8]]
        pytest.fail(f"{name}: {len(wrong)} of {len(got)} are wrong\n" + "\n".join(lines))


def pairs(seed, count=SAMPLE):
    return np.concatenate([all_pairs(SPECIAL[::3]), random_pairs(np.random.default_rng(seed), count)], axis=1)


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("name", BINARY)
def test_binary(image, name):
    a, b = pairs(1)
    if name in ("fmin", "fmax", "nextafter"):
        # Either zero is right; NumPy's next of one zero to the other is that.
        a, b = (array[(a | b) << np.uint64(1) != 0] for array in (a, b))
    expected = exact(BINARY[name][1], doubles(a), doubles(b))
    check(image, name, a & ~SIGN | b & SIGN if name == "copysign" else expected, a, b)


@pytest.mark.parametrize("name", FARTHER)
def test_lengths_and_remainders(image, name):
    """Of any two, a few; of others, those whose exponents differ by little."""
    rng = np.random.default_rng(2)
    a, b = pairs(2, 300)
    far, near = rng.choice(len(a), 300), np.abs((a >> np.uint64(52) & np.uint64(2047)).astype(int)
                                               - (b >> np.uint64(52) & np.uint64(2047)).astype(int)) < 70
    a, b = (np.concatenate([array[far], array[near]]) for array in (a, b))
    expected = exact(FARTHER[name][1], doubles(a), doubles(b))
    if name != "hypot":
        check(image, name, expected, a, b)
        return
    got = launch(image("k_hypot"), "k_hypot", np.uint64, a, b)
    wrong = np.abs(got.astype(np.int64) - expected.astype(np.int64)) > 1
    assert not np.any(wrong), [f"{x:x} {y:x} {g:x} {e:x}" for x, y, g, e in zip(
        a[wrong], b[wrong], got[wrong], expected[wrong], strict=True)][:8]


TRIPLES = random_pairs, lambda a, b: canonical(doubles(a) * doubles(b)), 120, 52


@pytest.mark.parametrize("name", TERNARY)
def test_ternary(image, name):
    some = np.random.default_rng(8).choice(SPECIAL, (3, SAMPLE))
    a, b, c = (np.concatenate(parts) for parts in zip(some, triples(9, SAMPLE, *TRIPLES), strict=True))
    check(image, name, exact(TERNARY[name][1], doubles(a), doubles(b), doubles(c)), a, b, c)


@pytest.mark.parametrize("name", TESTS)
def test_classes(image, name):
    check(image, name, TESTS[name](doubles(SPECIAL)).astype(np.int32), SPECIAL)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(image, name):
    a, b = pairs(3, 1000)
    b = np.where(np.arange(len(b)) % 3 == 2, a ^ np.uint64(1), b)
    check(image, name, COMPARISONS[name][1](doubles(a), doubles(b)).astype(np.uint32), a, b)


@pytest.mark.parametrize("name", UNARY)
def test_unary(image, name):
    a = np.concatenate([SPECIAL, random_pairs(np.random.default_rng(4), SAMPLE)[0]])
    expected = a ^ SIGN if name == "neg" else a & ~SIGN if name == "fabs" else canonical(UNARY[name][1](doubles(a)))
    check(image, name, expected, a)


def saturated(values, dtype):
    """C's truncation, towards the nearest integer there is."""
    limits = np.iinfo(dtype)
    exact = [0 if value != value else value if abs(value) == np.inf else int(value) for value in values.tolist()]
    return np.array([max(limits.min, min(limits.max, value)) for value in exact], dtype)


@pytest.mark.parametrize("name", INTEGERS)
def test_to_integers(image, name):
    rng = np.random.default_rng(5)
    some = doubles(random_pairs(rng, 500)[0])
    near = np.ldexp(rng.uniform(-1, 1, 1500), rng.integers(-2, 66, 1500))
    values = np.concatenate([doubles(SPECIAL), some, near, np.rint(near), np.rint(near) + 0.5])
    expected = saturated(values, INTEGERS[name])
    check(image, f"to_{name}", expected, values.view(np.uint64))


@pytest.mark.parametrize("name", INTEGERS)
def test_from_integers(image, name):
    dtype, rng = INTEGERS[name], np.random.default_rng(6)
    numbers = rng.integers(0, 1 << 64, SAMPLE, dtype=np.uint64)
    numbers >>= rng.integers(0, 64, SAMPLE).astype(np.uint64)
    numbers[::3] &= ~np.uint64(0x3FF)
    numbers[::3] |= rng.choice([0x200, 0x400, 0x3FF, 0x201, 0], len(numbers[::3])).astype(np.uint64)
    numbers = np.where(rng.random(SAMPLE) < 0.5, -numbers.astype(np.int64), numbers.astype(np.int64))
    numbers = np.concatenate([numbers, np.array([0, 1, -1, 1 << 53, (1 << 53) + 1, -1 << 63, (1 << 63) - 1])])
    values = numbers.astype(dtype)
    check(image, f"from_{name}", canonical(values.astype(np.float64)), values)


def test_to_and_from_floats(image):
    """Also to numbers that are subnormal there, and half way between two of them."""
    rng = np.random.default_rng(7)
    numbers = np.concatenate([SPECIAL, random_pairs(rng, SAMPLE)[0]])
    for name, dtype, word, nan, lowest, highest in (("float", np.float32, np.uint32, 0x7FC00000, -151, 130),
                                                    ("half", np.float16, np.uint16, 0x7E00, -26, 17)):
        near = np.ldexp(rng.uniform(-1, 1, SAMPLE), rng.integers(lowest, highest, SAMPLE))
        few = rng.integers(0, 1 << 64, (2, SAMPLE), dtype=np.uint64)
        between = near.astype(dtype).astype(np.float64) * (1 + np.ldexp(1.0, rng.integers(-25, -9, SAMPLE)))
        values = np.concatenate([doubles(numbers), near, between,
                                 doubles(between.view(np.uint64) ^ (few[0] & few[1] & np.uint64(1)))])
        narrow = values.astype(dtype)
        expected = np.where(np.isnan(narrow), word(nan), narrow.view(word))
        check(image, f"to_{name}", expected, values.view(np.uint64))
        short = np.arange(1 << 16, dtype=np.uint16)[::7] if name == "half" else \
            np.concatenate([expected, rng.integers(0, 1 << 32, SAMPLE, dtype=np.uint32)])
        check(image, f"from_{name}", canonical(short.view(dtype).astype(np.float64)), short.view(dtype).view(word))


@pytest.mark.long
def test_many_triples(image):
    for chunk in range(LONG_SAMPLE // CHUNK + 1):
        a, b, c = triples([10, chunk, seed_of_test()], CHUNK, *TRIPLES)
        check(image, "fma", exact("fma", doubles(a), doubles(b), doubles(c)), a, b, c)


@pytest.mark.long
def test_many_roots(image):
    for chunk in range(LONG_SAMPLE // CHUNK + 1):
        a, _ = random_pairs(np.random.default_rng([11, chunk, seed_of_test()]), CHUNK)
        check(image, "sqrt", canonical(np.sqrt(doubles(a))), a)


@pytest.mark.long
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_many_pairs(image, name):
    for chunk in range(LONG_SAMPLE // CHUNK + 1):
        a, b = random_pairs(np.random.default_rng([7, chunk, seed_of_test()]), CHUNK)
        check(image, name, canonical(BINARY[name][1](doubles(a), doubles(b))), a, b)


ARGUMENTS = """
struct pair { float f; double d; };
typedef double real;
__kernel void k(__global real *out, double d, half h, double2 v, half4 w, struct pair p, __global const double4 *q)
{
    int i = get_global_id(0);
    double4 sum = q[i] * d + (double4)(v, p.d, h);
    vstore4(i & 1 ? sum.wzyx : sum, i, out);
    if (i == 3)
        vstore3(convert_double3(w.xyz) + vload3(1, (__global const double *)q), 5, out);
}
"""


def test_arguments_vectors_and_structs():
    image = compile_opencl(ARGUMENTS, config=CONFIG)
    q = np.linspace(-3, 4, 16)
    pair = np.array([(2.5, 0, 1e300)], np.dtype([("f", "f4"), ("_", "i4"), ("d", "f8")]))[0]
    with Device(CONFIG, engine="functional") as device:
        out = device.buffer(np.zeros(18))
        device.launch(image, "k", global_size=4, args=[
            out, 0.1, 1.5, [1e-300, 3], [1, 2.25, -7, 5], pair, device.buffer(q)])
        got = out.read()
    expected = q.reshape(4, 4) * 0.1 + np.array([1e-300, 3, 1e300, 1.5])
    expected[1::2] = expected[1::2, ::-1]
    expected = np.concatenate([expected.ravel(), [0, 0]])
    expected[15:18] = np.array([1, 2.25, -7]) + q[3:6]
    assert np.array_equal(got, expected)


def words(source, *options):
    return compile_opencl(source, options=options, config=CONFIG).words


BOTH = "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n"
PLAIN = "__kernel void k(__global float *a) { int i = get_global_id(0); a[i] = a[i] * 1.1 + sqrt(2) * M_PI; }\n"


def test_programs_without_doubles_stay_as_they_are():
    """Numbers like 1.1 are floats in them, and functions of integers are those of floats."""
    assert words(PLAIN) == words(BOTH + PLAIN) == words(PLAIN, "-Ucl_khr_fp64")
    double = PLAIN + "__kernel void l(__global double *a) { a[0] = 0.1; }\n"
    with pytest.raises(CompileError, match="'sqrt' is ambiguous"):
        words(double)
    double = double.replace("sqrt(2)", "sqrt(2.0f)")
    assert len(words(double)) > len(words(double, "-cl-single-precision-constant")) + 300     # a product and a sum


@pytest.mark.parametrize("condition", ["defined(cl_khr_fp64)", "defined(cl_khr_fp16)"])
def test_programs_ask_by_macros(condition):
    source = f"#if !{condition}\n#error not there\n#endif\n{PLAIN.replace('(2)', '(2.0f)')}"
    words(source)
    with pytest.raises(CompileError, match="not there"):
        words(source, f"-U{condition[8:-1]}")


@pytest.mark.ci
def test_on_hardware(image):
    a, b = random_pairs(np.random.default_rng(12), 200)
    for name in ("add", "mul", "div", "olt"):
        function = {**BINARY, **COMPARISONS}[name][1]
        expected = function(doubles(a), doubles(b))
        got = launch(image(f"k_{name}"), f"k_{name}", np.int32 if name == "olt" else np.uint64, a, b,
                     engine="verilator")
        assert np.array_equal(got, expected if name == "olt" else canonical(expected)), name
