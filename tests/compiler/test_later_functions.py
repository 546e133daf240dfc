"""Functions of later versions of OpenCL C, which programs for 1.2 may use, or have themselves."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

CONFIG = Config(cram_size=16)
COUNT = 128
TYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
         "uint": np.uint32, "long": np.int64, "ulong": np.uint64}


def launch(source, *arrays):
    image = compile_opencl(source, config=CONFIG)
    with Device(CONFIG, engine="functional") as device:
        buffers = [device.buffer(array) for array in arrays]
        device.launch(image, "k", global_size=COUNT, args=buffers)
        return [buffer.read() for buffer in buffers]


@pytest.mark.parametrize("name", TYPES)
def test_ctz(name):
    kind = TYPES[name]
    bits = kind().itemsize * 8
    numbers = [0, *(odd << place for odd in (1, 3, 0x55) for place in range(bits - 8)), 1 << bits - 2]
    a = np.resize(np.array(numbers, np.uint64).astype(kind), COUNT)
    right = np.array([bits if number == 0 else (number & -number).bit_length() - 1 for number in a.tolist()], kind)
    _, scalars, pairs = launch(f"""kernel void k(global {name} *a, global {name} *b, global {name}2 *c)
        {{ int i = get_global_id(0); b[i] = ctz(a[i]); c[i] = ctz(({name}2)(a[i], a[{COUNT - 1} - i])); }}""",
                               a, np.zeros_like(a), np.zeros(2 * COUNT, kind))
    assert np.array_equal(scalars, right)
    assert np.array_equal(pairs.reshape(COUNT, 2), np.stack([right, right[::-1]], axis=1))


def test_a_program_may_have_a_ctz_of_its_own():
    [found] = launch("int ctz(int x) { return x + 1; }\n"
                     "kernel void k(global int *a) { a[get_global_id(0)] = ctz(4); }", np.zeros(COUNT, np.int32))
    assert (found == 5).all()
