"""Events: commands, and how far they are."""

import ctypes
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .answers import answer, give, handle, uint, ulong
from .contexts import Context
from .entry import entry
from .enums import CommandType, EventInfo, ExecutionStatus, ProfilingInfo, Status
from .objects import CHANGED, ClError, Object, find, find_all

if TYPE_CHECKING:
    from .queues import CommandQueue

__all__ = ["Event", "wait_list", "wait_until_over"]


class Event(Object):
    """A command's, or a user's event. ``status`` below zero is an error."""

    invalid = Status.INVALID_EVENT

    def __init__(self, context: Context, kind: CommandType, queue: "CommandQueue | None" = None) -> None:
        super().__init__()
        self.context = context
        self.kind = kind
        self.queue = queue
        self.status: int = ExecutionStatus.QUEUED
        self.times = {ProfilingInfo.QUEUED: time.monotonic_ns()}    # in ns

    @property
    def is_over(self) -> bool:
        """Whether it is complete or has failed."""
        return self.status <= ExecutionStatus.COMPLETE

    def advance(self, status: int) -> None:
        """Go on to another status; who waits is told."""
        with CHANGED:
            self.status = status
            CHANGED.notify_all()


def wait_list(count: int, events: int, context: Context) -> list[Event]:
    """The events that a command waits for, checked."""
    if (count == 0) != (events == 0):
        raise ClError(Status.INVALID_EVENT_WAIT_LIST, f"{count} events at 0x{events:x}")
    try:
        found = find_all(Event, count, events)
    except ClError as error:
        raise ClError(Status.INVALID_EVENT_WAIT_LIST, str(error)) from None
    if any(event.context is not context for event in found):
        raise ClError(Status.INVALID_CONTEXT, "an event of another context")
    return found


def wait_until_over(events: Sequence[Event]) -> None:
    """Wait; raises :class:`ClError` if one has failed."""
    with CHANGED:
        CHANGED.wait_for(lambda: all(event.is_over for event in events))
    if any(event.status < 0 for event in events):
        raise ClError(Status.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)


_INFO = {
    EventInfo.COMMAND_QUEUE: lambda event: handle(event.queue),
    EventInfo.COMMAND_TYPE: lambda event: uint(event.kind),
    EventInfo.REFERENCE_COUNT: lambda event: uint(event.references),
    EventInfo.COMMAND_EXECUTION_STATUS: lambda event: uint(event.status),
    EventInfo.CONTEXT: lambda event: handle(event.context),
}


@entry("clWaitForEvents")
def wait_for_events(count: int, events: int) -> None:
    if not count or not events:
        raise ClError(Status.INVALID_VALUE, "no events")
    wait_until_over(find_all(Event, count, events))


@entry("clGetEventInfo")
def get_event_info(event: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(Event, event), name, value_size, value, size_ret)


@entry("clRetainEvent")
def retain_event(event: int) -> None:
    find(Event, event).retain()


@entry("clReleaseEvent")
def release_event(event: int) -> None:
    find(Event, event).release()


@entry("clGetEventProfilingInfo")
def get_event_profiling_info(event: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    found = find(Event, event)
    give(ulong(found.times[ProfilingInfo(name)]), value_size, value, size_ret)


def give_event(event: Event, place: int) -> None:
    """Give the host a command's event, if it wants it: the one reference is the host's then."""
    if place:
        ctypes.c_void_p.from_address(place).value = event.handle
    else:
        event.release()
