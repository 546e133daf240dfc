"""How ``clGet...Info`` answers: bytes, and where the host wants them."""

import ctypes
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .enums import Status
from .objects import ClError, Object

__all__ = ["answer", "boolean", "give", "give_handles", "handle", "handles", "size", "sizes", "text", "uint", "ulong"]


def uint(number: int) -> bytes:
    """A ``cl_uint``, ``cl_int`` or an enumeration."""
    return struct.pack("<I", number & 0xFFFFFFFF)


def boolean(value: object) -> bytes:
    """A ``cl_bool``."""
    return uint(bool(value))


def ulong(number: int) -> bytes:
    """A ``cl_ulong`` or a bit field."""
    return struct.pack("<Q", number)


def size(number: int) -> bytes:
    """A ``size_t`` or an address."""
    return struct.pack("<Q", number)


def sizes(numbers: Iterable[int]) -> bytes:
    """An array of ``size_t``."""
    return b"".join(map(size, numbers))


def handle(found: Object | None) -> bytes:
    """An object's handle, or NULL."""
    return size(0 if found is None else found.handle)


def handles(found: Iterable[Object]) -> bytes:
    """An array of handles."""
    return b"".join(map(handle, found))


def text(string: str | bytes) -> bytes:
    """A string with its end."""
    return (string.encode("utf-8", "surrogateescape") if isinstance(string, str) else string) + b"\0"


def answer(table: Mapping[Any, Callable[[Any], bytes]], subject: Object, name: int,
           value_size: int, value: int, size_ret: int) -> None:
    """Answer the query ``name`` about ``subject`` by ``table``. Raises :class:`ClError` for an unknown one."""
    if name not in table:
        raise ClError(Status.INVALID_VALUE, f"there is no information 0x{name:X} about a {type(subject).__name__}")
    give(table[name](subject), value_size, value, size_ret)


def give(found: bytes, value_size: int, value: int, size_ret: int) -> None:
    """Write what was found to ``value``, where it fits, and its length to ``size_ret``; either may be NULL."""
    if value:
        if value_size < len(found):
            raise ClError(Status.INVALID_VALUE, f"{value_size} bytes for an answer of {len(found)}")
        ctypes.memmove(value, found, len(found))
    if size_ret:
        ctypes.c_size_t.from_address(size_ret).value = len(found)


def give_handles(found: Iterable[Object], room: int, array: int, count_ret: int) -> None:
    """Write up to ``room`` handles to ``array`` and how many there are to ``count_ret``; either may be NULL."""
    listed = list(found)
    if array and not room:
        raise ClError(Status.INVALID_VALUE, f"an array at 0x{array:x} with room for {room}")
    if array == 0 and count_ret == 0:
        raise ClError(Status.INVALID_VALUE, "neither an array nor a place for the count")
    if array:
        packed = handles(listed[:room])
        ctypes.memmove(array, packed, len(packed))
    if count_ret:
        ctypes.c_uint32.from_address(count_ret).value = len(listed)
