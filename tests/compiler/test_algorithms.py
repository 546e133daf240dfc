"""Whole algorithms with divergent control flow, on the interpreter and on the functional engine."""

import math
import zlib

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

from .interpreter import run

ITEMS = 64


def collatz(x):
    steps = 0
    while x != 1:
        x = 3 * x + 1 if x & 1 else x // 2
        steps += 1
    return steps


def bounded_search(a, i):
    for j in range(i, len(a)):
        if a[j] % 5 == 0:
            return j
        if a[j] > 900:
            return -int(a[j])
    return 1234


def classified(x):
    result = 0
    if x % 6 in (0, 1):
        result = 10 if x % 6 else 30
    elif x % 6 == 4:
        return -1
    return result + (7 if x & 8 else x)


ALGORITHMS = {
    "collatz": ("uint x = a[i], n = 0; while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; n++; } out[i] = n;",
                lambda a, i: collatz(int(a[i]))),
    "gcd": ("uint x = a[i], y = a[i ^ 1]; while (y) { uint t = x % y; x = y; y = t; } out[i] = x;",
            lambda a, i: math.gcd(int(a[i]), int(a[i ^ 1]))),
    "isqrt": ("uint x = a[i] * 4000000u, r = 0, b = 1u << 30; while (b > x) b >>= 2;"
              "while (b) { if (x >= r + b) { x -= r + b; r = (r >> 1) + b; } else r >>= 1; b >>= 2; } out[i] = r;",
              lambda a, i: math.isqrt(int(a[i]) * 4000000 % 2**32)),
    "crc": ("uint c = ~0u; for (int n = 0; n < 4; n++) { c ^= a[i] >> 8 * n & 255;"
            "for (int j = 0; j < 8; j++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1; } out[i] = ~c;",
            lambda a, i: zlib.crc32(int(a[i]).to_bytes(4, "little"))),
    "median": ("uint t[5]; for (int j = 0; j < 5; j++) t[j] = a[(i + j) & 63];"
               "for (int j = 0; j < 4; j++) for (int k = 0; k < 4 - j; k++)"
               "if (t[k] > t[k + 1]) { uint x = t[k]; t[k] = t[k + 1]; t[k + 1] = x; } out[i] = t[2];",
               lambda a, i: sorted(int(a[(i + j) & 63]) for j in range(5))[2]),
    "search": ("out[i] = 1234; for (int j = i; j < 64; j++) { if (a[j] % 5 == 0) { out[i] = j; break; }"
               "if (a[j] > 900) { out[i] = -a[j]; break; } }",
               bounded_search),
    "switch": ("int r = 0; switch (a[i] % 6) { case 0: r += 20; case 1: r += 10; break; case 4: out[i] = -1; return;"
               "default: break; } out[i] = r + (a[i] & 8 ? 7 : a[i]);",
               lambda a, i: classified(int(a[i]))),
    "histogram": ("uchar t[4] = {0, 0, 0, 0}; for (int j = 0; j < 40; j++) t[a[(i + j) & 63] & 3] += 9;"
                  "out[i] = t[0] | t[1] << 8 | t[2] << 16 | t[3] << 24;",
                  lambda a, i: sum((sum(9 for j in range(40) if a[(i + j) & 63] & 3 == k) & 255) << 8 * k
                                   for k in range(4))),
    "parity": ("uint n = 0; for (uint m = a[i]; m; m &= m - 1) n ^= table[m & 3]; out[i] = n;",
               lambda a, i: parity(int(a[i]))),
}


def parity(m):
    n = 0
    while m:
        n ^= (3, 9, 27, 81)[m & 3]
        m &= m - 1
    return n


@pytest.fixture(scope="module")
def image():
    kernels = "".join(f"__kernel void k_{name}(__global uint *a, __global uint *out)"
                      f"{{ int i = get_global_id(0); {body} }}\n" for name, (body, _) in ALGORITHMS.items())
    return compile_opencl("__constant uint table[4] = {3, 9, 27, 81};\n" + kernels)


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_algorithm(image, name):
    a = np.random.default_rng(5).integers(1, 1000, ITEMS).astype(np.uint32)
    expected = [ALGORITHMS[name][1](a, i) & 0xFFFF_FFFF for i in range(ITEMS)]
    out = np.zeros(ITEMS, np.uint32)
    run(image, f"k_{name}", ITEMS, [a.copy(), out])
    assert out.tolist() == expected
    device = Device(Config(), engine="functional")
    buffers = [device.buffer(a), device.buffer(np.zeros(ITEMS, np.uint32))]
    device.launch(image, f"k_{name}", global_size=(ITEMS,), local_size=(ITEMS,), args=buffers)
    assert buffers[1].read().tolist() == expected
