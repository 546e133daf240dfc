"""Memory objects: buffers and parts of them."""

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from fgpu.errors import MemoryAccessError

from .answers import answer, handle, size, uint, ulong
from .contexts import Context
from .devices import ALIGNMENT, max_allocation, memory
from .entry import entry
from .enums import BufferCreateType, MemFlags, MemInfo, MemObjectType, Status
from .farewells import bid_farewell, farewells_here, prepare_farewells
from .objects import LOCK, ClError, Object, find

if TYPE_CHECKING:
    from .kernels import Argument

__all__ = ["Buffer", "Map", "check_flags"]

# As plain integers: operations of enumerations are slow.
_ACCESS: Final = int(MemFlags.READ_WRITE | MemFlags.WRITE_ONLY | MemFlags.READ_ONLY)
_POINTER: Final = int(MemFlags.USE_HOST_PTR | MemFlags.ALLOC_HOST_PTR | MemFlags.COPY_HOST_PTR)
_HOST_ACCESS: Final = int(MemFlags.HOST_WRITE_ONLY | MemFlags.HOST_READ_ONLY | MemFlags.HOST_NO_ACCESS)
_READ_WRITE: Final = int(MemFlags.READ_WRITE)
_USE: Final = int(MemFlags.USE_HOST_PTR)
_ALLOC: Final = int(MemFlags.ALLOC_HOST_PTR)
_TAKES_POINTER: Final = int(MemFlags.USE_HOST_PTR | MemFlags.COPY_HOST_PTR)
_MORE_ACCESS: Final = {int(MemFlags.WRITE_ONLY): int(MemFlags.READ_WRITE | MemFlags.READ_ONLY),
                       int(MemFlags.READ_ONLY): int(MemFlags.READ_WRITE | MemFlags.WRITE_ONLY)}
_MORE_HOST_ACCESS: Final = {
    int(MemFlags.HOST_WRITE_ONLY): int(MemFlags.HOST_READ_ONLY),
    int(MemFlags.HOST_READ_ONLY): int(MemFlags.HOST_WRITE_ONLY),
    int(MemFlags.HOST_NO_ACCESS): int(MemFlags.HOST_READ_ONLY | MemFlags.HOST_WRITE_ONLY)}
_DESTRUCTOR: Final = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)


@cache
def _shift() -> int:
    """From a device address to that of the same byte in this process."""
    return int(memory().bytes.ctypes.data) - memory().base


class Buffer(Object):
    """``size`` bytes of device memory at ``address``.

    The device's memory is in this process, at ``place``. With CL_MEM_USE_HOST_PTR the device has a copy of what is at
    ``host_pointer``; maps bring both together. What lies in a part of a buffer, its ``parent``, belongs to that.
    ``argument`` is what kernels get, once one did.
    """

    invalid = Status.INVALID_MEM_OBJECT

    def __init__(self, context: Context, flags: int, size: int, host_pointer: int = 0, *,
                 parent: "Buffer | None" = None, offset: int = 0) -> None:
        self._free: Callable[[int], None] | None = None
        self.farewells: list[Callable[[], object]] = []     # called before the memory is given back
        self.maps: list[Map] = []
        self.argument: Argument | None = None
        if parent is None:
            allocator = memory().allocator
            self.address = allocator.take(size)
            self._free = allocator.free
        else:
            self.address = parent.address + offset
        self.place = self.address + _shift()
        super().__init__()      # not before there is memory: from here on the host has it
        self.context = context
        self.flags = flags
        self.size = size
        self.host_pointer = host_pointer
        self.parent = parent
        self.offset = offset

    def __del__(self) -> None:
        if self.farewells and bid_farewell is not None:     # at the end of a process it may have gone
            bid_farewell(self.farewells, self._end)     # which keeps this alive until then
        else:
            self._end()

    def _end(self) -> None:
        if self._free is not None:
            self._free(self.address)
        super().__del__()

    def check_range(self, offset: int, length: int, *, may_be_empty: bool = False) -> None:
        """Raise :class:`ClError` where a range leaves the buffer, and for an empty one."""
        if not (length or may_be_empty) or offset + length > self.size:
            raise ClError(Status.INVALID_VALUE, f"{length} bytes at {offset} in a buffer of {self.size}")


class Map(NamedTuple):
    """A range of a buffer that is mapped to the host's memory at ``pointer``."""

    pointer: int
    offset: int
    length: int
    writes: bool


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
    if not 0 < size <= max_allocation():
        raise ClError(Status.INVALID_BUFFER_SIZE, f"{size} bytes; there may be 1 to {max_allocation()}")
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


@entry("clCreateSubBuffer")
def create_sub_buffer(buffer: int, flags: int, kind: int, region: int) -> Buffer:
    whole = find(Buffer, buffer)
    if whole.parent is not None:
        raise ClError(Status.INVALID_MEM_OBJECT, "a sub-buffer has no sub-buffers")
    check_flags(flags)
    if flags & _POINTER:
        raise ClError(Status.INVALID_VALUE, f"a sub-buffer takes over {MemFlags(flags & _POINTER)!r}")
    for some, there in ((_ACCESS, _MORE_ACCESS), (_HOST_ACCESS, _MORE_HOST_ACCESS)):
        if flags & there.get(whole.flags & some, 0):
            raise ClError(Status.INVALID_VALUE, f"{MemFlags(flags)!r} for a part of {MemFlags(whole.flags)!r}")
        if not flags & some:
            flags |= whole.flags & some
    flags |= whole.flags & _POINTER
    if kind != BufferCreateType.REGION or not region:
        raise ClError(Status.INVALID_VALUE, f"a region of kind 0x{kind:X} at 0x{region:x}")
    offset, length = (ctypes.c_size_t * 2).from_address(region)
    if not length:
        raise ClError(Status.INVALID_BUFFER_SIZE, "a sub-buffer of no bytes")
    whole.check_range(offset, length)
    if offset % ALIGNMENT:
        raise ClError(Status.MISALIGNED_SUB_BUFFER_OFFSET, f"{offset} is no multiple of {ALIGNMENT}")
    return Buffer(whole.context, flags, length, whole.host_pointer and whole.host_pointer + offset,
                  parent=whole, offset=offset)


_INFO = {
    MemInfo.TYPE: lambda buffer: uint(MemObjectType.BUFFER),
    MemInfo.FLAGS: lambda buffer: ulong(buffer.flags),
    MemInfo.SIZE: lambda buffer: size(buffer.size),
    MemInfo.HOST_PTR: lambda buffer: size(buffer.host_pointer),
    MemInfo.MAP_COUNT: lambda buffer: uint(len(buffer.maps)),
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


@entry("clReleaseMemObject", locked=False)
def release_mem_object(buffer: int) -> None:
    with LOCK:
        found = find(Buffer, buffer)
        if not found.farewells and found.parent is None:
            found.release()
            return
        del found
    with farewells_here():      # before this returns, where nothing else needs the buffer
        with LOCK:
            find(Buffer, buffer).release()


@entry("clSetMemObjectDestructorCallback")
def set_mem_object_destructor_callback(buffer: int, function: int, user_data: int) -> None:
    found = find(Buffer, buffer)
    if not function:
        raise ClError(Status.INVALID_VALUE, "no function")
    prepare_farewells()
    found.farewells.append(partial(_DESTRUCTOR(function), found.handle, user_data))
