"""Objects of the API as Python keeps them: handles, reference counts and the lock."""

import ctypes
import threading
from typing import ClassVar, Final, TypeVar
from weakref import WeakValueDictionary

from .enums import Status

__all__ = ["CHANGED", "LOCK", "ClError", "Object", "alive", "find", "find_all", "platform_block", "set_dispatch"]

LOCK: Final = threading.RLock()
"""Held by every call of the API, but while it waits, compiles or calls back; never by a command that runs."""
CHANGED: Final = threading.Condition(LOCK)
"""Is notified when an event's status or a queue changes."""

_O = TypeVar("_O", bound="Object")


class ClError(Exception):
    """What makes a function of the API return ``status``; ``why`` is for people.

    ``result`` is an object that the host gets all the same.
    """

    def __init__(self, status: Status, why: str = "", result: "Object | None" = None) -> None:
        super().__init__(f"CL_{status.name}: {why}" if why else f"CL_{status.name}")
        self.status = status
        self.result = result


class _Block(ctypes.Structure):
    """What a handle points to. Loaders read the dispatch table's address from it."""

    _fields_ = [("dispatch", ctypes.c_void_p), ("reserved", ctypes.c_void_p)]


_dispatch = 0
_platform = 0
_blocks: list[_Block] = []      # all there ever were: a handle stays readable for ever
_free: dict[type["Object"], list[int]] = {}        # handles
_owned: dict[int, "Object"] = {}                                        # those that the host has references to
_alive: "WeakValueDictionary[int, Object]" = WeakValueDictionary()      # ... and those that others still need


def set_dispatch(address: int, platform: int) -> None:
    """Say where the C library has its dispatch table and the platform's block, before the first object is made."""
    global _dispatch, _platform
    _dispatch, _platform = address, platform


def platform_block() -> int:
    """The address of the platform's block in the C library, or 0."""
    return _platform


class Object:
    """Something that the host has a handle of. Made with one reference.

    When the host has released it, it lives on as long as other objects or commands refer to it, and its handle stays
    valid so long. ``__del__`` of a subclass frees what it holds, and calls this class's. The memory that a handle
    points to is used again only for objects of the same class.
    """

    invalid: ClassVar[Status]
    """What a call returns that is given no such object."""

    def __init__(self, block: int = 0) -> None:
        """``block`` is the address of one that there is already."""
        if not block:
            try:
                block = _free[type(self)].pop()
            except (KeyError, IndexError):
                made = _Block(_dispatch, None)
                _blocks.append(made)
                block = ctypes.addressof(made)
        self.handle = block
        self.references = 1
        _owned[block] = self

    def __del__(self) -> None:
        if hasattr(self, "handle") and _free is not None:      # at the end of a process it may have gone
            _free.setdefault(type(self), []).append(self.handle)

    def retain(self) -> None:
        """One reference of the host more."""
        self.references += 1
        _owned[self.handle] = self

    def release(self) -> None:
        """One reference of the host less. Raises :class:`ClError` where it has none."""
        if self.references == 0:
            raise ClError(self.invalid, "released more often than retained")
        self.references -= 1
        if self.references == 0:
            _alive[self.handle] = self
            del _owned[self.handle]

    def after_fork(self) -> None:
        """In a new process, with the API's lock: the threads of the old one are not there."""


def alive() -> list["Object"]:
    """All objects that have a handle."""
    return [*_owned.values(), *_alive.values()]


def find(kind: type[_O], handle: int) -> _O:
    """The object of a handle. Raises :class:`ClError` with the class's ``invalid`` for what is none."""
    found = _owned.get(handle) or _alive.get(handle)
    if not isinstance(found, kind):
        raise ClError(kind.invalid, f"0x{handle:x} is no {kind.__name__}")
    return found


def find_all(kind: type[_O], count: int, handles: int) -> list[_O]:
    """The objects of an array of ``count`` handles at an address."""
    return [find(kind, handle or 0) for handle in (ctypes.c_void_p * count).from_address(handles)] if count else []
