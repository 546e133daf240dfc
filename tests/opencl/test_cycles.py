"""Profiling events tell the cycles of the RTL."""

import pytest

_PROGRAM = """
import numpy as np, pyopencl as cl
[device] = cl.get_platforms()[0].get_devices(cl.device_type.GPU)
context = cl.Context([device])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
kernel = cl.Kernel(cl.Program(context, '''
    kernel void add(global const int *a, global int *b) { size_t i = get_global_id(0); b[i] = a[i] + 1; }
    ''').build(), "add")
a = np.arange(1024, dtype=np.int32)
b = np.zeros_like(a)
given = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
made = cl.Buffer(context, 0, a.nbytes)
for size in (64, 64, 1024):
    event = kernel(queue, (size,), None, given, made)
    cl.enqueue_copy(queue, b, made)
    profile = event.profile
    assert profile.queued <= profile.submit <= profile.start <= profile.end
    print((profile.end - profile.start) * device.max_clock_frequency / 1000)
assert np.array_equal(b, a + 1)
"""


@pytest.mark.ci
def test_profiling_tells_the_cycles_of_a_launch(opencl_icd):
    done = opencl_icd.python(_PROGRAM, timeout=500, environment={
        "FGPU_OPENCL_DEVICES": "verilator preset=tiny clock=125"})
    few, again, many = map(float, done.stdout.split())
    assert few == again == int(few)
    assert 100 < few < 1000
    assert many > 2 * few
