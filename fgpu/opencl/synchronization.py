"""What orders the commands of queues: flush, finish, markers and barriers."""

import ctypes

from .entry import entry
from .enums import CommandType, Status
from .events import Event, wait_list
from .objects import ClError, find, find_all
from .queues import CommandQueue, checked_properties

__all__: list[str] = []


@entry("clFlush")
def flush(queue: int) -> None:
    find(CommandQueue, queue).flush()


@entry("clFinish")
def finish(queue: int) -> None:
    find(CommandQueue, queue).finish()


@entry("clSetCommandQueueProperty")
def set_command_queue_property(queue: int, properties: int, enable: int, old: int) -> None:
    found = find(CommandQueue, queue)
    checked_properties(properties)
    if old:
        ctypes.c_uint64.from_address(old).value = found.properties
    found.set_properties(found.properties | properties if enable else found.properties & ~properties)


@entry("clEnqueueMarkerWithWaitList")
def enqueue_marker_with_wait_list(queue: int, count: int, events: int, event_out: int) -> None:
    found = find(CommandQueue, queue)
    found.synchronize(CommandType.MARKER, wait_list(count, events, found.context), event_out)


@entry("clEnqueueBarrierWithWaitList")
def enqueue_barrier_with_wait_list(queue: int, count: int, events: int, event_out: int) -> None:
    found = find(CommandQueue, queue)
    found.synchronize(CommandType.BARRIER, wait_list(count, events, found.context), event_out)


@entry("clEnqueueMarker")
def enqueue_marker(queue: int, event_out: int) -> None:
    found = find(CommandQueue, queue)
    if not event_out:
        raise ClError(Status.INVALID_VALUE, "a marker without a place for its event")
    found.synchronize(CommandType.MARKER, (), event_out)


@entry("clEnqueueBarrier")
def enqueue_barrier(queue: int) -> None:
    find(CommandQueue, queue).synchronize(CommandType.BARRIER, (), 0)


@entry("clEnqueueWaitForEvents")
def enqueue_wait_for_events(queue: int, count: int, events: int) -> None:
    found = find(CommandQueue, queue)
    if not count or not events:
        raise ClError(Status.INVALID_VALUE, "no events")
    find_all(Event, count, events)      # here a wrong one is CL_INVALID_EVENT
    found.synchronize(CommandType.BARRIER, wait_list(count, events, found.context), 0)
