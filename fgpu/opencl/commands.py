"""Commands of queues: what they wait for, and how one runs.

A command waits for the events of its list and, in a queue that is in order, for the command before it. When all are
over it is *ready*.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from .entry import status_of
from .enums import CommandType, ExecutionStatus, ProfilingInfo, Status
from .events import Event
from .objects import CHANGED, LOCK

if TYPE_CHECKING:
    from .queues import CommandQueue

__all__ = ["Command", "Work"]

Work = Callable[[], float | None]
"""What a command does, without the API's lock. Returns the simulated seconds that it took, or None: the time that
passed. Raises :class:`~.objects.ClError` with the status that its event shall get."""

_QUEUED, _SUBMIT, _START, _END = map(int, ProfilingInfo)
_LAUNCHES: Final = (CommandType.NDRANGE_KERNEL, CommandType.TASK)
_SUBMITTED, _RUNNING, _COMPLETE = map(int, (
    ExecutionStatus.SUBMITTED, ExecutionStatus.RUNNING, ExecutionStatus.COMPLETE))


class Command(Event):
    """A command of a queue, and its event. All methods are called with the API's lock."""

    queue: "CommandQueue"

    def __init__(self, queue: "CommandQueue", kind: CommandType, work: Work, waits: Sequence[Event], *,
                 is_wanted: bool) -> None:
        """Nothing knows of it before it is appended."""
        super().__init__(queue.context, is_wanted=is_wanted)
        self.kind = kind
        self.queue = queue
        self.waits = waits
        self.queued = time.monotonic_ns()
        self._is_profiled = queue.is_profiled
        self._queued_on_device = queue.device.time.now() if self._is_profiled else 0
        self._work: Work | None = work
        self._has_no_list = not waits
        self._before: Sequence[Event] = ()
        self._unmet: set[Event] = set()

    def follow(self, before: Iterable[Event]) -> None:
        """Wait for these events, and for those of the host's list."""
        self._before = [event for event in (*self.waits, *before) if event.status > 0]
        self._unmet.update(self._before)
        for event in self._before:
            event.followers.append(self)

    @property
    def waits_for_all(self) -> bool:
        """Whether this is a marker or a barrier that waits for all commands before."""
        return self.kind in (CommandType.MARKER, CommandType.BARRIER) and self._has_no_list

    @property
    def is_ready(self) -> bool:
        return self.queue.has_ready(self)

    @property
    def is_unmet(self) -> bool:
        """Whether it waits for others."""
        return bool(self._unmet)

    def go_on(self, event: Event) -> None:
        """One of the events that this waits for is over; that may be said twice."""
        self._unmet.discard(event)
        if not self._unmet:
            self._before = ()
            self.queue.is_ready(self)

    def awaited(self) -> Iterator[Event]:
        """Events that must be over before this may run, those that are met first in time among them."""
        if not self.queue.is_out_of_order:
            before = None       # in order, it waits for the first, however many there are between
            while (first := self.queue.first) not in (None, self, before):
                before = first
                yield first
        yield from self._before

    def abandon(self) -> None:
        """Fail, unless it runs; then wait for its end. What it uses of the host's may go then."""
        while self.status > 0 and self._work is None:
            CHANGED.wait()
        if self.status > 0:
            for event in self._before:
                with suppress(ValueError):
                    event.followers.remove(self)
            self.end(int(Status.OUT_OF_RESOURCES))

    def is_lost(self) -> bool:
        """In a new process: whether a thread of the old one runs it."""
        return self._work is None

    def run(self) -> None:
        """Run it; the lock, held once, is free meanwhile. It ends even where a signal's handler raises something
        between two lines of this."""
        try:
            self._run()
        except BaseException as error:
            status = status_of(self.kind.name, error)
            if not LOCK._is_owned():    # type: ignore[attr-defined]
                LOCK.acquire()
            self.end(self.status if self.is_over else status)

    def _run(self) -> None:
        work, self._work = self._work, None
        self.queue.takes(self)
        is_simulated = self.kind in _LAUNCHES and self.queue.device.is_simulated
        device_time = self.queue.device.time
        start, began = device_time.stop(self) if is_simulated else device_time.now(), time.monotonic_ns()
        status = _COMPLETE
        seconds: float | None = None
        if any(event.status < 0 for event in self.waits):
            status = int(Status.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        elif work is not None:
            self.advance(_SUBMITTED)
            self.advance(_RUNNING)
            LOCK.release()
            try:
                seconds = work()
            except BaseException as error:
                status = status_of(self.kind.name, error)
                self.context.notify(f"{self.kind.name}: {error}")
            finally:
                work = None         # which keeps objects alive
                LOCK.acquire()
        end = start + (time.monotonic_ns() - began if seconds is None else round(seconds * 1e9))
        device_time.reach(end)
        if self._is_profiled:
            self.times = {_QUEUED: self._queued_on_device, _SUBMIT: start, _START: start, _END: end}
        self.end(status)

    def end(self, status: int) -> None:
        """Be over. What was done of this before is not done again."""
        self._work = None
        self.waits = ()
        self.queue.device.time.go_on(self)
        self.queue.takes(self)
        self.queue.leaves(self)
        self.advance(status)
