"""How long a kernel takes that returns at once: what every launch costs."""

import pytest

from fgpu.benchmarks.record import _ENDS_CYCLES, _LAUNCH_CYCLES
from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

ISSUE_CYCLES = 8


@pytest.mark.parametrize("compute_units", [1, pytest.param(4, marks=pytest.mark.ci)])
def test_an_empty_kernel(compute_units: int) -> None:
    """Least of what sizes, parameters, initializing and cleaning make of it."""
    image = compile_opencl("__kernel void empty(__global int *a) {}")
    with Device(Config(compute_units=compute_units)) as device:
        a = device.buffer(1)
        runs = [device.launch(image, global_size=64, local_size=64, args=[a], initialize=ends, clean=ends)
                for ends in (True, True, False)]
    assert [run.instructions for run in runs] == [1, 1, 1]
    _, whole, bare = (run.cycles for run in runs)
    assert bare == ISSUE_CYCLES + _LAUNCH_CYCLES
    assert whole == bare + _ENDS_CYCLES
