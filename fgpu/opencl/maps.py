"""Buffers in the host's address space.

They are there always, so that a map is the device's memory itself. Only one made with CL_MEM_USE_HOST_PTR lies
elsewhere than the host wants it: a map copies it to there, unless the content may be lost, and the end of a map for
writing copies it back.
"""

import ctypes

from .buffers import Map
from .entry import entry
from .enums import CommandType, MapFlags, Status
from .objects import ClError, find
from .queues import CommandQueue
from .transfers import NO_READING, NO_WRITING, find_buffer

__all__ = ["enqueue_map_buffer", "enqueue_unmap_mem_object"]

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_READ = int(MapFlags.READ)
_INVALIDATE = int(MapFlags.WRITE_INVALIDATE_REGION)
_WRITES = int(MapFlags.WRITE | MapFlags.WRITE_INVALIDATE_REGION)


@entry("clEnqueueMapBuffer")
def enqueue_map_buffer(queue: int, buffer: int, blocking: int, flags: int, offset: int, size: int,
                       count: int, events: int, event: int) -> int:
    target = find(CommandQueue, queue)
    found = find_buffer(target, buffer,
                        (NO_READING if flags & _READ else 0) | (NO_WRITING if flags & _WRITES else 0))
    found.check_range(offset, size)
    if flags & ~(_READ | _WRITES) or (flags & _INVALIDATE and flags != _INVALIDATE):
        raise ClError(Status.INVALID_VALUE, f"there are no such flags of a map: 0x{flags:X}")
    at = found.host_pointer or found.place

    def work() -> None:
        # The host may have memory that cannot be written, of which the device has made nothing else.
        if found.host_pointer and not flags & _INVALIDATE and _memcmp(at + offset, found.place + offset, size):
            ctypes.memmove(at + offset, found.place + offset, size)

    target.enqueue(CommandType.MAP_BUFFER, work, (count, events), event, blocking=blocking != 0)
    found.maps.append(Map(at + offset, offset, size, flags != _READ))
    return at + offset


@entry("clEnqueueUnmapMemObject")
def enqueue_unmap_mem_object(queue: int, buffer: int, pointer: int, count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    found = find_buffer(target, buffer)
    ended = next((each for each in found.maps if each.pointer == pointer), None)
    if ended is None:
        raise ClError(Status.INVALID_VALUE, f"nothing of this buffer is mapped to 0x{pointer:x}")

    def work(mapped: Map = ended) -> None:
        if found.host_pointer and mapped.writes:
            ctypes.memmove(found.place + mapped.offset, pointer, mapped.length)

    target.enqueue(CommandType.UNMAP_MEM_OBJECT, work, (count, events), event)
    found.maps.remove(ended)
