"""What a launch costs beside the kernel, in calls of functions: those do not depend on how busy the machine is."""

import sys

from fgpu.compiler import compile_opencl
from fgpu.sim import Device
from fgpu.sim.prepared import PreparedLaunch

ADD = compile_opencl("""
    kernel void nothing() {}
    kernel void add(global const int *a, global const int *b, global int *c) {
        size_t i = get_global_id(0);
        c[i] = a[i] + b[i];
    }""")


def calls(function):
    """How many functions in Python it calls."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_launches_that_come_again_do_little():
    """Bounds are three times what it was when this was written: 63 calls, and 30 microseconds, for the addition."""
    with Device(engine="functional") as device:
        a, b, c = (device.buffer(64) for _ in range(3))
        assert device.launch(ADD, "add", global_size=64, args=[a, b, c]).work_item_instructions
        again = calls(lambda: device.launch(ADD, "add", global_size=64, args=[a, b, c]))
        prepared = PreparedLaunch.of(ADD, ADD.kernels["nothing"], device.config, global_size=64)
        device.run_prepared(prepared, ())
        nothing = calls(lambda: device.run_prepared(prepared, ()))
    assert again < 190
    assert nothing < 60


def test_launches_of_other_sizes_decode_nothing():
    with Device(engine="functional") as device:
        c = device.buffer(1024)
        device.launch(ADD, "add", global_size=64, args=[c, c, c])
        other = calls(lambda: device.launch(ADD, "add", global_size=640, args=[c, c, c]))
        assert other < 600
