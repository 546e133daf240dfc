"""What moves the content of memory objects."""

import ctypes
from typing import Final

from .buffers import Buffer
from .devices import memory
from .entry import entry
from .enums import CommandType, MemFlags, MigrationFlags, Status
from .objects import ClError, find
from .queues import CommandQueue

__all__ = ["NO_READING", "NO_WRITING", "check_pointer", "find_buffer"]

NO_READING: Final = int(MemFlags.HOST_WRITE_ONLY | MemFlags.HOST_NO_ACCESS)
"""The flags of buffers that the host must not read, and"""
NO_WRITING: Final = int(MemFlags.HOST_READ_ONLY | MemFlags.HOST_NO_ACCESS)
"""those that it must not write."""
_PATTERN_SIZES: Final = [1 << power for power in range(8)]
_MIGRATION_FLAGS: Final = int(MigrationFlags.HOST | MigrationFlags.CONTENT_UNDEFINED)


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
    check_pointer(pointer)

    def work() -> None:
        ctypes.memmove(pointer, found.place + offset, size)

    target.enqueue(CommandType.READ_BUFFER, work, (count, events), event, blocking=blocking != 0)


@entry("clEnqueueWriteBuffer")
def enqueue_write_buffer(queue: int, buffer: int, blocking: int, offset: int, size: int, pointer: int,
                         count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    found = find_buffer(target, buffer, NO_WRITING)
    found.check_range(offset, size)
    check_pointer(pointer)

    def work() -> None:
        ctypes.memmove(found.place + offset, pointer, size)

    target.enqueue(CommandType.WRITE_BUFFER, work, (count, events), event, blocking=blocking != 0)


def check_pointer(pointer: int) -> None:
    """Raise :class:`ClError` for NULL."""
    if not pointer:
        raise ClError(Status.INVALID_VALUE, "NULL for the host's memory")


@entry("clEnqueueCopyBuffer")
def enqueue_copy_buffer(queue: int, source: int, destination: int, source_offset: int, destination_offset: int,
                        size: int, count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    read = find_buffer(target, source)
    written = find_buffer(target, destination)
    read.check_range(source_offset, size)
    written.check_range(destination_offset, size)
    distance = (written.address + destination_offset) - (read.address + source_offset)
    if abs(distance) < size:
        raise ClError(Status.MEM_COPY_OVERLAP, f"{size} bytes to what begins {distance} bytes behind them")

    def work() -> None:
        ctypes.memmove(written.place + destination_offset, read.place + source_offset, size)

    target.enqueue(CommandType.COPY_BUFFER, work, (count, events), event)


@entry("clEnqueueFillBuffer")
def enqueue_fill_buffer(queue: int, buffer: int, pattern: int, pattern_size: int, offset: int, size: int,
                        count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    found = find_buffer(target, buffer)
    if not pattern or pattern_size not in _PATTERN_SIZES or offset % pattern_size or size % pattern_size:
        raise ClError(Status.INVALID_VALUE, f"{size} bytes at {offset} of {pattern_size} bytes each")
    found.check_range(offset, size, may_be_empty=True)
    import numpy as np

    repeated = np.frombuffer(ctypes.string_at(pattern, pattern_size), f"u{min(pattern_size, 8)}")

    def work() -> None:
        memory().view(found.address + offset, size).view(repeated.dtype).reshape(-1, repeated.size)[:] = repeated

    target.enqueue(CommandType.FILL_BUFFER, work, (count, events), event)


@entry("clEnqueueMigrateMemObjects")
def enqueue_migrate_mem_objects(queue: int, mem_count: int, mems: int, flags: int,
                                count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    if not mem_count or not mems or flags & ~_MIGRATION_FLAGS:
        raise ClError(Status.INVALID_VALUE, f"{mem_count} memory objects at 0x{mems:x}, flags 0x{flags:X}")
    for handle in (ctypes.c_size_t * mem_count).from_address(mems):
        find_buffer(target, handle)
    # All devices have one memory.
    target.enqueue(CommandType.MIGRATE_MEM_OBJECTS, lambda: None, (count, events), event)
