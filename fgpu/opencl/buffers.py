"""Memory objects: buffers and parts of them."""

import ctypes
from functools import cache
from typing import Final

from fgpu.errors import MemoryAccessError

from .answers import answer, handle, size, uint, ulong
from .contexts import Context
from .devices import memory
from .entry import entry
from .enums import MemFlags, MemInfo, MemObjectType, Status
from .objects import ClError, Object, find

__all__ = ["ALIGNMENT", "MAX_ALLOCATION", "Buffer", "host_place"]

MAX_ALLOCATION: Final = 1 << 28
"""Bytes of the largest buffer, CL_DEVICE_MAX_MEM_ALLOC_SIZE: a quarter of the memory."""
ALIGNMENT: Final = 128
"""Bytes: sub-buffers begin at a multiple of it, CL_DEVICE_MEM_BASE_ADDR_ALIGN says the same in bits."""

# As plain integers: operations of enumerations are slow.
_ACCESS: Final = int(MemFlags.READ_WRITE | MemFlags.WRITE_ONLY | MemFlags.READ_ONLY)
_POINTER: Final = int(MemFlags.USE_HOST_PTR | MemFlags.ALLOC_HOST_PTR | MemFlags.COPY_HOST_PTR)
_HOST_ACCESS: Final = int(MemFlags.HOST_WRITE_ONLY | MemFlags.HOST_READ_ONLY | MemFlags.HOST_NO_ACCESS)
_READ_WRITE: Final = int(MemFlags.READ_WRITE)
_USE: Final = int(MemFlags.USE_HOST_PTR)
_ALLOC: Final = int(MemFlags.ALLOC_HOST_PTR)
_TAKES_POINTER: Final = int(MemFlags.USE_HOST_PTR | MemFlags.COPY_HOST_PTR)


@cache
def _shift() -> int:
    """From a device address to that of the same byte in this process."""
    return int(memory().bytes.ctypes.data) - memory().base


def host_place(address: int) -> int:
    """Where this process has the byte at a device address."""
    return address + _shift()


class Buffer(Object):
    """``size`` bytes of device memory at ``address``.

    The device's memory is in this process, at ``place``. With CL_MEM_USE_HOST_PTR the device has a copy of what is at
    ``host_pointer``; maps bring both together. What lies in a part of a buffer, its ``parent``, belongs to that.
    """

    invalid = Status.INVALID_MEM_OBJECT

    def __init__(self, context: Context, flags: int, size: int, host_pointer: int = 0, *,
                 parent: "Buffer | None" = None, offset: int = 0) -> None:
        self._free = None
        super().__init__()
        self.context = context
        self.flags = flags
        self.size = size
        self.host_pointer = host_pointer
        self.parent = parent
        self.offset = offset
        if parent is None:
            allocator = memory().allocator
            self.address = allocator.take(size)
            self._free = allocator.free
        else:
            self.address = parent.address + offset
        self.place = self.address + _shift()

    def __del__(self) -> None:
        if self._free is not None:
            self._free(self.address)
        super().__del__()

    def check_range(self, offset: int, length: int) -> None:
        """Raise :class:`ClError` for an empty range and where it leaves the buffer."""
        if not length or offset + length > self.size:
            raise ClError(Status.INVALID_VALUE, f"{length} bytes at {offset} in a buffer of {self.size}")


def check_flags(flags: int) -> None:
    """Raise :class:`ClError` for flags that there are not, or not together."""
    if flags & ~(_ACCESS | _POINTER | _HOST_ACCESS):
        raise ClError(Status.INVALID_VALUE, f"there are no such flags of memory: 0x{flags:X}")
    access = flags & _ACCESS
    host = flags & _HOST_ACCESS
    if access & access - 1 or host & host - 1 or (flags & _USE and flags & _POINTER != _USE):
        raise ClError(Status.INVALID_VALUE, f"flags of memory that exclude each other: {MemFlags(flags)!r}")


@entry("clCreateBuffer")
def create_buffer(context: int, flags: int, size: int, host_pointer: int) -> Buffer:
    found = find(Context, context)
    check_flags(flags)
    if not 0 < size <= MAX_ALLOCATION:
        raise ClError(Status.INVALID_BUFFER_SIZE, f"{size} bytes; there may be 1 to {MAX_ALLOCATION}")
    if (host_pointer != 0) != (flags & _TAKES_POINTER != 0):
        raise ClError(Status.INVALID_HOST_PTR, f"host_ptr 0x{host_pointer:x} with {MemFlags(flags)!r}")
    try:
        made = Buffer(found, flags if flags & _ACCESS else flags | _READ_WRITE, size,
                      host_pointer if flags & _USE else 0)
    except MemoryAccessError as error:
        raise ClError(Status.MEM_OBJECT_ALLOCATION_FAILURE, str(error)) from None
    if host_pointer:
        ctypes.memmove(made.place, host_pointer, size)
    return made


_INFO = {
    MemInfo.TYPE: lambda buffer: uint(MemObjectType.BUFFER),
    MemInfo.FLAGS: lambda buffer: ulong(buffer.flags),
    MemInfo.SIZE: lambda buffer: size(buffer.size),
    MemInfo.HOST_PTR: lambda buffer: size(buffer.host_pointer),
    MemInfo.MAP_COUNT: lambda buffer: uint(0),
    MemInfo.REFERENCE_COUNT: lambda buffer: uint(buffer.references),
    MemInfo.CONTEXT: lambda buffer: handle(buffer.context),
    MemInfo.ASSOCIATED_MEMOBJECT: lambda buffer: handle(buffer.parent),
    MemInfo.OFFSET: lambda buffer: size(buffer.offset),
}


@entry("clGetMemObjectInfo")
def get_mem_object_info(buffer: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(Buffer, buffer), name, value_size, value, size_ret)


@entry("clRetainMemObject")
def retain_mem_object(buffer: int) -> None:
    find(Buffer, buffer).retain()


@entry("clReleaseMemObject")
def release_mem_object(buffer: int) -> None:
    find(Buffer, buffer).release()
