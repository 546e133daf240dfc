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


COMPILES = """
import os, random, signal, threading, time
import numpy as np
import pyopencl as cl

context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
queue = cl.CommandQueue(context)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
more = f"a = sin(a) * pow(a, {random.random() + 2}f) + exp(a);" * 4
program = cl.Program(context, f'''
kernel void slow(global float *x) {{ float a = x[0]; {more} x[0] = a; }}
kernel void two(global int *x) {{ x[0] = 2; }}''').build()
slow, two = cl.Kernel(program, "slow"), cl.Kernel(program, "two")
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    CALL
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted")
two(queue, (1,), None, buffer)
found = np.zeros(1, np.int32)
cl.enqueue_copy(queue, found, buffer)
print(found)
"""


@pytest.mark.parametrize("call", quick([
    "slow(queue, (1,), None, buffer)",
    "slow.get_work_group_info(cl.kernel_work_group_info.PRIVATE_MEM_SIZE, context.devices[0])",
], ["slow(queue, (1,), None, buffer)"]))
def test_a_kernel_whose_code_is_being_made_gives_an_event_or_an_error(call, opencl_icd):
    """What a call returns is there: pyopencl takes the event of a launch before it looks for Ctrl-C."""
    done = opencl_icd.python(COMPILES.replace("CALL", call), timeout=60)
    assert done.stdout == "interrupted\n[2]\n"


FINALIZER = """
import signal
import numpy as np
import pyopencl as cl

class Finalized:
    def __del__(self):
        SIGNAL

def prepared(*arguments):
    Finalized()
    return as_before(*arguments)

def ring(*_):
    raise TimeoutError

context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
queue = cl.CommandQueue(context)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
program = cl.Program(context, "kernel void two(global int *x) { x[0] = 2; }").build()
from fgpu.opencl import launches
as_before, launches._prepared = launches._prepared, prepared
signal.signal(signal.SIGALRM, ring)
try:
    cl.Kernel(program, "two")(queue, (1,), None, buffer)
    print("lost")
except (KeyboardInterrupt, TimeoutError) as error:
    print(type(error).__name__)
found = np.zeros(1, np.int32)
cl.enqueue_copy(queue, found, buffer)
print(found)
"""


@pytest.mark.parametrize("case", quick([
    ("signal.raise_signal(signal.SIGINT)", "KeyboardInterrupt", ""),
    ("signal.raise_signal(signal.SIGALRM)", "TimeoutError", ""),
    ("raise ValueError('of the program itself')", "lost", "ValueError: of the program itself"),
], [("signal.raise_signal(signal.SIGALRM)", "TimeoutError", "")]))
def test_a_signal_that_a_finalizer_meets_is_not_lost(case, opencl_icd):
    """Python ignores what finalizers raise, and LLVM's objects have many."""
    statement, said, printed = case
    done = opencl_icd.python(FINALIZER.replace("SIGNAL", statement), timeout=60)
    assert done.stdout == f"{said}\n[2]\n"
    assert printed in done.stderr if printed else not done.stderr


ALARM = """
import functools, random, signal, sys, time
import numpy as np
import pyopencl as cl

class Late(Exception):
    pass

class Alarm:
    def ring(self, *_):
        raise Late(self.said)

    __call__ = ring
    said = "by a handler"

context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
queue = cl.CommandQueue(context)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
more = f"a = sin(a) * pow(a, {random.random() + 2}f) + exp(a);" * 20
source = "".join(f"kernel void k{number}(global float *x) {{ float a = x[0]; {more} x[0] = a; }}"
                 for number in range(20))
gate = cl.UserEvent(context)
marker = cl.enqueue_marker(queue, wait_for=[gate])
signal.signal(signal.SIGALRM, HANDLER)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    CALL
    time.sleep(20)
except (Late, SystemExit) as error:
    print(type(error).__name__, error)
gate.set_status(0)
queue.finish()
program = cl.Program(context, "kernel void two(global int *x) { x[0] = 2; }").build()
cl.Kernel(program, "two")(queue, (1,), None, buffer)
found = np.zeros(1, np.int32)
cl.enqueue_copy(queue, found, buffer)
print(found)
"""


