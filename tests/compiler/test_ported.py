"""What kernels that were written for other devices do, beyond what the corpus has."""

import numpy as np
import pytest

from compiler import compile_opencl
from fgpu.config import Config
from sim import Device


def run(source, arrays, scalars=(), size=64, kernel="k", options=("-w",), config=None, **launch):
    """The arrays after a run of the kernel, which takes them and then ``scalars``."""
    with Device(config or Config(), engine="functional") as device:
        buffers = [device.buffer(array) for array in arrays]
        image = compile_opencl(source, options=options, **({"config": config} if config else {}))
        device.launch(image, kernel, global_size=size, args=[*buffers, *scalars], **launch)
        return [buffer.read() for buffer in buffers]


@pytest.mark.parametrize("absent", [False, True])
def test_a_buffer_that_may_be_null(absent):
    source = "kernel void k(global int *o, global const int *in, int otherwise) {\n" \
        "int i = get_global_id(0); o[i] = in ? in[i] : otherwise; }"
    numbers = np.arange(64, dtype=np.int32)
    with Device(Config(), engine="functional") as device:
        out, content = device.buffer(numbers * 0), device.buffer(numbers)
        device.launch(compile_opencl(source), "k", global_size=64, args=[out, 0 if absent else content, 5])
        assert out.read().tolist() == ([5] * 64 if absent else numbers.tolist())


def test_pointers_of_the_wrong_type_are_converted():
    """A warning elsewhere, too."""
    source = "kernel void k(global char *bytes) { global uint *words = bytes; words[get_global_id(0)] += 0x10203; }"
    got, = run(source, [np.zeros(256, np.uint8)])
    assert got.tolist() == [3, 2, 1, 0] * 64


def test_fences_keep_accesses_in_order():
    source = "kernel void k(volatile global int *a) { int i = get_global_id(0) * 2; a[i] = i; " \
        "mem_fence(CLK_GLOBAL_MEM_FENCE); a[i + 1] = a[i] + 1; write_mem_fence(CLK_LOCAL_MEM_FENCE); a[i] += 5; " \
        "read_mem_fence(CLK_GLOBAL_MEM_FENCE); a[i + 1] += a[i]; }"
    got, = run(source, [np.zeros(128, np.int32)])
    assert got.tolist() == [n for i in range(0, 128, 2) for n in (i + 5, 2 * i + 6)]
