"""Commands run in the order that queues, wait lists, markers and barriers ask for, and events tell of it."""

import ctypes
import os
import threading
import time

import pytest

from fgpu.opencl import queues
from fgpu.opencl.callbacks import EVENT_NOTIFY
from fgpu.opencl.commands import Command
from fgpu.opencl.contexts import _NOTIFY, Context
from fgpu.opencl.enums import (
    CommandType,
    EventInfo,
    ExecutionStatus,
    ProfilingInfo,
    QueueInfo,
    QueueProperties,
    Status,
)
from fgpu.opencl.objects import LOCK, ClError, find
from fgpu.opencl.queues import CommandQueue
from tests.growth import growth

from . import direct
from .direct import call, info, out, sizes, status_of

_OUT_OF_ORDER = QueueProperties.OUT_OF_ORDER_EXEC_MODE_ENABLE
_PROFILED = QueueProperties.PROFILING_ENABLE
_SOON = 10.0        # seconds


@pytest.fixture
def queue(context):
    return direct.queue(context)


def enqueue(on, work, *waits, blocking=False):
    """A command with its event."""
    place, before = out(), sizes(*waits)
    with LOCK:
        find(CommandQueue, on).enqueue(
            CommandType.NATIVE_KERNEL, work, (len(waits), ctypes.addressof(before) if waits else 0),
            ctypes.addressof(place), blocking=blocking)
    return place.value


def fail():
    raise ClError(Status.MEM_OBJECT_ALLOCATION_FAILURE)


def status(event):
    return info("clGetEventInfo", event, EventInfo.COMMAND_EXECUTION_STATUS, ctypes.c_int32)


def wait(*events):
    call("clWaitForEvents", len(events), sizes(*events))


def until(condition):
    """Wait for what other threads do."""
    end = time.monotonic() + _SOON
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("properties", [_OUT_OF_ORDER, 0])
def test_a_long_chain_is_waited_for_in_linear_time(context, properties, monkeypatch):
    looked_at, awaited = [], Command.awaited
    monkeypatch.setattr(Command, "awaited", lambda self: looked_at.append(1) or awaited(self))
    on = call("clCreateCommandQueue", context, direct.device(), properties)
    gate = call("clCreateUserEvent", context)
    order, last = [], gate
    for index in range(500):
        last = enqueue(on, lambda index=index: order.append(index), last)
    call("clSetUserEventStatus", gate, 0)
    wait(last)
    assert order == list(range(500))
    assert len(looked_at) <= 1500


@pytest.mark.parametrize("kind", ["clEnqueueBarrierWithWaitList", "clEnqueueMarkerWithWaitList"])
def test_many_barriers_wait_for_few_commands_each(context, kind, monkeypatch):
    counts, follow = [], Command.follow
    monkeypatch.setattr(Command, "follow", lambda self, before: counts.append(len(before)) or follow(self, before))
    on = call("clCreateCommandQueue", context, direct.device(), _OUT_OF_ORDER)
    gate = call("clCreateUserEvent", context)
    order, last = [], direct.out()
    for index in range(100):
        enqueue(on, lambda index=index: order.append(index), *[gate] * (index % 7 == 0))
        call(kind, on, 0, 0, last)
    assert sum(counts) < 400
    time.sleep(0.01)
    assert status(last.value) == ExecutionStatus.QUEUED
    call("clSetUserEventStatus", gate, 0)
    wait(last.value)
    assert sorted(order) == list(range(100))


# -- order --------------------------------------------------------------------------------------


def test_commands_in_order_run_in_order(context, queue):
    gate = call("clCreateUserEvent", context)
    ran = []
    first = enqueue(queue, lambda: ran.append(1), gate)
    enqueue(queue, lambda: ran.append(2))
    time.sleep(0.01)
    assert ran == []
    assert status(first) == ExecutionStatus.QUEUED
    call("clSetUserEventStatus", gate, 0)
    call("clFinish", queue)
    assert ran == [1, 2]
    assert status(first) == ExecutionStatus.COMPLETE


