"""Events: how far commands are, and what waits for them."""

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .answers import answer, give, handle, uint, ulong
from .callbacks import EVENT_NOTIFY, call_back
from .contexts import Context
from .entry import entry
from .enums import CommandType, EventInfo, ExecutionStatus, ProfilingInfo, Status
from .objects import CHANGED, ClError, Object, find, find_all

if TYPE_CHECKING:
    from .commands import Command
    from .queues import CommandQueue

_QUEUED = int(ExecutionStatus.QUEUED)

__all__ = ["Event", "UserEvent", "give_event", "wait_list", "wait_until_over"]


class Event(Object):
    """A command's, or a user's event. ``status`` below zero is an error.

    One that the host does not want (``is_wanted=False``) has no handle. All methods are called with the API's lock.
    """

    invalid = Status.INVALID_EVENT
    kind: CommandType
    queue: "CommandQueue | None" = None

    def __init__(self, context: Context, *, is_wanted: bool = True) -> None:
        if is_wanted:
            super().__init__()
        self.context = context
        self.status = _QUEUED
        self.times: dict[int, int] = {}             # in ns, by ProfilingInfo
        self.followers: list[Command] = []          # that wait for this one
        self._callbacks: list[tuple[int, int, int]] | None = None

    @property
    def is_over(self) -> bool:
        """Whether it is complete or has failed."""
        return self.status <= 0

    def advance(self, status: int) -> None:
        """Go on to another status, and tell whom it concerns."""
        self.status = status
        if self._callbacks is not None:
            self._call_back()
        if status <= 0:
            for follower in self.followers:
                follower.go_on(self)
            self.followers = []
            CHANGED.notify_all()

    @property
    def is_ready(self) -> bool:
        """Whether it is a command's that any thread may run."""
        return False

    def run(self) -> None:
        """Run the command, if it ``is_ready``; the lock, held once, is free meanwhile."""

    def awaited(self) -> "Iterator[Event]":
        """Events that must be over before this one's command may run."""
        return iter(())

    def add_callback(self, status: int, function: int, user_data: int) -> None:
        """Call the host when the event is that far, or has failed."""
        if self._callbacks is None:
            self._callbacks = []
        self._callbacks.append((status, function, user_data))
        self._call_back()

    def _call_back(self) -> None:
        """Call those callbacks whose status is there; earlier statuses first."""
        assert self._callbacks is not None
        due = [callback for callback in self._callbacks if callback[0] >= self.status]
        self._callbacks = [callback for callback in self._callbacks if callback[0] < self.status]
        for status, function, user_data in sorted(due, key=lambda callback: -callback[0]):
            told = min(self.status, status) if self.status < 0 else status

            def action(function: int = function, told: int = told, user_data: int = user_data) -> None:
                EVENT_NOTIFY(function)(self.handle, told, user_data)

            call_back(action)


class UserEvent(Event):
    """An event whose status the host sets, once."""

    kind = CommandType.USER

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.status = ExecutionStatus.SUBMITTED


def wait_list(count: int, events: int, context: Context) -> list[Event]:
    """The events that a command waits for, checked."""
    if (count == 0) != (events == 0):
        raise ClError(Status.INVALID_EVENT_WAIT_LIST, f"{count} events at 0x{events:x}")
    if count == 0:
        return []
    try:
        found = find_all(Event, count, events)
    except ClError as error:
        raise ClError(Status.INVALID_EVENT_WAIT_LIST, str(error)) from None
    _check_context(found, context)
    return found


def _check_context(events: Iterable[Event], context: Context) -> None:
    if any(event.context is not context for event in events):
        raise ClError(Status.INVALID_CONTEXT, "an event of another context")


def wait_until_over(events: Sequence[Event]) -> None:
    """Wait, with the API's lock held once; raises :class:`ClError` if one has failed.

    The thread that waits runs the commands that it waits for, where no other thread does: that spares the change of
    threads.
    """
    for event in events:
        while event.status > 0:
            if not _run_what_is_ready(event) and event.status > 0:
                CHANGED.wait()
    if any(event.status < 0 for event in events):
        raise ClError(Status.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)


def _run_what_is_ready(event: Event) -> bool:
    """Run what must run before an event is over, as far as it waits for nothing else; whether there was anything.

    Goes down from the event to what is ready, and up again from what was run: each command is looked at once, however
    long the chain.
    """
    has_run = False
    blocked: set[Event] = set()         # by what others run, or the host
    path = [(event, event.awaited())]
    while path:
        last, before = path[-1]
        if last.is_ready:
            last.run()
            has_run = True
        if last.status <= 0:
            path.pop()
            continue
        following = next((each for each in before if each.status > 0 and each not in blocked), None)
        if following is None:
            blocked.add(last)
            path.pop()
        else:
            path.append((following, following.awaited()))
    return has_run


def give_event(event: Event, place: int) -> None:
    """Give the host a command's event: the one reference is the host's then."""
    ctypes.c_size_t.from_address(place).value = event.handle


_INFO = {
    EventInfo.COMMAND_QUEUE: lambda event: handle(event.queue),
    EventInfo.COMMAND_TYPE: lambda event: uint(event.kind),
    EventInfo.REFERENCE_COUNT: lambda event: uint(event.references),
    EventInfo.COMMAND_EXECUTION_STATUS: lambda event: uint(event.status),
    EventInfo.CONTEXT: lambda event: handle(event.context),
}
_PROFILING = {int(name) for name in ProfilingInfo}


@entry("clWaitForEvents")
def wait_for_events(count: int, events: int) -> None:
    if not count or not events:
        raise ClError(Status.INVALID_VALUE, "no events")
    found = find_all(Event, count, events)
    _check_context(found, found[0].context)
    wait_until_over(found)


@entry("clGetEventInfo")
def get_event_info(event: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(Event, event), name, value_size, value, size_ret)


@entry("clRetainEvent")
def retain_event(event: int) -> None:
    find(Event, event).retain()


@entry("clReleaseEvent")
def release_event(event: int) -> None:
    find(Event, event).release()


@entry("clCreateUserEvent")
def create_user_event(context: int) -> UserEvent:
    return UserEvent(find(Context, context))


@entry("clSetUserEventStatus")
def set_user_event_status(event: int, status: int) -> None:
    found = find(Event, event)
    if not isinstance(found, UserEvent):
        raise ClError(Status.INVALID_EVENT, "a command's event")
    if status > ExecutionStatus.COMPLETE:
        raise ClError(Status.INVALID_VALUE, f"{status} is neither CL_COMPLETE nor an error")
    if found.is_over:
        raise ClError(Status.INVALID_OPERATION, "the event's status was set before")
    found.advance(status)


@entry("clSetEventCallback")
def set_event_callback(event: int, status: int, function: int, user_data: int) -> None:
    found = find(Event, event)
    if not function or status not in (ExecutionStatus.SUBMITTED, ExecutionStatus.RUNNING, ExecutionStatus.COMPLETE):
        raise ClError(Status.INVALID_VALUE, f"a callback at 0x{function:x} for the status {status}")
    found.add_callback(status, function, user_data)


@entry("clGetEventProfilingInfo")
def get_event_profiling_info(event: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    found = find(Event, event)
    if found.queue is None or not found.times or found.status != ExecutionStatus.COMPLETE:
        raise ClError(Status.PROFILING_INFO_NOT_AVAILABLE)
    if name not in _PROFILING:
        raise ClError(Status.INVALID_VALUE, f"there is no profiling information 0x{name:X}")
    give(ulong(found.times[name]), value_size, value, size_ret)
