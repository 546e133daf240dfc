"""Floating point in programs: calls of routines among other code, and the hardware's instructions in their place."""

import re

import numpy as np
import pytest

from fgpu.compiler import compile_opencl, disassemble
from fgpu.config import FLOAT_OPS, Config
from fgpu.sim import Device

from .floating import all_pairs, canonical, floats, launch, random_pairs, special_words
from .interpreter import run as interpret


def with_float_ops(*operations):
    return Config(float_ops=frozenset(operations))


def run(source, kernel, arrays, count, **options):
    """Run ``kernel(arrays...)`` with ``count`` work-items; returns the arrays afterwards."""
    device = Device(Config(), engine="functional")
    buffers = [device.buffer(array) for array in arrays]
    device.launch(compile_opencl(source, **options), kernel, global_size=(count,), local_size=(64,), args=buffers)
    return [buffer.read() for buffer in buffers]


@pytest.fixture
def random():
    return np.random.default_rng(5)


def test_values_live_across_calls(random):
    """Horner's rule with eight coefficients in registers."""
    source = """__kernel void k(__global const float *c, __global const float *x, __global float *out)
    {
        float c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5], c6 = c[6], c7 = c[7];
        int i = get_global_id(0);
        float y = x[i], sum = 0;
        for (int n = 0; n != 3; n++) {
            y = ((((((c7 * y + c6) * y + c5) * y + c4) * y + c3) * y + c2) * y + c1) * y + c0;
            sum += y / c3;
        }
        out[i] = sum;
    }"""
    c, x = random.random(8, np.float32), random.random(128, np.float32)
    y, total = x, np.zeros_like(x)
    for _ in range(3):
        value = np.full_like(y, c[7])
        for coefficient in c[6::-1]:
            value = value * y + coefficient
        y = value
        total = total + y / c[3]
    out = run(source, "k", [c, x, np.zeros_like(x)], 128)[2]
    assert (canonical(out) == canonical(total)).all()


def test_calls_under_divergence(random):
    """Each work-item takes its own number of steps, and its own way in each."""
    source = """__kernel void k(__global const float *x, __global float *out)
    {
        int i = get_global_id(0);
        float y = x[i];
        for (int n = 0; n < (i & 7); n++) {
            if (y < 0.5f)
                y = y * 3.0f + 0.125f;
            else
                y = sqrt(y) - y / 7.0f;
        }
        out[i] = y;
    }"""
    x = random.random(256, np.float32)
    expected = x.copy()
    for i in range(256):
        y = expected[i]
        for _ in range(i & 7):
            y = y * np.float32(3) + np.float32(0.125) if y < 0.5 else np.sqrt(y) - y / np.float32(7)
        expected[i] = y
    assert (canonical(run(source, "k", [x, np.zeros_like(x)], 256)[1]) == canonical(expected)).all()


def test_vectors_private_arrays_and_tables(random):
    source = """__constant float table[4] = { 1.5f, -2.0f, 0.0f, 1e-3f };
    __kernel void k(__global const float4 *x, __global float4 *out)
    {
        int i = get_global_id(0);
        float4 v = x[i] * 2.5f + (float4)(1, 2, 3, 4);
        float last[4];
        for (int n = 0; n < 4; n++)
            last[n] = table[n] * (float)i;
        out[i] = sqrt(fabs(v)) + (float4)(last[i & 3], last[0], table[i & 3], convert_float(i));
    }"""
    x = random.standard_normal((64, 4)).astype(np.float32)
    table, i = np.array([1.5, -2, 0, 1e-3], np.float32), np.arange(64)
    v = np.sqrt(np.abs(x * np.float32(2.5) + np.arange(1, 5, dtype=np.float32)))
    number = i.astype(np.float32)
    added = np.stack([table[i & 3] * number, table[0] * number, table[i & 3], number], axis=1)
    out = run(source, "k", [x.ravel(), np.zeros(256, np.float32)], 64)[1]
    assert (canonical(out) == canonical(v + added).ravel()).all()


def test_vectors_convert(random):
    source = """__kernel void k(__global const int4 *x, __global float4 *out, __global int4 *bits)
    { int i = get_global_id(0); float4 v = convert_float4(x[i]); out[i] = v;
      bits[i] = convert_int4(v * 0.5f) ^ as_int4(v); }"""
    x = random.integers(-2**31, 2**31, 256).astype(np.int32)
    out, bits = run(source, "k", [x, np.zeros(256, np.float32), np.zeros(256, np.int32)], 64)[1:]
    expected = x.astype(np.float32)
    assert (canonical(out) == canonical(expected)).all()
    assert (bits == ((expected * np.float32(0.5)).astype(np.int32) ^ expected.view(np.int32))).all()