def test_commands_out_of_order_start_when_their_wait_lists_are_over(context):
    queue = direct.queue(context, _OUT_OF_ORDER)
    gate = call("clCreateUserEvent", context)
    ran = []
    first = enqueue(queue, lambda: ran.append(1), gate)
    second = enqueue(queue, lambda: ran.append(2))
    third = enqueue(queue, lambda: ran.append(3), first)
    wait(second)
    assert ran == [2]
    call("clSetUserEventStatus", gate, 0)
    wait(third)
    assert ran == [2, 1, 3]


@pytest.mark.parametrize("kind", ["Barrier", "Marker"])
def test_barriers_and_markers_wait_for_all_before_and_barriers_hold_what_follows(context, kind):
    queue = direct.queue(context, _OUT_OF_ORDER)
    gate = call("clCreateUserEvent", context)
    ran = []
    enqueue(queue, lambda: ran.append(1), gate)
    place = out()
    call(f"clEnqueue{kind}WithWaitList", queue, 0, 0, place)
    last = enqueue(queue, lambda: ran.append(2))
    call("clFlush", queue)
    if kind == "Marker":
        wait(last)
    else:
        time.sleep(0.02)
    assert ran == ([2] if kind == "Marker" else [])
    assert status(place.value) == ExecutionStatus.QUEUED
    call("clSetUserEventStatus", gate, 0)
    wait(place.value)
    assert 1 in ran
    call("clFinish", queue)
    assert sorted(ran) == [1, 2]
    assert info("clGetEventInfo", place.value, EventInfo.COMMAND_TYPE, ctypes.c_uint32) == CommandType[kind.upper()]


def test_a_barrier_with_a_wait_list_waits_for_that_only(context):
    queue = direct.queue(context, _OUT_OF_ORDER)
    gate, other = (call("clCreateUserEvent", context) for _ in range(2))
    ran = []
    enqueue(queue, lambda: ran.append(1), other)
    call("clEnqueueBarrierWithWaitList", queue, 1, sizes(gate), 0)
    enqueue(queue, lambda: ran.append(2))
    call("clSetUserEventStatus", gate, 0)
    until(lambda: ran == [2])
    call("clSetUserEventStatus", other, 0)
    call("clFinish", queue)
    assert ran == [2, 1]


def test_old_markers_barriers_and_waits(context):
    queue = direct.queue(context, _OUT_OF_ORDER)
    gate = call("clCreateUserEvent", context)
    ran = []
    call("clEnqueueWaitForEvents", queue, 1, sizes(gate))
    enqueue(queue, lambda: ran.append(1))
    call("clEnqueueBarrier", queue)
    enqueue(queue, lambda: ran.append(2))
    place = out()
    call("clEnqueueMarker", queue, place)
    assert ran == []
    call("clSetUserEventStatus", gate, 0)
    wait(place.value)
    assert ran == [1, 2]


def test_a_queue_changes_its_order(context):
    queue = direct.queue(context, _OUT_OF_ORDER)
    gate = call("clCreateUserEvent", context)
    ran = []
    enqueue(queue, lambda: ran.append(1), gate)
    old = ctypes.c_uint64()
    call("clSetCommandQueueProperty", queue, _OUT_OF_ORDER, 0, old)
    assert old.value == _OUT_OF_ORDER
    assert info("clGetCommandQueueInfo", queue, QueueInfo.PROPERTIES, ctypes.c_uint64) == 0
    enqueue(queue, lambda: ran.append(2))
    call("clSetUserEventStatus", gate, 0)
    call("clFinish", queue)
    assert ran == [1, 2]
    assert status_of("clSetCommandQueueProperty", queue, 1 << 9, 1, 0) is Status.INVALID_VALUE


def test_queues_wait_for_each_other(context):
    one, two = direct.queue(context), direct.queue(context)
    ran = []
    event = enqueue(one, lambda: ran.append(0))
    for number in range(1, 200):
        event = enqueue((one, two)[number % 2], lambda number=number: ran.append(number), event)
    wait(event)
    assert ran == list(range(200))


