"""The corpus on the functional engine against Python."""

import math
from functools import cache

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

from .corpus import TYPES, conversion_cases, float_cases, lane_cases, limits, split, wrap
from .corpus_rows import language_cases, memory_cases, overflow_cases, vector_cases

CASES = {case.name: case for case in (*lane_cases(), *conversion_cases(), *float_cases(), *vector_cases(),
                                      *memory_cases(), *overflow_cases(), *language_cases())}
GROUPS = list(dict.fromkeys(case.group for case in CASES.values()))
QUICK = ("int 0", "long 0", "ulong 1", "char 2", "vectors", "memory", "overflow", "language")
ROWS = 64
DTYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
          "ulong": "u8", "float": "f4"}
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127.5, 128.0, -129.0, 255.5, 65535.5, 2147483648.0,
          -2147483648.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19, 3e38, -3e38, 1e-45, 65504.0, 65520.0, 6e-8, 1e-5,
          math.inf, -math.inf, math.nan]


def test_size():
    assert len(CASES) >= 400


def values(type, at, case):
    """Lanes for each row: edges of the type and random numbers of all lengths."""
    scalar, lanes = split(type)
    random = np.random.default_rng(at * 7 + lanes)
    count = ROWS * lanes
    if scalar == "float":
        plain = random.uniform(-100, 100, count)
        numbers = [*(FLOATS if not case.small else FLOATS[:9]), *plain]
        numbers = [numbers[n] for n in random.permutation(min(len(numbers), count + 9))][:count]
        numbers = np.resize(np.array(numbers, np.float32), count)
        if case.nonzero and at:
            numbers[numbers == 0] = 3
        return numbers.reshape(ROWS, lanes)
    low, high = limits(scalar)
    edges = [0, 1, -1, 2, 3, 7, 31, 32, 63, 64, low, high, high // 2, high // 2 + 1, low + 1, 100]
    any_number = random.integers(low, high, count, endpoint=True, dtype=DTYPES[scalar])
    shorter = [int(n) >> int(random.integers(0, TYPES[scalar][0])) for n in any_number]
    numbers = [wrap(edges[choice] if choice < len(edges) else number, scalar)
               for choice, number in zip(random.integers(0, 2 * len(edges), count), shorter, strict=True)]
    if case.nonzero and at:
        numbers = [n or 1 for n in numbers]
    return np.array(numbers, DTYPES[scalar]).reshape(ROWS, lanes)


def stored(lanes):
    """Lanes that a vector takes in memory."""
    return 4 if lanes == 3 else lanes


def kernel(number, case):
    named = list(zip("abc", case.arguments, strict=False))
    parameters = ", ".join(f"__global const {type} *p{name}" for name, type in named)
    loads = " ".join(f"{type} {name} = p{name}[i];" for name, type in named)
    return f"__kernel void k{number}({parameters}, __global {case.result} *out)\n" \
           f"{{\n    int i = get_global_id(0); {loads} {case.result} r;\n    {case.code}\n    out[i] = r;\n}}\n"


def cases_of(group):
    return [case for case in CASES.values() if case.group == group]


def source(group):
    """All kernels of a group in one program."""
    cases = cases_of(group)
    preludes = "".join(dict.fromkeys(case.prelude for case in cases))
    return preludes + "".join(kernel(n, case) for n, case in enumerate(cases))


@cache
def image(group):
    return compile_opencl(source(group), filename=f"{group}.cl", options=["-w"]), cases_of(group)


def expected(case, columns):
    scalar, lanes = split(case.result)
    rows = []
    for row in zip(*(column.tolist() for column in columns), strict=True):
        if case.rows:
            result = case.meaning(*(lane if len(lane) > 1 else lane[0] for lane in row))
            result = result if isinstance(result, list) else [result]
        else:
            result = [case.meaning(*lane) for lane in zip(*row, strict=True)]
        rows.append(result if scalar == "float" else [wrap(int(lane), scalar) for lane in result])
    return np.array(rows, DTYPES[scalar]).reshape(ROWS, lanes)


@pytest.mark.parametrize("group", [pytest.param(group, marks=[] if group in QUICK else pytest.mark.long)
                                   for group in GROUPS])
def test_group(group):
    program, cases = image(group)
    wrong = []
    with Device(Config(), engine="functional") as device:
        for number, case in enumerate(cases):
            columns = [values(type, at, case) for at, type in enumerate(case.arguments)]
            buffers = []
            for column in columns:
                padded = np.zeros((ROWS, stored(column.shape[1])), column.dtype)
                padded[:, :column.shape[1]] = column
                buffers.append(device.buffer(padded))
            scalar, lanes = split(case.result)
            out = device.buffer(np.zeros((ROWS, stored(lanes)), DTYPES[scalar]))
            device.launch(program, f"k{number}", global_size=ROWS, local_size=ROWS, args=[*buffers, out])
            got, wanted = out.read()[:, :lanes], expected(case, columns)
            same = (got == wanted) | ((got != got) & (wanted != wanted))
            if not same.all():
                row = int(np.argmax(~same.all(axis=1)))
                wrong.append(f"{case.name}: {[c[row].tolist() for c in columns]} -> {got[row].tolist()}, "
                             f"not {wanted[row].tolist()}")
    assert not wrong, "\n".join(wrong)
