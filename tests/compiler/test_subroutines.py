"""Functions that are not inlined, and call others."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

TABLE = np.array([10, 11, 12, 13], np.uint32)


@pytest.mark.parametrize("arguments", range(1, 8))
def test_arguments_are_there_after_calls(arguments):
    """Of a function of so many whose first statement calls, and which then needs all of them."""
    names = [f"a{number}" for number in range(arguments)]
    total = " + ".join(f"{name} * {33 + number}" for number, name in enumerate(names))
    source = f"""__constant uint table[4] = {{10, 11, 12, 13}};
    __attribute__((noinline)) uint g(uint a, uint b) {{ return a + (b ^ table[a & 3]) * 5; }}
    __attribute__((noinline)) uint f({', '.join(f'uint {name}' for name in names)})
    {{ return {total} + g({names[-1]}, 972758708u); }}
    __kernel void k(__global uint *out)
    {{ uint i = get_global_id(0); out[i] = f({', '.join(f'i + {number}' for number in range(arguments))}); }}"""
    with Device(Config(), engine="functional") as device:
        out = device.buffer(np.zeros(64, np.uint32))
        device.launch(compile_opencl(source), "k", global_size=64, args=[out])
        found = out.read()
    i = np.arange(64, dtype=np.uint32)
    last = i + np.uint32(arguments - 1)
    expected = last + (np.uint32(972758708) ^ TABLE[last & 3]) * np.uint32(5)
    for number in range(arguments):
        expected += (i + np.uint32(number)) * np.uint32(33 + number)
    assert (found == expected).all()
