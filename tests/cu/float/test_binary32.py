"""Binary32 against NumPy, and all words against the C compiler."""

import os
from functools import lru_cache

import numpy as np
import pytest

from fgpu.cu.float.format import Format
from fgpu.cu.float.operations import LATENCY, FloatOp

from ...compiler.floating import all_pairs, canonical, floats, random_pairs, special_words
from .model import LaneModel

SAMPLE = 300_000
LONG_SAMPLE = 10_000_000
CHUNK = 1 << 20
SPECIAL = special_words()
SIGN = np.uint32(1 << 31)
LEAST_NORMAL = 2.0**-126


def integer(words, least, greatest):
    exact = np.nan_to_num(np.trunc(floats(words).astype(np.float64)), nan=0.0, posinf=1e30, neginf=-1e30)
    return np.clip(exact, least, greatest).astype(np.int64).astype(np.uint32)


EXPECTED = {
    FloatOp.FADD: lambda a, b: canonical(floats(a) + floats(b)),
    FloatOp.FSUB: lambda a, b: canonical(floats(a) - floats(b)),
    FloatOp.FMUL: lambda a, b: canonical(floats(a) * floats(b)),
    FloatOp.FDIV: lambda a, b: canonical(floats(a) / floats(b)),
    FloatOp.FSLT: lambda a, b: (floats(a) < floats(b)).astype(np.uint32),
    FloatOp.FSQRT: lambda a, b: canonical(np.sqrt(floats(a))),
    FloatOp.UITOFP: lambda a, b: canonical(a.astype(np.float32)),
    FloatOp.ITOFP: lambda a, b: canonical(a.view(np.int32).astype(np.float32)),
    FloatOp.FPTOSI: lambda a, b: integer(a, -1 << 31, (1 << 31) - 1),
    FloatOp.FPTOUI: lambda a, b: integer(a, 0, (1 << 32) - 1),
}
BINARY = [FloatOp.FADD, FloatOp.FSUB, FloatOp.FMUL, FloatOp.FDIV, FloatOp.FSLT]
UNARY = [op for op in FloatOp if op not in BINARY]
EXACT = {FloatOp.FADD: np.add, FloatOp.FSUB: np.subtract, FloatOp.FMUL: np.multiply, FloatOp.FDIV: np.divide}


@lru_cache
def lane(subnormals=True, ops=frozenset(FloatOp)):
    return LaneModel(ops, Format(subnormals=subnormals))


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def integers(rng, count):
    """Of all lengths; sums of two powers of two and their neighbours are half way between floats, or nearly."""
    words = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    words >>= rng.integers(0, 32, count, dtype=np.uint32)
    bits = np.uint32(1) << rng.integers(0, 32, (2, count), dtype=np.uint32)
    words = np.where(rng.random(count) < 0.5, words, bits[0] + bits[1] + rng.integers(-1, 2, count).astype(np.uint32))
    return np.where(rng.random(count) < 0.5, words, -words)


def operands(op, seed, count=SAMPLE):
    rng = np.random.default_rng([op.value, seed])
    if op in (FloatOp.UITOFP, FloatOp.ITOFP):
        words = np.concatenate([integers(rng, count), SPECIAL])
        return words, words
    a, b = np.concatenate([all_pairs(SPECIAL), random_pairs(rng, count)], axis=1)
    if op is FloatOp.FSLT:
        b = np.where(rng.random(len(b)) < 0.3, a ^ rng.choice(np.array([0, 1, SIGN], np.uint32), len(b)), b)
    return a, b


def check(got, expected, *inputs):
    wrong = np.flatnonzero(got != expected)
    assert not len(wrong), f"{len(wrong)} of {len(got)} are wrong\n" + "\n".join(
        f"{', '.join(f'{array[i]:08x}' for array in inputs)} -> {got[i]:08x}, not {expected[i]:08x}"
        for i in wrong[:8])


@pytest.mark.parametrize("op", FloatOp, ids=lambda op: op.name)
def test_against_numpy(op):
    a, b = operands(op, 1)
    check(lane().run(op, a, b), EXPECTED[op](a, b), a, b)


def flushed(words):
    return np.where((words & np.uint32(0x7F800000)) == 0, words & SIGN, words)


@pytest.mark.ci
@pytest.mark.parametrize("op", FloatOp, ids=lambda op: op.name)
def test_without_subnormals(op):
    """Subnormals are zeros of their sign. Binary64 tells exactly whether a result rounds up to the normal numbers."""
    a, b = operands(op, 2, SAMPLE // 4)
    got = lane(subnormals=False).run(op, a, b)
    if op not in (FloatOp.UITOFP, FloatOp.ITOFP):
        a, b = flushed(a), flushed(b)
    expected = EXPECTED[op](a, b)
    if op in EXACT:
        exact = EXACT[op](floats(a).astype(np.float64), floats(b).astype(np.float64))
        is_small = np.abs(exact) < LEAST_NORMAL * (1 - 2.0**-25)
        expected = np.where(is_small, np.signbit(exact).astype(np.uint32) << np.uint32(31), expected)
    check(got, expected, a, b)


@pytest.mark.parametrize("seed", range(3))
def test_operations_do_not_meet(seed):
    """A new operation in nearly each cycle, so that results of different latencies leave side by side."""
    rng = np.random.default_rng(seed)
    cycles = 100_000
    a, b = random_pairs(rng, cycles)
    operation = rng.choice([op.value for op in FloatOp], cycles)
    latency = np.array([LATENCY.get(code, 0) for code in map(_operation, range(16))])
    source = np.full(cycles, -1)
    for cycle, code in enumerate(operation):
        leaves = cycle + latency[code]
        if leaves < cycles and source[leaves] < 0:
            source[leaves] = cycle
    leaves = np.flatnonzero(source >= 0)
    select = rng.integers(0, 16, cycles)
    select[leaves] = operation[source[leaves]]
    got = lane().cycles(operation, a, b, select)[leaves]
    a, b, operation = a[source[leaves]], b[source[leaves]], operation[source[leaves]]
    expected = np.zeros(len(leaves), np.uint32)
    for op in FloatOp:
        expected = np.where(operation == op.value, EXPECTED[op](a, b), expected)
    assert len(leaves) > cycles / 2
    check(got, expected, operation, a, b)


def _operation(code):
    return FloatOp(code) if code in [op.value for op in FloatOp] else None


@pytest.mark.long
@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
def test_many_pairs(op):
    model = lane(ops=frozenset([op]))
    for seed in range(LONG_SAMPLE // CHUNK + 1):
        a, b = operands(op, seed, CHUNK)
        check(model.run(op, a, b), EXPECTED[op](a, b), a, b)


@pytest.mark.long
@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.name)
def test_all_words(op):
    """FGPU_FLOAT_WORDS: how many of the 2**32 words."""
    model = lane(ops=frozenset([op]))
    first = model.sweep(op, int(os.environ.get("FGPU_FLOAT_WORDS", 1 << 32)))
    assert first == 1 << 32, f"the result for {first:08x} is wrong"
