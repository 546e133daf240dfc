"""Profiling events tell the cycles of the RTL."""

import numpy as np
import pytest

from fgpu import Config, Device, compile_opencl

_SOURCE = "kernel void add(global const int *a, global int *b) { size_t i = get_global_id(0); b[i] = a[i] + 1; }"
_PROGRAM = f"""
import numpy as np, pyopencl as cl
[device] = cl.get_platforms()[0].get_devices(cl.device_type.GPU)
context = cl.Context([device])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
kernel = cl.Kernel(cl.Program(context, {_SOURCE!r}).build(), "add")
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
    """They are those of the same launches, in the same order, on a device of one's own."""
    done = opencl_icd.python(_PROGRAM, timeout=500, environment={
        "FGPU_OPENCL_DEVICES": "verilator preset=tiny clock=125"})
    config = Config.preset("tiny")
    image = compile_opencl(_SOURCE, config=config)
    with Device(config) as device:
        given, made = device.buffer(np.arange(1024, dtype=np.int32)), device.buffer(1024)
        cycles = [device.launch(image, global_size=size, args=[given, made]).cycles for size in (64, 64, 1024)]
    assert list(map(float, done.stdout.split())) == cycles
    assert 100 < cycles[0] < 1000
    assert cycles[2] > 2 * cycles[0]


_WAITS = f"""
import time, numpy as np, pyopencl as cl
[device] = cl.get_platforms()[0].get_devices(cl.device_type.GPU)
context = cl.Context([device])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
kernel = cl.Kernel(cl.Program(context, {_SOURCE!r}).build(), "add")
buffer, host = cl.Buffer(context, 0, 4096), np.zeros(1024, np.int32)
kernel(queue, (64,), None, buffer, buffer).wait()
began = time.monotonic()
first = kernel(queue, (64,), None, buffer, buffer)
queue.flush()
while first.command_execution_status == cl.command_execution_status.QUEUED:
    time.sleep(0.001)
events = [first]
for _ in range(3):
    events.append(kernel(queue, (64,), None, buffer, buffer))
    events.append(cl.enqueue_copy(queue, host, buffer, is_blocking=False))
queue.finish()
passed = time.monotonic() - began
times = [event.profile for event in events]
for each, then in zip(times, times[1:]):
    assert each.queued <= each.submit <= each.start <= each.end <= then.start, (each, then)
print(passed, (times[-1].end - times[0].queued) / 1e9, sum(each.end - each.start for each in times) / 1e9)
"""


@pytest.mark.ci
def test_what_waits_for_a_simulated_kernel_waits_for_its_cycles(opencl_icd):
    """Not for the simulation, which takes several hundred times as long here."""
    done = opencl_icd.python(_WAITS, timeout=500, environment={"FGPU_OPENCL_DEVICES": "pysim preset=tiny"})
    passed, on_device, busy = map(float, done.stdout.split())
    assert busy <= on_device < passed / 4