@pytest.mark.parametrize("to", ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"])
def test_constants_convert_to_the_nearest_integer_in_vectors_too(to):
    """LLVM folds a conversion of a vector that has such an element to anything, unless told not to."""
    ends = np.iinfo({"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q",
                     "ulong": "Q"}[to])
    source = f"""__kernel void k(__global {to} *out) {{
        vstore4(convert_{to}4((float4)(1e30f, -1e30f, 2.0f, INFINITY)), 0, out);
        vstore2(convert_{to}2_rtn((float2)(-INFINITY, 7.5f)), 2, out); }}"""
    out = run(source, "k", [np.zeros(64, ends.dtype)], 64)[0]
    assert out[:6].tolist() == [ends.max, ends.min, 2, ends.max, ends.min, 7]


def test_products_and_sums_are_not_contracted():
    """1 + 2^-12 squared needs 25 bits: rounded before the subtraction, nothing but 2^-11 is left of it."""
    source = "__kernel void k(__global float *x) { x[0] = x[1] * x[1] - x[2]; }"
    x = np.array([0, 1 + 2**-12, 1] + [0] * 61, np.float32)
    assert run(source, "k", [x], 64)[0][0] == np.float32(2**-11)


def test_a_float_parameter():
    device = Device(Config(), engine="functional")
    image = compile_opencl("__kernel void k(__global float *x, float y, int n) { x[get_global_id(0)] = y * n; }")
    x = device.buffer(np.zeros(64, np.float32))
    device.launch(image, "k", global_size=(64,), local_size=(64,), args=[x, 0.1, 3])
    assert (x.read() == np.float32(0.1) * np.float32(3)).all()


def test_each_routine_is_there_once():
    source = """__kernel void a(__global float *x) { x[0] = x[1] / x[2] + x[3]; }
    __kernel void b(__global float *x) { x[0] = x[1] / x[2] / x[4] + x[3]; }"""
    text = disassemble(compile_opencl(source))
    assert len(set(re.findall(r"jsub +(\w+)", text))) == 2
    # What they leave to another one comes back from there by itself, and needs no entry of the link stack.
    assert len(set(re.findall(r"beq +r0, r0, (\w+)", text)) & set(re.findall(r"^(\w+):", text, re.MULTILINE))) >= 2
    nested = """__attribute__((noinline)) float f(float x) { return x * x + x / 3; }
    __kernel void k(__global float *x) { x[0] = f(x[1]) - f(x[2]); }"""
    compile_opencl(nested, config=Config(link_stack_depth=8))


def test_integer_programs_have_no_routines():
    assert "jsub" not in disassemble(compile_opencl("__kernel void k(__global int *x) { x[0] = x[1] / x[2] * 3; }"))


def test_subnormal_operands_do_not_keep_work_items_apart(random):
    """A subroutine's divergence ends with it: the rest takes no longer if some operands are subnormal."""
    source = """__kernel void k(__global const float *a, __global uint *out, int steps)
    {
        int i = get_global_id(0);
        uint hash = as_uint(a[i] * 2.5f);
        for (int n = 0; n < steps; n++)
            hash = hash * 1664525 ^ hash >> 7;
        out[i] = hash;
    }"""
    image = compile_opencl(source)
    a = random.random(64, np.float32)
    counts = []
    for first in (a[0], np.float32(1e-42)):
        a[0] = first
        for steps in (0, 100):
            device = Device(Config(), engine="functional")
            buffers = [device.buffer(a), device.buffer(np.zeros(64, np.uint32))]
            counts.append(device.launch(image, "k", global_size=(64,), local_size=(64,),
                                        args=[*buffers, steps]).instructions)
    normal, normal_with_steps, subnormal, subnormal_with_steps = counts
    assert normal < subnormal
    assert normal_with_steps - normal == subnormal_with_steps - subnormal


ALL = """__kernel void k(__global const float *a, __global const uint *u, __global float *out)
{ int i = get_global_id(0); float x = a[i], y = a[i + 1]; float z = (float)(int)x - (float)(uint)y;
  out[i] = sqrt(x + y) * (x - y) / (float)u[i] + z; }
__kernel void less(__global const float *a, __global int *out)
{ int i = get_global_id(0); out[i] = a[i] < a[i + 1]; }"""


def mnemonics(image):
    return set(re.findall(r"^ +(\w+)", disassemble(image), re.MULTILINE))


def test_hard_instructions_are_taken_where_there_are_any():
    assert mnemonics(compile_opencl(ALL, config=with_float_ops(*FLOAT_OPS))) & FLOAT_OPS == FLOAT_OPS
    assert "jsub" not in mnemonics(compile_opencl(ALL, config=with_float_ops(*FLOAT_OPS)))
    assert not mnemonics(compile_opencl(ALL)) & FLOAT_OPS


@pytest.mark.parametrize("operation", sorted(FLOAT_OPS))
def test_each_hard_instruction_by_itself(operation):
    found = mnemonics(compile_opencl(ALL, config=with_float_ops(operation)))
    assert found & FLOAT_OPS == {operation}
    assert "jsub" in found


def test_subtraction_with_a_hard_adder_only():
    source = "__kernel void k(__global float *a) { a[0] = a[1] - a[2]; }"
    assert mnemonics(compile_opencl(source, config=with_float_ops("fadd"))) & {"fadd", "jsub"} == {"fadd"}


@pytest.mark.parametrize("expression", ["a < b", "a > b", "!(a < b)", "!(a > b)"])
def test_a_hard_comparison_is_one_instruction(expression):
    source = f"""__kernel void k(__global const float *x, __global int *out)
    {{ float a = x[0], b = x[1]; if ({expression}) out[0] = 1; }}"""
    text = disassemble(compile_opencl(source, config=with_float_ops("fslt")))
    assert text.count("fslt") == 1
    assert len(text.splitlines()) <= 12


CORNERS = np.array([0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3F800001, 0x7F7FFFFF, 0x7F800000, 0x7F800001,
                    0x7FC00000, 0x7FFFFFFF], np.uint32)
CORNERS = np.concatenate([CORNERS, CORNERS | np.uint32(0x80000000)])


@pytest.mark.parametrize("operations", [(), ("fslt",), tuple(FLOAT_OPS)])
def test_hard_and_soft_give_the_same(operations):
    """On an interpreter of our own that has all instructions: comparisons as branches, and arithmetic."""
    tests = ["a < b", "a <= b", "a > b", "a >= b", "a == b", "a != b", "!(a < b)", "!(a <= b)", "!(a > b)",
             "!(a >= b)", "islessgreater(a, b)", "!islessgreater(a, b)", "isunordered(a, b)", "isordered(a, b)",
             "a < 1", "a >= 0"]
    bits = "".join(f" if ({test}) bits |= 1 << {bit};" for bit, test in enumerate(tests))
    source = f"""__kernel void k(__global const float *pa, __global const float *pb, __global uint *out,
                                __global float *sums)
    {{ int i = get_global_id(0); float a = pa[i], b = pb[i]; uint bits = 0;{bits} out[i] = bits;
       sums[i] = sqrt(a * b) - (a + b) / (float)(bits + 1); }}"""
    image = compile_opencl(source, config=with_float_ops(*operations))
    a, b = all_pairs(CORNERS)
    x, y = floats(a), floats(b)
    comparisons = [x < y, x <= y, x > y, x >= y, x == y, x != y, ~(x < y), ~(x <= y), ~(x > y), ~(x >= y),
                   (x < y) | (x > y), ~((x < y) | (x > y)), np.isnan(x) | np.isnan(y), ~(np.isnan(x) | np.isnan(y)),
                   x < 1, x >= 0]
    expected = sum(np.where(truth, 1 << bit, 0) for bit, truth in enumerate(comparisons)).astype(np.uint32)
    out, sums = np.zeros_like(a), np.zeros_like(a)
    with np.errstate(all="ignore"):
        interpret(image, "k", len(a), [a, b, out, sums])
        total = np.sqrt(x * y) - (x + y) / (expected + 1).astype(np.float32)
    assert (out == expected).all()
    assert (sums == canonical(total)).all()


def test_random_sums_of_products(random):
    """Whole expressions over all kinds of numbers."""
    source = """__kernel void k(__global const float *pa, __global const float *pb, __global float *out)
    { int i = get_global_id(0); float a = pa[i], b = pb[i];
      out[i] = (a * b + a) / (b - a * 3.0f) - fabs(a) * (a < b ? a : -b); }"""
    a, b = random_pairs(random, 20_000)
    x, y = a.view(np.float32), b.view(np.float32)
    with np.errstate(all="ignore"):
        expected = (x * y + x) / (y - x * np.float32(3)) - np.abs(x) * np.where(x < y, x, -y)
    assert (launch(compile_opencl(source), "k", a, b) == canonical(expected)).all()


CONSTANTS = {"0.0f": 0.0, "-1.5f": -1.5, "0x1p-126f": 2.0**-126, "-0x1p-126f": -(2.0**-126), "INFINITY": np.inf,
             "-INFINITY": -np.inf, "0x1.fffffep127f": float(np.finfo(np.float32).max)}


@pytest.mark.parametrize("config", [Config(), with_float_ops("fslt"),
                                    Config(float_ops=frozenset({"fslt"}), float_subnormals=False)])
@pytest.mark.parametrize("name", CONSTANTS)
def test_comparisons_with_constants(name, config):
    """One of them and the neighbour of the constant do; without subnormals that is not the next number."""
    constant, words = np.float32(CONSTANTS[name]), np.concatenate([CORNERS, special_words()])
    source = f"""__kernel void k(__global const float *p, __global uint *out)
    {{ int i = get_global_id(0); float a = p[i], c = {name};
       out[i] = (a < c) | (a <= c) << 1 | (a > c) << 2 | (a >= c) << 3 | (a == c) << 4 | (a != c) << 5
              | !(a <= c) << 6 | !(a >= c) << 7; }}"""
    out = launch(compile_opencl(source, config=config), "k", words, config=config)
    x = floats(words)
    if config.float_ops and not config.float_subnormals:
        x = np.where(np.abs(x) < np.float32(2.0**-126), np.float32(0), x)
    truths = [x < constant, x <= constant, x > constant, x >= constant, x == constant, x != constant,
              ~(x <= constant), ~(x >= constant)]
    assert (out == sum(truth.astype(np.uint32) << bit for bit, truth in enumerate(truths))).all()


def test_comparisons_of_vectors():
    source = """__kernel void k(__global const float *pa, __global const float *pb, __global uint *out)
    { int i = get_global_id(0); float2 a = (float2)(pa[i], pb[i]);
      int2 less = a < a.yx, at_most = a <= a.yx, same = a == a.yx;
      out[i] = (less.x & 1) | (less.y & 2) | (at_most.x & 4) | (at_most.y & 8) | (same.x & 16); }"""
    a, b = all_pairs(CORNERS)
    x, y = floats(a), floats(b)
    expected = sum(truth.astype(np.uint32) << bit for bit, truth in enumerate([x < y, y < x, x <= y, y <= x, x == y]))
    assert (launch(compile_opencl(source), "k", a, b) == expected).all()


@pytest.mark.parametrize("config", [Config(), with_float_ops("fslt")])
def test_comparisons_of_numbers_only(config):
    """Where the program promises that there are no NaN they take less, and come out the same."""
    source = """__kernel void k(__global const float *pa, __global const float *pb, __global uint *out)
    { int i = get_global_id(0); float a = pa[i], b = pb[i];
      out[i] = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 | !(a < b) << 6
             | !(a <= b) << 7; }"""
    words = special_words()
    a, b = all_pairs(words[words << np.uint32(1) <= np.uint32(0xFF000000)])
    images = [compile_opencl(source, config=config, options=options) for options in ([], ["-cl-finite-math-only"])]
    x, y = floats(a), floats(b)
    truths = [x < y, x <= y, x > y, x >= y, x == y, x != y, x >= y, x > y]
    for image in images:
        got = launch(image, "k", a, b, config=config)
        assert (got == sum(truth.astype(np.uint32) << bit for bit, truth in enumerate(truths))).all()
    assert len(images[1].words) < len(images[0].words)


def test_comparisons_in_loops():
    """With a number that stays the same another routine takes less."""
    source = """__kernel void k(__global const float *pa, __global const float *pb, __global uint *out)
    { int i = get_global_id(0); float a = pa[i]; uint bits = 0;
      for (uint n = 0; n != get_local_size(0) / 128; n++) {
          float b = pb[i ^ n];
          bits = bits << 8 | (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | !(a < b) << 4 | !(a <= b) << 5
                 | !(a > b) << 6 | !(a >= b) << 7;
      }
      out[i] = bits; }"""
    special = all_pairs(special_words())
    words_a, words_b = special[:, :special.shape[1] // 512 * 512]
    expected, a = np.uint32(0), floats(words_a)
    for step in range(4):
        b = floats(words_b)[np.arange(len(a)) ^ step]
        truths = [a < b, a <= b, a > b, a >= b, ~(a < b), ~(a <= b), ~(a > b), ~(a >= b)]
        expected = expected << np.uint32(8) | sum(truth.astype(np.uint32) << bit for bit, truth in enumerate(truths))
    assert (launch(compile_opencl(source), "k", words_a, words_b) == expected).all()


@pytest.mark.parametrize(("comparison", "instructions"), [
    ("a < b", 1), ("a > b", 1), ("a <= 1.5f", 1), ("a >= 0", 1), ("islessgreater(a, b)", 2), ("a <= b", 1),
    ("a == 1.5f", 0), ("a == b", 0), ("isunordered(a, b)", 0)])
def test_how_often_hardware_compares(comparison, instructions):
    source = f"__kernel void k(__global const float *x, __global int *out) {{ float a = x[0], b = x[1];" \
             f" out[0] = {comparison}; }}"
    assert disassemble(compile_opencl(source, config=with_float_ops("fslt"))).count("fslt") == instructions
