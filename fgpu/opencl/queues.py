"""Command queues: the order of commands, and the threads that run those that nobody waits for.

A ready command (:mod:`.commands`) is run by a thread that waits for it, if there is one (in ``clFinish``,
``clWaitForEvents`` or a blocking call: no other thread has to wake up), or else, soon, by its queue's worker.
"""

import ctypes
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from .answers import answer, handle, uint, ulong
from .commands import Command, Work
from .contexts import Context
from .devices import Device
from .entry import entry
from .enums import CommandType, QueueInfo, QueueProperties, Status
from .events import Event, give_event, wait_list, wait_until_over
from .interrupts import pass_on
from .objects import LOCK, ClError, Object, find

__all__ = ["CommandQueue", "checked_properties"]

_PATIENCE_NS: Final = 1_000_000
"""How long a worker leaves a command that was not flushed to a thread that may wait for it."""
_PATIENCE: Final = _PATIENCE_NS / 1e9
_GLANCES: Final = 20
"""How often a worker looks, in that distance, for new commands before it sleeps until it is woken."""
_SECONDS_OF_LIFE: Final = 10.0
_OUT_OF_ORDER: Final = int(QueueProperties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
_PROFILED: Final = int(QueueProperties.PROFILING_ENABLE)
_ON_DEVICE: Final = 3 << 2
"""What later versions have."""


def _abandon(command: Command, event_out: int) -> None:
    """A command that will not be run, whose event the host may want all the same; with the lock held."""
    command.abandon()
    if event_out:
        give_event(command, event_out)


class CommandQueue(Object):
    """Commands for a device, and the thread that runs those that nobody waits for."""

    invalid = Status.INVALID_COMMAND_QUEUE

    def __init__(self, context: Context, device: Device, properties: int) -> None:
        super().__init__()
        self.context = context
        self.device = device
        self.properties = int(properties)
        self._unfinished: OrderedDict[Command, None] = OrderedDict()
        self._ready: OrderedDict[Command, None] = OrderedDict()
        self._last: Command | None = None           # unfinished, in a queue that is in order
        self._barrier: Command | None = None        # unfinished, in one that is not
        self._flushed_until = 0                     # commands queued before, in ns, are to run at once
        self._worker: threading.Thread | None = None
        self._worker_sleeps = False
        self._wake = threading.Condition(LOCK)

    @property
    def is_out_of_order(self) -> bool:
        """Whether commands wait for nothing but their wait lists and barriers."""
        return bool(self.properties & _OUT_OF_ORDER)

    @property
    def is_profiled(self) -> bool:
        """Whether commands from now on note their times."""
        return bool(self.properties & _PROFILED)

    @property
    def first(self) -> Command | None:
        """The oldest command that is not over."""
        return next(iter(self._unfinished), None)

    def enqueue(self, kind: CommandType, work: Work, waits: tuple[int, int], event_out: int, *,
                blocking: bool = False) -> None:
        """Append a command; with the API's lock held once, which is free while a ``blocking`` one is waited for.

        ``waits`` are the API's number of events and the address of their handles; the event's handle goes to
        ``event_out``, if that is not NULL.

        ``work`` keeps alive, as a closure, all objects that it uses. Raises :class:`ClError` for wrong events and,
        where it is ``blocking``, what the command failed with.
        """
        command = Command(self, kind, work, wait_list(*waits, self.context), is_wanted=event_out != 0)
        self._submit(command, event_out, blocking=blocking)

    def fail(self, kind: CommandType, event_out: int) -> None:
        """Give the host the event of a command that will not be run, if it wants one."""
        if event_out:
            with LOCK:
                command = Command(self, kind, lambda: None, (), is_wanted=True)
                self._append(command)
                _abandon(command, event_out)

    def synchronize(self, kind: CommandType, waits: Sequence[Event], event_out: int) -> None:
        """Append a marker or a barrier: it waits for ``waits`` or, if there are none, all commands before."""
        self._submit(Command(self, kind, lambda: None, waits, is_wanted=event_out != 0), event_out)

    def _submit(self, command: Command, event_out: int, *, blocking: bool = False) -> None:
        """Append a command and give the host its event; if a signal ends that, it is abandoned."""
        try:
            self._append(command, is_waited_for=blocking)
            if blocking:
                wait_until_over([command])
        except BaseException as error:
            pass_on(error, lambda: _abandon(command, event_out))
            if not isinstance(error, ClError):
                raise
            if event_out:
                command.release()
            raise ClError(Status(command.status)) from None
        if event_out:
            give_event(command, event_out)

    def _append(self, command: Command, *, is_waited_for: bool = False) -> None:
        before: list[Command] = []
        if not self.is_out_of_order:
            if self._last is not None:
                before.append(self._last)
        else:
            if command.waits_for_all:
                for other in reversed(self._unfinished):
                    before.append(other)
                    if other.waits_for_all:     # for those before it
                        break
            elif self._barrier is not None:
                before.append(self._barrier)
        self._unfinished[command] = None
        if not self.is_out_of_order:
            self._last = command
        elif command.kind is CommandType.BARRIER:
            self._barrier = command
        command.follow(before)
        if not command.is_unmet:
            self._ready[command] = None
            if not is_waited_for:
                self._call_worker(at_once=False)

    # -- what commands tell -----------------------------------------------------------------------

    def has_ready(self, command: Command) -> bool:
        """Whether nothing holds a command any more, and no thread runs it."""
        return command in self._ready

    def is_ready(self, command: Command) -> None:
        """Nothing holds a command any more."""
        self._ready[command] = None
        self._call_worker(at_once=command.queued <= self._flushed_until)

    def takes(self, command: Command) -> None:
        """A thread runs a command, or it is over."""
        self._ready.pop(command, None)

    def leaves(self, command: Command) -> None:
        """A command is over."""
        self._unfinished.pop(command, None)
        if self._last is command:
            self._last = next(reversed(self._unfinished), None)     # one that was abandoned leaves others behind
        if self._barrier is command:
            self._barrier = None

    # -- what the host asks -----------------------------------------------------------------------

    def flush(self) -> None:
        """Have the worker run all commands so far, as soon as they are ready."""
        self._flushed_until = time.monotonic_ns()
        if self._ready:
            self._call_worker(at_once=True)

    def finish(self) -> None:
        """Wait until all commands so far are over, failed or not."""
        with suppress(ClError):     # which the events tell
            wait_until_over(list(self._unfinished) if self._last is None else [self._last])

    def set_properties(self, properties: int) -> None:
        """Change how commands from now on are ordered and whether they are profiled."""
        if self.is_out_of_order and not properties & _OUT_OF_ORDER:
            barrier = Command(self, CommandType.BARRIER, lambda: None, (), is_wanted=False)
            self._append(barrier)
            self._last, self._barrier = barrier, None
        elif not self.is_out_of_order:
            self._last = None
        self.properties = properties

    def release(self) -> None:
        """One reference less; the commands are flushed with the last."""
        super().release()
        if self.references == 0:
            self.flush()
            self._wake.notify()     # the worker ends with the last command

    def after_fork(self) -> None:
        """No worker is there any more, and what ran in other threads will not be over."""
        self._worker = None
        self._worker_sleeps = False
        self._wake = threading.Condition(LOCK)      # for which a thread of the old process may wait
        for command in list(self._unfinished):
            if command.is_lost():
                command.end(int(Status.OUT_OF_RESOURCES))

    # -- the worker -------------------------------------------------------------------------------

    def _call_worker(self, *, at_once: bool) -> None:
        """Have the worker look for commands: at once, or when nobody else has run them for some time."""
        if self._worker is None:
            self._worker_sleeps = False
            self._worker = threading.Thread(target=self._run, name="fgpu command queue", daemon=True)
            try:
                self._worker.start()
            except RuntimeError:        # no threads any more, at the process's end: who waits runs them
                self._worker = None
        elif at_once or self._worker_sleeps:
            self._worker_sleeps = False
            self._wake.notify()

    def _run(self) -> None:
        """Run commands that are ready and that nobody has run for a while."""
        glances = 0
        with LOCK:
            while True:
                if self._is_due():
                    glances = 0
                    next(iter(self._ready)).run()
                elif not self._unfinished and self.references == 0:
                    break
                elif self._ready or glances < _GLANCES:
                    glances += 1
                    self._wake.wait(_PATIENCE)
                else:
                    glances = 0
                    self._worker_sleeps = True
                    is_woken = self._wake.wait(_SECONDS_OF_LIFE)
                    self._worker_sleeps = False
                    if not is_woken and not self._ready:
                        break
            self._worker = None

    def _is_due(self) -> bool:
        """Whether the worker shall not leave the next command to others any more."""
        return bool(self._ready) and next(iter(self._ready)).queued <= max(
            self._flushed_until, time.monotonic_ns() - _PATIENCE_NS)


_INFO = {
    QueueInfo.CONTEXT: lambda queue: handle(queue.context),
    QueueInfo.DEVICE: lambda queue: handle(queue.device),
    QueueInfo.REFERENCE_COUNT: lambda queue: uint(queue.references),
    QueueInfo.PROPERTIES: lambda queue: ulong(queue.properties),
}


def checked_properties(properties: int) -> int:
    """The properties of a queue. Raises :class:`ClError` for wrong ones."""
    if properties & ~(_OUT_OF_ORDER | _PROFILED):
        raise ClError(Status.INVALID_VALUE, f"0x{properties:X} are no properties of queues")
    return properties


@entry("clCreateCommandQueue")
def create_command_queue(context: int, device: int, properties: int) -> CommandQueue:
    found = find(Context, context)
    target = find(Device, device)
    if target not in found.devices:
        raise ClError(Status.INVALID_DEVICE, "a device of another context")
    return CommandQueue(found, target, checked_properties(properties))


@entry("clCreateCommandQueueWithProperties")
def create_command_queue_with_properties(context: int, device: int, properties: int) -> CommandQueue:
    found = find(Context, context)
    find(Device, device)
    wanted = 0
    while properties and (name := ctypes.c_uint64.from_address(properties).value):
        if name != QueueInfo.PROPERTIES:
            raise ClError(Status.INVALID_VALUE, f"0x{name:X} is no property of queues")
        wanted = ctypes.c_uint64.from_address(properties + ctypes.sizeof(ctypes.c_uint64)).value
        if wanted & _ON_DEVICE:
            raise ClError(Status.INVALID_QUEUE_PROPERTIES, "there are no queues on the device")
        properties += 2 * ctypes.sizeof(ctypes.c_uint64)
    return create_command_queue(found.handle, device, wanted)


@entry("clRetainCommandQueue")
def retain_command_queue(queue: int) -> None:
    find(CommandQueue, queue).retain()


@entry("clReleaseCommandQueue")
def release_command_queue(queue: int) -> None:
    find(CommandQueue, queue).release()


@entry("clGetCommandQueueInfo")
def get_command_queue_info(queue: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(CommandQueue, queue), name, value_size, value, size_ret)
