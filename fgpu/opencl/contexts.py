"""Contexts."""

import ctypes
from collections.abc import Sequence
from typing import Final

from .answers import answer, handles, sizes, uint
from .callbacks import call_back
from .devices import Device, of_type
from .entry import entry
from .enums import ContextInfo, ContextProperty, Status
from .objects import ClError, Object, find, find_all
from .platforms import Platform

__all__ = ["Context"]

_NOTIFY: Final = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class Context(Object):
    """Devices that share memory objects, programs and events.

    ``properties`` are as the host gave them, with their end. ``notify`` is the host's function for what goes wrong
    later, with its ``user_data``.
    """

    invalid = Status.INVALID_CONTEXT

    def __init__(self, devices: Sequence[Device], properties: Sequence[int] = (), notify: int = 0,
                 user_data: int = 0) -> None:
        super().__init__()
        self.devices = list(dict.fromkeys(devices))
        self.properties = tuple(properties)
        self._notify = notify
        self._user_data = user_data

    def notify(self, why: str) -> None:
        """Tell the host, if it wants that, what a command failed from; soon, from another thread."""
        if self._notify:
            call_back(lambda: _NOTIFY(self._notify)(why.encode(), None, 0, self._user_data))


def _properties(address: int) -> tuple[int, ...]:
    """The properties of a context, with the 0 at their end; none for NULL. Raises :class:`ClError` for wrong ones."""
    found: dict[int, int] = {}
    while address:
        name = ctypes.c_size_t.from_address(address).value
        if name == 0:
            return (*(word for pair in found.items() for word in pair), 0)
        value = ctypes.c_size_t.from_address(address + 8).value
        if name in found:
            raise ClError(Status.INVALID_PROPERTY, f"the property 0x{name:X} is there twice")
        if name == ContextProperty.PLATFORM:
            find(Platform, value)
        elif name != ContextProperty.INTEROP_USER_SYNC or value not in (0, 1):
            raise ClError(Status.INVALID_PROPERTY, f"the property 0x{name:X} with the value 0x{value:X}")
        found[name] = value
        address += 16
    return ()


def _check_notify(notify: int, user_data: int) -> None:
    if user_data and not notify:
        raise ClError(Status.INVALID_VALUE, "user data for no callback")


_INFO = {
    ContextInfo.REFERENCE_COUNT: lambda context: uint(context.references),
    ContextInfo.NUM_DEVICES: lambda context: uint(len(context.devices)),
    ContextInfo.DEVICES: lambda context: handles(context.devices),
    ContextInfo.PROPERTIES: lambda context: sizes(context.properties),
}


@entry("clCreateContext")
def create_context(properties: int, count: int, devices: int, notify: int, user_data: int) -> Context:
    listed = _properties(properties)
    if not count or not devices:
        raise ClError(Status.INVALID_VALUE, "a context needs devices")
    _check_notify(notify, user_data)
    return Context(find_all(Device, count, devices), listed, notify, user_data)


@entry("clCreateContextFromType")
def create_context_from_type(properties: int, kinds: int, notify: int, user_data: int) -> Context:
    listed = _properties(properties)
    _check_notify(notify, user_data)
    return Context(of_type(kinds), listed, notify, user_data)


@entry("clRetainContext")
def retain_context(context: int) -> None:
    find(Context, context).retain()


@entry("clReleaseContext")
def release_context(context: int) -> None:
    find(Context, context).release()


@entry("clGetContextInfo")
def get_context_info(context: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(Context, context), name, value_size, value, size_ret)
