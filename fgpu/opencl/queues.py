"""Command queues: a thread runs the commands of each."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from .answers import answer, handle, uint, ulong
from .contexts import Context
from .devices import Device
from .entry import entry, status_of
from .enums import CommandType, ExecutionStatus, ProfilingInfo, QueueInfo, QueueProperties, Status
from .events import Event, give_event, wait_list, wait_until_over
from .objects import CHANGED, ClError, Object, find

__all__ = ["CommandQueue", "Work"]

Work = Callable[[], float | None]
"""What a command does, without the API's lock. Returns the simulated seconds that it took, or None: the time that
passed. Raises :class:`~.objects.ClError` with the status that its event shall get."""


class CommandQueue(Object):
    """Commands for a device, and the thread that runs them."""

    invalid = Status.INVALID_COMMAND_QUEUE

    def __init__(self, context: Context, device: Device, properties: QueueProperties) -> None:
        super().__init__()
        self.context = context
        self.device = device
        self.properties = properties
        self._commands: deque[tuple[Event, Sequence[Event], Work]] = deque()
        self._unfinished = 0
        self._worker: threading.Thread | None = None

    def enqueue(self, kind: CommandType, work: Work, waits: tuple[int, int], event_out: int, *,
                blocking: bool = False) -> None:
        """Append a command; with the API's lock.

        ``waits`` are the API's number of events and the address of their handles; the event's handle goes to
        ``event_out``, if that is not NULL.

        ``work`` keeps alive, as a closure, all objects that it uses. Raises :class:`ClError` for wrong events and,
        where it is ``blocking``, what the command failed with.
        """
        before = wait_list(*waits, self.context)
        event = Event(self.context, kind, self)
        self._commands.append((event, before, work))
        self._unfinished += 1
        if self._worker is None:
            self._worker = threading.Thread(target=self._run, name="fgpu command queue", daemon=True)
            self._worker.start()
        CHANGED.notify_all()
        if blocking:
            try:
                wait_until_over([event])
            except ClError:
                event.release()
                raise ClError(Status(event.status)) from None
        give_event(event, event_out)

    def finish(self) -> None:
        """Wait until all commands so far are over."""
        CHANGED.wait_for(lambda: self._unfinished == 0)

    def _run(self) -> None:
        """Run commands, in order, while there are any."""
        while True:
            with CHANGED:
                if not self._commands:
                    self._worker = None
                    return
                event, before, work = self._commands.popleft()
            self._execute(event, before, work)
            with CHANGED:
                self._unfinished -= 1
                CHANGED.notify_all()

    def _execute(self, event: Event, before: Sequence[Event], work: Work) -> None:
        try:
            wait_until_over(before)
            event.times[ProfilingInfo.SUBMIT] = time.monotonic_ns()
            event.advance(ExecutionStatus.SUBMITTED)
            event.times[ProfilingInfo.START] = time.monotonic_ns()
            event.advance(ExecutionStatus.RUNNING)
            seconds = work()
            end = time.monotonic_ns() if seconds is None else event.times[ProfilingInfo.START] + round(seconds * 1e9)
            event.times[ProfilingInfo.END] = end
            event.advance(ExecutionStatus.COMPLETE)
        except BaseException as error:
            event.advance(status_of(event.kind.name, error))


_INFO = {
    QueueInfo.CONTEXT: lambda queue: handle(queue.context),
    QueueInfo.DEVICE: lambda queue: handle(queue.device),
    QueueInfo.REFERENCE_COUNT: lambda queue: uint(queue.references),
    QueueInfo.PROPERTIES: lambda queue: ulong(queue.properties),
}


@entry("clCreateCommandQueue")
def create_command_queue(context: int, device: int, properties: int) -> CommandQueue:
    found = find(Context, context)
    target = find(Device, device)
    if target not in found.devices:
        raise ClError(Status.INVALID_DEVICE, "a device of another context")
    return CommandQueue(found, target, QueueProperties(properties))


@entry("clRetainCommandQueue")
def retain_command_queue(queue: int) -> None:
    find(CommandQueue, queue).retain()


@entry("clReleaseCommandQueue")
def release_command_queue(queue: int) -> None:
    find(CommandQueue, queue).release()


@entry("clGetCommandQueueInfo")
def get_command_queue_info(queue: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(CommandQueue, queue), name, value_size, value, size_ret)


@entry("clFlush")
def flush(queue: int) -> None:
    find(CommandQueue, queue)


@entry("clFinish")
def finish(queue: int) -> None:
    find(CommandQueue, queue).finish()