def test_long_queues_take_time_that_is_linear(context, queue):
    def work(count):
        gate = call("clCreateUserEvent", context)
        enqueue(queue, lambda: None, gate)
        ran = []
        for number in range(count):
            enqueue(queue, lambda number=number: ran.append(number))
        call("clSetUserEventStatus", gate, 0)
        call("clFinish", queue)
        assert ran == list(range(count))

    assert growth(work, 500, 10) < 40       # 10 if linear, 100 if quadratic


# -- who runs commands --------------------------------------------------------------------------


def test_who_waits_runs_the_commands(queue, monkeypatch):
    monkeypatch.setattr(queues, "_PATIENCE_NS", 10**12)
    threads = []
    enqueue(queue, lambda: threads.append(threading.current_thread()))
    enqueue(queue, lambda: threads.append(threading.current_thread()), blocking=True)
    assert threads == [threading.current_thread()] * 2


@pytest.mark.parametrize("flush", [False, True])
def test_commands_run_though_nobody_waits(queue, flush):
    ran = []
    enqueue(queue, lambda: ran.append(threading.current_thread()))
    if flush:
        call("clFlush", queue)
    until(lambda: ran)
    assert ran[0] is not threading.current_thread()


def test_a_released_queue_runs_its_commands_and_goes(context):
    queue = direct.queue(context)
    gate = call("clCreateUserEvent", context)
    ran = []
    event = enqueue(queue, lambda: ran.append(1), gate)
    call("clReleaseCommandQueue", queue)
    call("clSetUserEventStatus", gate, 0)
    until(lambda: ran)
    wait(event)
    call("clReleaseEvent", event)
    until(lambda: status_of("clFlush", queue) is Status.INVALID_COMMAND_QUEUE)


def test_the_api_is_free_while_a_command_is_waited_for(queue):
    begun, gate = threading.Event(), threading.Event()

    def work():
        begun.set()
        gate.wait(_SOON)

    event = enqueue(queue, work)
    thread = threading.Thread(target=lambda: call("clFinish", queue))
    thread.start()
    begun.wait(_SOON)
    assert status(event) == ExecutionStatus.RUNNING
    gate.set()
    thread.join(_SOON)
    assert status(event) == ExecutionStatus.COMPLETE


def test_a_blocking_call_takes_no_change_of_threads(queue, monkeypatch):
    called, threads = [], []
    monkeypatch.setattr(CommandQueue, "_call_worker", lambda self, at_once: called.append(at_once))
    for _ in range(20):
        enqueue(queue, lambda: threads.append(threading.current_thread()), blocking=True)
    assert threads == [threading.current_thread()] * 20
    assert not called


# -- failures -----------------------------------------------------------------------------------


def test_what_waits_for_a_failed_event_fails_and_what_follows_does_not(context, queue):
    failed = enqueue(queue, fail)
    waits = enqueue(queue, lambda: None, failed)
    follows = enqueue(queue, lambda: None)
    call("clFinish", queue)
    assert [status(event) for event in (failed, waits, follows)] == [
        Status.MEM_OBJECT_ALLOCATION_FAILURE, Status.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        ExecutionStatus.COMPLETE]
    assert status_of("clWaitForEvents", 2, sizes(follows, failed)) is Status.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST


def test_a_blocking_command_raises_what_it_failed_with(queue):
    with pytest.raises(ClError) as caught:
        enqueue(queue, fail, blocking=True)
    assert caught.value.status is Status.MEM_OBJECT_ALLOCATION_FAILURE


def test_a_user_event_fails_what_waits_for_it(context, queue):
    gate = call("clCreateUserEvent", context)
    assert status(gate) == ExecutionStatus.SUBMITTED
    ran = []
    event = enqueue(queue, lambda: ran.append(1), gate)
    call("clSetUserEventStatus", gate, -5)
    call("clFinish", queue)
    assert (ran, status(gate), status(event)) == ([], -5, Status.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)


def test_a_context_hears_of_failures(context):
    heard = []
    function = _NOTIFY(lambda why, private, size, user_data: heard.append((why, user_data)))
    other = call("clCreateContext", 0, 1, sizes(direct.device()), ctypes.cast(function, ctypes.c_void_p).value, 5)
    queue = direct.queue(other)
    enqueue(queue, fail)
    call("clFinish", queue)
    until(lambda: heard)
    assert heard == [(b"NATIVE_KERNEL: CL_MEM_OBJECT_ALLOCATION_FAILURE", 5)]