@pytest.mark.parametrize("case", quick([
    ("Alarm()", "cl.Program(context, source).build(cache_dir=False)", "Late by a handler"),
    ("Alarm().ring", "queue.finish()", "Late by a handler"),
    ("lambda *_: sys.exit(5)", "marker.wait()", "SystemExit 5"),
    ("functools.partial(Alarm.ring, Alarm)", "cl.enqueue_copy(queue, bytearray(64), buffer)", "Late by a handler"),
], [("lambda *_: sys.exit(5)", "marker.wait()", "SystemExit 5")]))
def test_what_a_handler_of_the_host_raises_in_a_call_is_the_hosts(case, opencl_icd):
    handler, call, said = case
    done = opencl_icd.python(ALARM.replace("HANDLER", handler).replace("CALL", call), timeout=60)
    assert done.stdout == f"{said}\n[2]\n"
    assert "Traceback" not in done.stderr


ARMED = """
import os, random, signal, sys
import numpy as np
import pyopencl as cl

class Late(Exception):
    pass

def ring(*_):
    if armed:
        raise Late

context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
found = np.zeros(16, np.int32)
armed = False
signal.signal(signal.SIGALRM, ring)
"""
EACH_LINE = ARMED + """
import fgpu.opencl

program = cl.Program(context, "kernel void add(global int *x, int y) { x[get_global_id(0)] += y; }").build()
add = cl.Kernel(program, "add")
folder = os.path.dirname(fgpu.opencl.__file__)
lines, at = 0, 0

def trace(frame, event, argument):
    global lines
    if event == "call":
        name = frame.f_code.co_filename
        return trace if name.startswith(folder) and not name.endswith("interrupts.py") else None
    # The end of a with statement is another event of its first line, where no signal is handled.
    if event == "line" and not line(frame).startswith("with "):
        lines += 1
        if lines == at:
            signal.raise_signal(signal.SIGALRM)
    return trace

def line(frame, files={}):
    name = frame.f_code.co_filename
    if name not in files:
        files[name] = open(name).read().splitlines()
    return files[name][frame.f_lineno - 1].strip()

def read():
    cl.enqueue_copy(queue, found, buffer)

def launch():
    add(queue, (16,), None, buffer, np.int32(1)).wait()

for action in (read, launch):
    action()
    at, reached = 0, True
    while reached:
        at, lines = at + 1, 0
        try:
            armed = True
            sys.settrace(trace)
            action()
        except (Late, cl.Error, MemoryError):
            armed = False       # before anything is called
        finally:
            armed = False
            sys.settrace(None)
        reached = lines >= at
        queue.finish()
        cl.enqueue_fill_buffer(queue, buffer, np.int32(at), 0, 64)
        launch()
        read()
        assert (found == at + 1).all(), (action, at, found)
    print(at > 100)
"""


@pytest.mark.ci
def test_wherever_a_signal_comes_the_queue_goes_on(opencl_icd):
    """A handler raises something at each line that a call executes, one after the other."""
    done = opencl_icd.python(EACH_LINE, timeout=100)
    assert done.stdout == "True\nTrue\n"
    assert "Traceback" not in done.stderr


ALARMS = ARMED + """
for _ in range(100):
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.005 * random.random())
        while True:
            cl.enqueue_copy(queue, found, buffer)
    except (Late, cl.Error) as error:
        armed = False
        code = getattr(error, "code", 0)
        assert -80 < code <= 0, code
print("all")
"""


def test_alarms_at_any_moment(opencl_icd):
    """Also while C is on its way into the platform or out of it."""
    done = opencl_icd.python(ALARMS, timeout=100)
    assert done.stdout == "all\n"
    assert "calling ctypes" not in done.stderr
