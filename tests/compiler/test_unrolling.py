"""Unrolled loops: right for every number of rounds, short in each, and never at the price of registers or of room."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

from .interpreter import run

ROUNDS = [0, 1, 2, 3, 4, 5, 8, 11]
ITEMS = 16
HEAD = "__kernel void k(__global const {type} *a, __global const {type} *b, __global {type} *out, int n, int step)"
BODIES = {
    "same index": "for (int j = 0; j < n; j++) sum += a[i + j] * b[j];",
    "product": "for (int j = 0; j < n; j++) sum += a[j] * b[j * step + i];",
    "product twice": "for (int j = 0; j < n; j++) sum += a[j * step] * b[j * step + i];",
    "backwards": "for (int j = n - 1; j >= 0; j--) sum = sum * 3 + a[j * step + i];",
    "bound of each work-item": "for (int j = 0; j < i % (n + 1); j++) sum += a[j] * b[j * step];",
    "masked bound": "for (int j = 0; j < (n & 31); j++) sum += a[j] * b[j * step];",
    "counter of its own": "for (int j = 0, l = 0; j < n; j++, l++) sum += a[l] - b[j] * l;",
    "two loops": "for (int j = 0; j < n; j++) for (int l = 0; l < n; l++) sum += a[j * n + l] * b[l * n + j];",
    "one after the other": "if (n) { int j = 0; do sum += a[j] * b[j + i]; while (++j != n); "
                           "j = 0; do sum = sum * 3 + a[j + i]; while (++j != n); }",
    "stores": "for (int j = 0; j < n; j++) out[16 + j * 16 + i] = sum += a[j];",
}


def expected(name, a, b, out, n, step):
    for i in range(ITEMS):
        total, j = 0, np.arange(n)
        match name:
            case "same index":
                total = (a[i + j] * b[j]).sum()
            case "product":
                total = (a[j] * b[j * step + i]).sum()
            case "product twice":
                total = (a[j * step] * b[j * step + i]).sum()
            case "backwards":
                for index in j[::-1]:
                    total = (total * 3 + a[index * step + i]) & 0xFFFF_FFFF
            case "bound of each work-item":
                total = (a[j] * b[j * step])[:i % (n + 1)].sum()
            case "masked bound":
                total = (a[j] * b[j * step]).sum()
            case "counter of its own":
                total = (a[j] - b[j] * j).sum()
            case "two loops":
                total = (a[:n * n].reshape(n, n) * b[:n * n].reshape(n, n).T).sum()
            case "one after the other":
                total = (a[j] * b[j + i]).sum()
                for index in j:
                    total = (total * 3 + a[index + i]) & 0xFFFF_FFFF
            case "stores":
                out[16 + j * 16 + i] = a[j].cumsum()
                total = a[j].sum()
        out[i] = total
    return out


@pytest.mark.parametrize("type", ["int", "short", "uchar"])
@pytest.mark.parametrize("name", BODIES)
def test_all_numbers_of_rounds(name, type):
    image = compile_opencl(f"{HEAD.format(type=type)} {{ int i = get_global_id(0); int sum = 0; {BODIES[name]} "
                           "out[i] = sum; }")
    element = {"int": np.int32, "short": np.int16, "uchar": np.uint8}[type]
    random = np.random.default_rng(7)
    a, b = (random.integers(0, 200, 256).astype(element) for _ in range(2))
    for n in ROUNDS:
        for step in (1, 7):
            out = np.zeros(256, element)
            run(image, "k", ITEMS, [a, b, out, n, step], local=(ITEMS,))
            wide = expected(name, a.astype(np.int64), b.astype(np.int64), np.zeros(256, np.int64), n, step)
            assert (out == wide.astype(element)).all(), (n, step)


def instructions_of_a_round(body):
    image = compile_opencl(f"{HEAD.format(type='int')} {{ int i = get_global_id(0); int sum = 0; {body} "
                           "out[i] = sum; }")
    data = np.arange(4096, dtype=np.int32)
    counts = [run(image, "k", ITEMS, [data, data, np.zeros(64, np.int32), n, 8], local=(ITEMS,)) for n in (40, 80)]
    return (counts[1] - counts[0]) / 40


def test_a_round_is_its_loads_and_its_work():
    # A counter and a branch for four rounds, and one product where addresses are products.
    assert instructions_of_a_round(BODIES["same index"]) == 3.5
    assert instructions_of_a_round(BODIES["product"]) == 3.75
    assert instructions_of_a_round(BODIES["counter of its own"]) == 5.5


def test_programs_that_fit_are_not_refused_for_unrolling():
    body = "for (int j = 0; j < n; j++) { sum += a[sum & 63]; out[j] = b[sum & 63]; }"
    source = HEAD.format(type="int") + "{ int i = get_global_id(0), sum = i;" + body * 16 + "}"
    unrolled = compile_opencl(source)
    assert len(unrolled.words) > 512
    small = compile_opencl(source, config=Config(cram_size=2))
    assert len(small.words) <= 512


def test_unrolling_takes_no_registers_that_are_missing():
    names = [f"v{n}" for n in range(20)]
    body = (f"int {', '.join(f'{name} = a[i + {n}]' for n, name in enumerate(names))};"
            "for (int j = 0; j < n; j++) {" + "".join(f"{name} += b[j] * {name};" for name in names[:3])
            + "sum += a[j * step];}" + "".join(f"sum ^= {name} * {n + 3};" for n, name in enumerate(names)))
    image = compile_opencl(f"{HEAD.format(type='int')} {{ int i = get_global_id(0); int sum = 0; {body} "
                           "out[i] = sum; }")
    assert image.kernels["k"].scratchpad_words == 0


@pytest.mark.parametrize("name", ["same index", "bound of each work-item", "masked bound"])
def test_few_rounds_cost_little(name):
    def instructions(pragma, n):
        image = compile_opencl(f"{HEAD.format(type='int')} {{ int i = get_global_id(0); int sum = 0;\n{pragma}\n"
                               f"{BODIES[name]} out[i] = sum; }}")
        with Device(Config(), engine="functional") as device:
            buffers = [device.buffer(np.ones(4096, np.int32)) for _ in range(3)]
            return device.launch(image, "k", global_size=64, local_size=64, args=[*buffers, n, 8]).instructions

    for n in range(1, 8):
        assert instructions("", n) <= instructions("#pragma unroll 1", n) + 9
    # Work-items with different numbers of rounds meet behind the unrolled loop.
    assert instructions("", 63) < 0.9 * instructions("#pragma unroll 1", 63)
