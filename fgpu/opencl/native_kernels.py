"""The host's functions as commands."""

import ctypes

from .buffers import Buffer
from .entry import entry
from .enums import CommandType, Status
from .objects import ClError, find
from .queues import CommandQueue
from .transfers import find_buffer

__all__ = ["enqueue_native_kernel"]

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_size_t)


@entry("clEnqueueNativeKernel")
def enqueue_native_kernel(queue: int, function: int, arguments: int, size: int, mem_count: int, mems: int,
                          places: int, count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    if not function or (arguments == 0) != (size == 0) or (mem_count and not size) \
            or (mems == 0) != (mem_count == 0) or (places == 0) != (mem_count == 0):
        raise ClError(Status.INVALID_VALUE, f"{size} bytes of arguments at 0x{arguments:x}, {mem_count} buffers at "
                                            f"0x{mems:x} for 0x{places:x}, the function 0x{function:x}")
    copied = ctypes.create_string_buffer(ctypes.string_at(arguments, size), size or 1)
    buffers: list[Buffer] = []
    for index in range(mem_count):
        handle = ctypes.c_size_t.from_address(mems + 8 * index).value
        offset = ctypes.c_size_t.from_address(places + 8 * index).value - arguments
        if not 0 <= offset <= size - 8:
            raise ClError(Status.INVALID_VALUE, f"a buffer at byte {offset} of {size} of arguments")
        if handle:
            buffers.append(find_buffer(target, handle))
        ctypes.c_size_t.from_buffer(copied, offset).value = buffers[-1].place if handle else 0

    def work(needed: list[Buffer] = buffers) -> None:
        _FUNCTION(function)(ctypes.addressof(copied) if size else 0)

    target.enqueue(CommandType.NATIVE_KERNEL, work, (count, events), event)