# -- events -------------------------------------------------------------------------------------


def test_callbacks_are_called_for_each_status_in_order(context, queue):
    heard = []

    def called(event, status, user_data):
        heard.append((event, status, user_data, status_of("clFlush", queue)))

    function = EVENT_NOTIFY(called)
    address = ctypes.cast(function, ctypes.c_void_p).value
    gate = call("clCreateUserEvent", context)
    event = enqueue(queue, lambda: None, gate)
    for number, awaited in enumerate((0, 1, 2, 0)):
        call("clSetEventCallback", event, awaited, address, number)
    assert heard == []
    call("clSetUserEventStatus", gate, 0)
    wait(event)
    until(lambda: len(heard) == 4)
    assert heard == [(event, 2, 2, Status.SUCCESS), (event, 1, 1, Status.SUCCESS), (event, 0, 0, Status.SUCCESS),
                     (event, 0, 3, Status.SUCCESS)]
    call("clSetEventCallback", event, 1, address, 9)        # which is past
    until(lambda: len(heard) == 5)
    assert heard[-1][:3] == (event, 1, 9)


def test_callbacks_get_the_error(context, queue):
    heard = []
    function = EVENT_NOTIFY(lambda event, status, user_data: heard.append(status))
    event = call("clCreateUserEvent", context)
    call("clSetEventCallback", event, 0, ctypes.cast(function, ctypes.c_void_p).value, 0)
    call("clSetUserEventStatus", event, -7)
    until(lambda: heard)
    assert heard == [-7]


