"""Copies by whole work-groups between global and local memory: of all types, both directions, with strides."""

import numpy as np
import pytest

from fgpu import LocalMemory
from fgpu.compiler import compile_opencl
from fgpu.sim import Device

from ..configurations import ATOMIC, GROUPS

TYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
         "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "float": np.float32, "double": np.float64,
         "half": np.float16}
WIDTHS = ("", 2, 3, 4, 8, 16)
CONFIGS = {"local memory": GROUPS, "global memory": ATOMIC}
COUNT = 150
LOCAL = (4, 6, 5)
"""Two wavefronts, of which neither copies what it reads."""

SOURCE = """
__kernel void there(__global TYPE *in, __global TYPE *out, __local TYPE *t, int n)
{
    int group = get_group_id(0) + get_group_id(1) * get_num_groups(0);
    int item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
    for (volatile int late = item & ~63; late; late--)      /* the second wavefront */
        ;
    event_t e = async_work_group_copy(t, in + group * n, n, 0);
    wait_group_events(1, &e);
    for (int i = item; i < n; i += 120)
        out[group * n + i] = t[n - 1 - i];
}
__kernel void back(__global TYPE *in, __global TYPE *out, __local TYPE *t, int n)
{
    int group = get_group_id(0) + get_group_id(1) * get_num_groups(0);
    event_t e = async_work_group_strided_copy(t, in + group * n, n / 3, 3, 0);
    prefetch(in, n);
    e = async_work_group_strided_copy(t + n / 3, in + group * n + 1, n / 3, 3, e);
    wait_group_events(1, &e);
    event_t es[2];
    es[0] = async_work_group_copy(out + group * n, t, n / 3, 0);
    es[1] = async_work_group_strided_copy(out + group * n + n / 3, t + n / 3, n / 3, 2, 0);
    wait_group_events(2, es);
}
"""


def launched(type, width, config, kernel, engine="functional"):
    """The elements of a launch, before and after, by work-groups."""
    lanes = {"": 1, 3: 4}.get(width, width)
    rng, dtype = np.random.default_rng(1), np.dtype(TYPES[type])
    given = rng.integers(1, 100, (6 * COUNT, lanes)).astype(dtype)
    image = compile_opencl(SOURCE, filename="copies.cl", options=[f"-DTYPE={type}{width}"], config=config)
    with Device(config, engine=engine) as device:
        out = device.buffer(np.zeros_like(given).ravel())
        args = [device.buffer(given.ravel()), out, LocalMemory(COUNT * lanes * dtype.itemsize), COUNT]
        device.launch(image, kernel, global_size=(12, 12, 5), local_size=LOCAL, args=args)
        return given.reshape(6, COUNT, lanes), out.read().reshape(6, COUNT, lanes)


def demand(type, width, config, engine="functional"):
    known = 3 if width == 3 else None
    given, got = launched(type, width, config, "there", engine)
    assert np.array_equal(got[:, :, :known], given[:, ::-1, :known])
    given, got = launched(type, width, config, "back", engine)
    part = COUNT // 3
    expected = np.zeros_like(given)
    expected[:, :part] = given[:, ::3]
    expected[:, part:3 * part:2] = given[:, 1::3]
    assert np.array_equal(got[:, :, :known], expected[:, :, :known])


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("type", ["char", "int", "double"])
def test_types(type, config):
    demand(type, "", CONFIGS[config])


@pytest.mark.parametrize("width", [3, 16])
def test_vectors(width):
    demand("short", width, CONFIGS["local memory"])


@pytest.mark.ci
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("type", TYPES)
def test_all(type, width):
    demand(type, width, CONFIGS["local memory"])


@pytest.mark.ci
@pytest.mark.parametrize("config", CONFIGS)
def test_verilator(config):
    demand("float", 4, CONFIGS[config], "verilator")
