"""What moves the content of memory objects."""

import ctypes

from .buffers import Buffer
from .entry import entry
from .enums import CommandType, MemFlags, Status
from .objects import ClError, find
from .queues import CommandQueue

__all__ = ["NO_READING", "NO_WRITING", "find_buffer"]

NO_READING = int(MemFlags.HOST_WRITE_ONLY | MemFlags.HOST_NO_ACCESS)
"""The flags of buffers that the host must not read, and"""
NO_WRITING = int(MemFlags.HOST_READ_ONLY | MemFlags.HOST_NO_ACCESS)
"""those that it must not write."""


def find_buffer(queue: CommandQueue, buffer: int, refused: int = 0) -> Buffer:
    """A command's buffer.

    Raises :class:`ClError` for none, one of another context than the queue's, and for one with ``refused`` flags.
    """
    found = find(Buffer, buffer)
    if found.context is not queue.context:
        raise ClError(Status.INVALID_CONTEXT, "a buffer of another context than the queue's")
    if found.flags & refused:
        raise ClError(Status.INVALID_OPERATION, f"the host may not: the buffer has {MemFlags(found.flags)!r}")
    return found


@entry("clEnqueueReadBuffer")
def enqueue_read_buffer(queue: int, buffer: int, blocking: int, offset: int, size: int, pointer: int,
                        count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    found = find_buffer(target, buffer, NO_READING)
    found.check_range(offset, size)
    _check_pointer(pointer)

    def work() -> None:
        ctypes.memmove(pointer, found.place + offset, size)

    target.enqueue(CommandType.READ_BUFFER, work, (count, events), event, blocking=blocking != 0)


@entry("clEnqueueWriteBuffer")
def enqueue_write_buffer(queue: int, buffer: int, blocking: int, offset: int, size: int, pointer: int,
                         count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    found = find_buffer(target, buffer, NO_WRITING)
    found.check_range(offset, size)
    _check_pointer(pointer)

    def work() -> None:
        ctypes.memmove(found.place + offset, pointer, size)

    target.enqueue(CommandType.WRITE_BUFFER, work, (count, events), event, blocking=blocking != 0)


def _check_pointer(pointer: int) -> None:
    if not pointer:
        raise ClError(Status.INVALID_VALUE, "NULL for the host's memory")
