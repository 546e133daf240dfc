"""Vectors of bytes and halves that begin anywhere, loaded by words: at each alignment, to the end of a buffer."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.sim import Device

ITEMS = 61
"""The last of which begins at a word, and ends with the buffer."""
DTYPES = {"char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16"}


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("lanes", [8, 16])
def test_vectors_that_begin_anywhere(type, lanes):
    image = compile_opencl(f"""
        __kernel void k(__global const {type} *a, __global {type}{lanes} *b, __global int *c) {{
            int i = get_global_id(0), sum = 0;
            {type}{lanes} v = vload{lanes}(0, a + i);
            b[i] = v;
            for (int j = 0; j < 2; j++)         // in a loop, from another place each time
                sum = 31 * sum + eight(a + i + 3 * j);
            c[i] = sum; }}""".replace("__kernel", f"""
        int eight(__global const {type} *a) {{
            {type}8 v = vload8(0, a);
            return v.s0 + v.s1 * 2 - v.s2 * 3 + v.s3 * 5 - v.s4 * 7 + v.s5 * 11 - v.s6 * 13 + v.s7 * 17; }}
        __kernel""", 1))
    end = ITEMS + max(lanes, 11) - 1       # the last work-item's last element is the buffer's
    data = np.random.default_rng(5).integers(0, 1 << 16, end).astype(DTYPES[type])
    factors = np.array([1, 2, -3, 5, -7, 11, -13, 17])
    with Device(engine="functional") as device:
        a = device.buffer(data)
        b, c = device.buffer(np.zeros(ITEMS * lanes, DTYPES[type])), device.buffer(np.zeros(ITEMS, "int32"))
        image["k"](a, b, c, global_size=ITEMS)
        vectors, sums = b[:].reshape(ITEMS, lanes), c[:]
    for i in range(ITEMS):
        first, second = (int((data[i + j:i + j + 8] * factors).sum()) for j in (0, 3))
        np.testing.assert_array_equal(vectors[i], data[i:i + lanes])
        assert sums[i] == 31 * first + second