def test_callbacks_come_at_once_in_a_fork_too(context, queue):
    """The parent's threads, which wait for others, are not there."""
    heard = []
    function = EVENT_NOTIFY(lambda event, status, user_data: heard.append(status))

    def heard_in_time():
        before = len(heard)
        event = call("clCreateUserEvent", context)
        call("clSetEventCallback", event, 0, ctypes.cast(function, ctypes.c_void_p).value, 0)
        call("clSetUserEventStatus", event, 0)
        end = time.monotonic() + 5
        while len(heard) == before and time.monotonic() < end:
            time.sleep(0.001)
        return len(heard) > before

    assert heard_in_time()
    time.sleep(0.05)        # the thread waits for the next one
    child = os.fork()
    if not child:
        os._exit(not all(heard_in_time() for _ in range(3)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_event_tells_what_it_is_of(context, queue):
    event = enqueue(queue, lambda: None)
    assert info("clGetEventInfo", event, EventInfo.COMMAND_QUEUE) == queue
    assert info("clGetEventInfo", event, EventInfo.CONTEXT) == context
    call("clRetainEvent", event)
    assert info("clGetEventInfo", event, EventInfo.REFERENCE_COUNT, ctypes.c_uint32) == 2
    user = call("clCreateUserEvent", context)
    assert info("clGetEventInfo", user, EventInfo.COMMAND_QUEUE) == 0
    assert info("clGetEventInfo", user, EventInfo.COMMAND_TYPE, ctypes.c_uint32) == CommandType.USER


def times(event):
    return [info("clGetEventProfilingInfo", event, name, ctypes.c_uint64) for name in ProfilingInfo]


def test_profiling_tells_the_simulated_time(context):
    queue = direct.queue(context, _PROFILED)
    first = enqueue(queue, lambda: 1000 / 50e6)      # cycles / Hz
    second = enqueue(queue, lambda: time.sleep(0.002))
    wait(second)
    (queued, submit, start, end), then = times(first), times(second)
    assert queued <= submit <= start
    assert end - start == 20_000
    assert then == sorted(then)
    assert then[2] >= end
    assert then[3] - then[2] >= 2_000_000


def test_profiling_is_not_available_where_it_is_not_enabled_or_not_over(context, queue):
    gate = call("clCreateUserEvent", context)
    place = ctypes.c_uint64()
    unprofiled = enqueue(queue, lambda: None, blocking=True)
    profiled = direct.queue(context, _PROFILED)
    waiting = enqueue(profiled, lambda: None, gate)
    for event in (unprofiled, waiting, gate):
        assert status_of("clGetEventProfilingInfo", event, ProfilingInfo.END, 8, place, 0) is \
            Status.PROFILING_INFO_NOT_AVAILABLE
    call("clSetUserEventStatus", gate, 0)
    wait(waiting)
    call("clGetEventProfilingInfo", waiting, ProfilingInfo.END, 8, place, 0)
    assert status_of("clGetEventProfilingInfo", waiting, 0x1300, 8, place, 0) is Status.INVALID_VALUE
    assert status_of("clGetEventProfilingInfo", waiting, ProfilingInfo.END, 4, place, 0) is Status.INVALID_VALUE


def test_wrong_calls(context, queue):
    user = call("clCreateUserEvent", context)
    event = enqueue(queue, lambda: None)
    other = call("clCreateUserEvent", direct.context())
    place = out()
    for expected, name, *arguments in [
        (Status.INVALID_CONTEXT, "clCreateCommandQueue", 0, direct.device(), 0),
        (Status.INVALID_DEVICE, "clCreateCommandQueue", context, context, 0),
        (Status.INVALID_VALUE, "clCreateCommandQueue", context, direct.device(), 4),
        (Status.INVALID_CONTEXT, "clCreateUserEvent", queue),
        (Status.INVALID_EVENT, "clSetUserEventStatus", event, 0),
        (Status.INVALID_VALUE, "clSetUserEventStatus", user, 1),
        (Status.INVALID_VALUE, "clSetEventCallback", user, 0, 0, 0),
        (Status.INVALID_VALUE, "clSetEventCallback", user, 3, 1, 0),
        (Status.INVALID_EVENT, "clSetEventCallback", queue, 0, 1, 0),
        (Status.INVALID_VALUE, "clWaitForEvents", 0, sizes(user)),
        (Status.INVALID_VALUE, "clWaitForEvents", 1, 0),
        (Status.INVALID_EVENT, "clWaitForEvents", 1, sizes(queue)),
        (Status.INVALID_CONTEXT, "clWaitForEvents", 2, sizes(event, other)),
        (Status.INVALID_VALUE, "clEnqueueMarker", queue, 0),
        (Status.INVALID_COMMAND_QUEUE, "clEnqueueMarker", user, place),
        (Status.INVALID_CONTEXT, "clEnqueueMarkerWithWaitList", queue, 1, sizes(other), place),
        (Status.INVALID_EVENT_WAIT_LIST, "clEnqueueMarkerWithWaitList", queue, 1, sizes(queue), place),
        (Status.INVALID_EVENT_WAIT_LIST, "clEnqueueBarrierWithWaitList", queue, 0, sizes(user), place),
        (Status.INVALID_EVENT_WAIT_LIST, "clEnqueueBarrierWithWaitList", queue, 1, 0, place),
        (Status.INVALID_VALUE, "clEnqueueWaitForEvents", queue, 0, 0),
        (Status.INVALID_EVENT, "clEnqueueWaitForEvents", queue, 1, sizes(queue)),
        (Status.INVALID_CONTEXT, "clEnqueueWaitForEvents", queue, 1, sizes(other)),
        (Status.INVALID_COMMAND_QUEUE, "clFinish", context),
        (Status.INVALID_COMMAND_QUEUE, "clFlush", 0),
    ]:
        assert status_of(name, *arguments) is expected, (name, arguments)
    assert place.value == 0
    call("clSetUserEventStatus", user, 0)
    assert status_of("clSetUserEventStatus", user, 0) is Status.INVALID_OPERATION


def test_ten_threads_use_one_context(context):
    shared = direct.queue(context, _OUT_OF_ORDER)
    ran = []

    def run(number):
        queue = direct.queue(context)
        events = [enqueue((queue, shared)[step % 2], lambda step=step: ran.append((number, step)))
                  for step in range(50)]
        wait(*events)
        call("clReleaseCommandQueue", queue)
        for event in events:
            call("clReleaseEvent", event)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_SOON)
    assert sorted(ran) == [(number, step) for number in range(10) for step in range(50)]
    assert find(Context, context).references == 1
