"""A kernel that never ends is stopped at a limit, with a line that says where it was; Ctrl-C works meanwhile."""

import pytest

from fgpu.sim.functional.native.build import library

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import pyopencl as cl

context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
from fgpu.opencl import queues
queues._PATIENCE_NS = 10 ** 12      # so that this thread runs what it waits for, however busy the machine is
queue = cl.CommandQueue(context)
program = cl.Program(context, '''
__kernel void spins(volatile __global int *x)
{
    if (x[0] == 0 && get_global_id(0) == 5) printf("begins\\\\n");
    while (x[0] == 0)
        x[1]++;
}
__kernel void two(__global int *x) { x[2] = 2; }''').build()
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
cl.enqueue_fill_buffer(queue, buffer, np.int32(1), 0, 64).wait()
two, spins = program.two, program.spins
two(queue, (1,), None, buffer).wait()       # what is compiled at a kernel's first launch is not counted below
spins(queue, (64,), None, buffer).wait()
cl.enqueue_fill_buffer(queue, buffer, np.int32(0), 0, 64).wait()
event = spins(queue, (64,), None, buffer)
if "interrupt" in sys.argv:
    def interrupt():
        while event.command_execution_status > cl.command_execution_status.RUNNING:
            time.sleep(0.01)
        begin = time.process_time()     # of the kernel, for nobody else works: however busy the machine is
        while time.process_time() < begin + 0.5:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
try:
    event.wait()
except cl.Error as error:
    print(event.command_execution_status)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit()      # the kernel may be under way still
two(queue, (1,), None, buffer)
queue.finish()
found = np.zeros(16, np.int32)
cl.enqueue_copy(queue, found, buffer)
print(found[2], found[1] > 0)
"""


@pytest.fixture(autouse=True)
def functional_engine() -> None:
    """The engine as compiled code, which is a line on stderr where it was not there."""
    library()


def test_the_limit_is_the_events_error_and_a_line(opencl_icd):
    done = opencl_icd.python(PROGRAM, environment={"FGPU_OPENCL_SECONDS": "0.3"}, timeout=60)
    assert done.stdout == "begins\n-5\n2 True\n"
    assert done.stderr.startswith("fgpu: kernel 'spins' did not finish within 0.3 seconds (FGPU_OPENCL_SECONDS): "
                                  "wavefront 0 of work-group 0 is at <source>:")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("limit", ["", pytest.param("soon", marks=pytest.mark.ci)])
def test_it_is_interrupted(limit, opencl_icd):
    done = opencl_icd.python(PROGRAM, "interrupt", environment={"FGPU_OPENCL_SECONDS": limit}, timeout=60)
    assert done.stdout == "begins\ninterrupted\n"      # what the kernel printed before is not lost
    told = "fgpu: FGPU_OPENCL_SECONDS must be seconds, or 0 for no limit, not 'soon'; it is 600\n"
    assert done.stderr == (told if limit else "")
