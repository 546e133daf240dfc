"""Arithmetic in half, bit for bit against NumPy's binary16: unary operations on all numbers there are."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

from .floating import all_pairs, fused, half_away
from .test_doubles import kernel, launch, saturated

NAN = np.uint16(0x7E00)
ALL = np.arange(1 << 16, dtype=np.uint16)
SAMPLE = 20_000
CONFIG = Config(cram_size=16)


def special_numbers():
    ends = [0, 1, 2, 3, 0x1FF, 0x200, 0x3FE, 0x3FF, 0x7BFE, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF]
    near = [exponent << 10 | fraction for exponent in (1, 2, 5, 12, 14, 15, 16, 20, 25, 26, 29, 30)
            for fraction in (0, 1, 0x155, 0x200, 0x3FF)]
    positive = np.array([*ends, *near], np.uint16)
    return np.concatenate([positive, positive | np.uint16(0x8000)])


SPECIAL = special_numbers()


def halves(numbers):
    return numbers.view(np.float16)


def canonical(values):
    values = np.asarray(values).astype(np.float16)
    return np.where(np.isnan(values), NAN, values.view(np.uint16))


BINARY = {
    "add": ("a + b", np.add), "sub": ("a - b", np.subtract), "mul": ("a * b", np.multiply),
    "div": ("a / b", np.divide), "fmax": ("fmax(a, b)", np.fmax), "nextafter": ("nextafter(a, b)", np.nextafter),
    "fmod": ("fmod(a, b)", np.fmod),
}
COMPARISONS = {
    "olt": ("a < b", np.less), "ole": ("a <= b", np.less_equal), "oeq": ("a == b", np.equal),
    "une": ("a != b", np.not_equal), "uge": ("!(a < b)", lambda a, b: ~(a < b)),
    "one": ("islessgreater(a, b)", lambda a, b: (a < b) | (a > b)),
    "uno": ("isunordered(a, b)", lambda a, b: np.isnan(a) | np.isnan(b)),
}
UNARY = {
    "sqrt": ("sqrt(a)", np.sqrt), "floor": ("floor(a)", np.floor), "rint": ("rint(a)", np.rint),
    "round": ("round(a)", half_away), "tenth": ("a * 0.1h", lambda a: a * np.float16(0.1)),
    "square": ("a * a", np.square),
}
SIGNS = {"neg": ("-a", lambda a: a ^ np.uint16(0x8000)), "fabs": ("fabs(a)", lambda a: a & np.uint16(0x7FFF)),
         "copysign": ("copysign((half)1.5f, a)", lambda a: a & np.uint16(0x8000) | np.uint16(0x3E00))}
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
         "isnormal": lambda a: np.isfinite(a) & (np.abs(a) >= np.finfo(np.float16).tiny)}
INTEGERS = {"char": np.int8, "uchar": np.uint8, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
            "long": np.int64, "ulong": np.uint64}

ENABLED = "#ifndef cl_khr_fp16\n#error\n#endif\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
HALF, TWO = {"a": "half"}, {"a": "half", "b": "half"}
KERNELS = [
    *(kernel(name, expression, "ab", "half", TWO) for name, (expression, _) in BINARY.items()),
    kernel("fract", "({ half whole; fract(a, &whole); })", "a", "half", HALF),
    kernel("fma", "fma(a, b, c)", "abc", "half", dict.fromkeys("abc", "half")),
    *(kernel(name, expression, "ab", "int", TWO) for name, (expression, _) in COMPARISONS.items()),
    *(kernel(name, expression, "a", "half", HALF) for name, (expression, _) in {**UNARY, **SIGNS}.items()),
    *(kernel(name, f"{name}(a)", "a", "int", HALF) for name in TESTS),
    *(kernel(f"to_{name}", f"({name})a", "a", name, HALF) for name in (*INTEGERS, "float")),
    *(kernel(f"from_{name}", "(half)a", "a", "half", types={"a": name}) for name in (*INTEGERS, "float")),
    *(kernel(f"from_float_{mode}", f"convert_half_{mode}(a)", "a", "half", types={"a": "float"})
      for mode in ("rtz", "rtp", "rtn")),
]
PARTS = 3


@pytest.mark.parametrize("members", ["half a; int b;", "half a[2]; int b;", "struct { short c; half d; } a; int b;"])
def test_structs_with_halves_as_arguments(members):
    """Halves that a program does not compute with are missed in notes only."""
    image = compile_opencl(f"typedef struct {{ {members} }} S;\n"
                           "__kernel void k(S s, __global int *o) { o[0] = s.b; }")
    with Device(CONFIG, engine="functional") as device:
        out, value = device.buffer(1), np.zeros(image.kernel("k").parameters[0].size // 4, np.uint32)
        value[-1] = 77
        device.launch(image, "k", global_size=1, args=[value.tobytes(), out])
        assert out.read().tolist() == [77]


def test_many_operations_have_room():
    """Where the conversions of all results would take more than the code RAM, they are calls of one."""
    image = compile_opencl(ENABLED + "__kernel void k(__global const half *in, __global half *out) {"
                           "half x = in[get_global_id(0)], y = -0.75h;"
                           + "x = x * y + y; y = x * y + x;" * 40 + "out[get_global_id(0)] = y; }", config=CONFIG)
    x = np.linspace(-1, 1, 64, dtype=np.float16)
    got = launch(image, "k", np.uint16, x.view(np.uint16))
    y = np.full_like(x, -0.75)
    for _ in range(40):
        x = x * y + y
        y = x * y + x
    assert got.tolist() == canonical(y).tolist()


@pytest.fixture(scope="module")
def image():
    """The image of a kernel: all of them have no room in one."""
    images = [compile_opencl(ENABLED + "".join(KERNELS[part::PARTS]), filename="halves.cl", config=CONFIG)
              for part in range(PARTS)]
    return lambda name: next(image for image in images if name in image.kernels)


def check(image, name, expected, *inputs):
    got = launch(image(f"k_{name}"), f"k_{name}", expected.dtype, *inputs)
    wrong = np.flatnonzero(got != expected)
    if len(wrong):
        lines = [f"{', '.join(f'{array[i]:x}' for array in inputs)} -> {got[i]:x}, not {expected[i]:x}"
                 for i in wrong[:8]]
        pytest.fail(f"{name}: {len(wrong)} of {len(got)} are wrong\n" + "\n".join(lines))


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def pairs(seed, count=SAMPLE):
    some = np.random.default_rng(seed).integers(0, 1 << 16, (2, count), dtype=np.uint16)
    return np.concatenate([all_pairs(SPECIAL), some], axis=1)


@pytest.mark.parametrize("name", BINARY)
def test_binary(image, name):
    a, b = pairs(1)
    if name in ("fmax", "nextafter"):        # either zero is right; NumPy's next of one zero to the other is that
        a, b = (array[(a | b) << 1 != 0] for array in (a, b))
    check(image, name, canonical(BINARY[name][1](halves(a), halves(b))), a, b)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(image, name):
    a, b = pairs(2)
    b = np.where(np.arange(len(b)) % 3 == 2, a, b)
    check(image, name, COMPARISONS[name][1](halves(a), halves(b)).astype(np.int32), a, b)


def test_fma(image):
    rng = np.random.default_rng(3)
    some = rng.integers(0, 1 << 16, (3, SAMPLE)).astype(np.uint16)
    a, b, c = np.concatenate([rng.choice(SPECIAL, (3, SAMPLE)), some], axis=1)
    near = canonical(halves(a) * halves(b)) ^ rng.integers(0, 4, len(a)).astype(np.uint16)
    c = np.where(rng.random(len(a)) < 0.3, near ^ np.uint16(0x8000), c)
    check(image, "fma", canonical(fused(halves(a), halves(b), halves(c))), a, b, c)


@pytest.mark.parametrize("name", UNARY)
def test_unary(image, name):
    check(image, name, canonical(UNARY[name][1](halves(ALL))), ALL)


def test_fract(image):
    """Below one, zero of infinities, and NaN of NaN, the same one."""
    wide = halves(ALL).astype(np.float64)
    part = np.minimum(wide - np.floor(wide), 1 - 2.0 ** -11)
    part = np.where(np.isinf(wide) | (wide == 0), np.copysign(0, wide), part)
    check(image, "fract", np.where(np.isnan(wide), ALL, canonical(part)), ALL)


@pytest.mark.parametrize("name", SIGNS)
def test_signs(image, name):
    check(image, name, SIGNS[name][1](ALL), ALL)


@pytest.mark.parametrize("name", TESTS)
def test_classes(image, name):
    check(image, name, TESTS[name](halves(ALL)).astype(np.int32), ALL)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(image, name):
    check(image, f"to_{name}", saturated(halves(ALL).astype(np.float64), INTEGERS[name]), ALL)
    rng = np.random.default_rng(4)
    numbers = rng.integers(-70_000, 70_000, SAMPLE)
    numbers[::5] = rng.integers(-1 << 62, 1 << 62, len(numbers[::5]))
    numbers[:70] = np.arange(-35, 35) + 2048 * np.arange(70)
    values = numbers.astype(INTEGERS[name])
    check(image, f"from_{name}", canonical(values.astype(np.float64)), values)


def test_floats(image):
    """Half way between two halves, a little beside that, and all others."""
    wide = halves(ALL).astype(np.float32)
    check(image, "to_float", np.where(np.isnan(wide), 0x7FC00000, wide.view(np.uint32)), ALL)
    between = (halves(ALL[:0x7BFF]).astype(np.float32) + halves(ALL[1:0x7C00]).astype(np.float32)) / 2
    between = np.concatenate([between, [65519.996, 65520, 65536, 3e38, np.inf, np.nan, 1e-45, 2.0**-25]]) \
        .astype(np.float32)
    words = between.view(np.uint32)
    words = np.concatenate([words, words + np.uint32(1), words - np.uint32(1)])
    words = np.concatenate([words, words | np.uint32(1 << 31)])
    values = words.view(np.float32)
    check(image, "from_float", canonical(values), words)
    nearest = values.astype(np.float16)
    back = nearest.astype(np.float64)
    number = ~np.isnan(values)
    above = np.where(number & (back < values), np.nextafter(nearest, np.float16(np.inf)), nearest)
    below = np.where(number & (back > values), np.nextafter(nearest, np.float16(-np.inf)), nearest)
    for mode, expected in (("rtp", above), ("rtn", below), ("rtz", np.where(values < 0, above, below))):
        same = number & (expected == 0)         # zeros have the number's sign
        expected = np.where(same, np.copysign(np.float16(0), values.astype(np.float16)), expected)
        got = launch(image(f"k_from_float_{mode}"), f"k_from_float_{mode}", np.uint16, words)
        assert np.array_equal(got[number], canonical(expected)[number]), mode
