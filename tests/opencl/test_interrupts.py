"""Ctrl-C in a Python program that waits in a call: it is the program's KeyboardInterrupt."""

import pytest

from ..tiers import quick

PROGRAM = """
import os, signal, sys, threading, time
import pyopencl as cl

[device] = cl.get_platforms()[0].get_devices()[:1]
context = cl.Context([device])
queue = cl.CommandQueue(context)
gate = cl.UserEvent(context)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
marker = cl.enqueue_marker(queue, wait_for=[gate])
threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
gate.set_status(0)
queue.finish()
print("goes on")
"""


@pytest.mark.parametrize("call", quick([
    "queue.finish()", "marker.wait()", "cl.wait_for_events([marker])",
    "cl.enqueue_copy(queue, bytearray(64), buffer)",
], ["queue.finish()"]))
def test_it_is_raised_where_the_call_was(call, opencl_icd):
    done = opencl_icd.python(PROGRAM.format(call=call), timeout=30)
    assert done.stdout == "interrupted\ngoes on\n"
    assert "fgpu" not in done.stderr        # pyopencl may say that a copy that was interrupted failed


def test_objects_are_released_while_an_error_is_raised(opencl_icd):
    """ctypes calls no Python function with an error set: the C library puts it aside."""
    done = opencl_icd.python("""
import ctypes, itertools
import pyopencl as cl

context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
release = ctypes.CDLL(None).getpid      # any function

def failing():
    for index in itertools.count():
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
        yield buffer
        if index:
            raise ValueError("an error")

try:
    list(failing())
except ValueError as error:
    print(error)
""")
    assert (done.stdout, done.stderr) == ("an error\n", "")
