"""Launches that are prepared once and run with other values."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.errors import LaunchError
from fgpu.sim import Device
from fgpu.sim.local_memory import LocalMemory
from fgpu.sim.prepared import PreparedLaunch

CONFIG = Config(local_memory=8)
NAMES = ", ".join(f"int a{index}" for index in range(20))


@pytest.fixture
def device():
    with Device(CONFIG, engine="functional") as device:
        yield device


def prepared(source, name="k", **options):
    image = compile_opencl(source, config=CONFIG)
    return PreparedLaunch.of(image, image.kernel(name), CONFIG, **options)


def test_values_change_from_run_to_run(device):
    launch = prepared("kernel void k(global int *p, int n) { p[get_global_id(0)] = n; }", global_size=1021)
    assert len(launch.parts) > 1
    out = device.buffer(1021)
    for n in 3, 4:
        assert device.run_prepared(launch, [out.address, n]).parts == len(launch.parts)
        assert out.read().tolist() == [n] * 1021


def test_words_beyond_sixteen_are_in_memory(device):
    launch = prepared(f"kernel void k(global int *p, {NAMES}) {{ *p = a0 + 2 * a14 + 3 * a19; }}", global_size=1)
    out = device.buffer(1)
    device.run_prepared(launch, [out.address, 1, *[0] * 13, 10, *[0] * 4, 100])
    assert out.read().tolist() == [321]


def test_sixteen_words_are_in_the_descriptor(device):
    names = ", ".join(f"int a{index}" for index in range(15))
    launch = prepared(f"kernel void k(global int *p, {names}) {{ *p = a0 + 2 * a14; }}", global_size=1)
    out = device.buffer(1)
    device.run_prepared(launch, [out.address, 1, *[0] * 13, 10])
    assert out.read().tolist() == [21]
    with pytest.raises(LaunchError, match="too many"):
        launch.descriptor(0, [0] * 17)


def test_local_memory_has_places(device):
    launch = prepared("kernel void k(local int *a, local int *b, global int *p) { *a = 1; *b = 2; *p = *a + *b; }",
                      global_size=1, local=[LocalMemory(4), LocalMemory(4)])
    out = device.buffer(1)
    device.run_prepared(launch, [*launch.room.addresses, out.address])
    assert out.read().tolist() == [3]
    assert len(set(launch.room.addresses)) == len(launch.room.addresses)


def test_what_cannot_run_is_refused_before():
    source = "kernel void k(global int *p) { *p = 1; }"
    for wrong in {"global_size": 0}, {"global_size": 10, "local_size": 4}, {"global_size": 1024, "local_size": 1024}:
        with pytest.raises(LaunchError):
            prepared(source, **wrong)
    assert prepared(source, global_size=np.int64(4)).work_items == 4
