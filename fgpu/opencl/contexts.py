"""Contexts."""

from collections.abc import Sequence

from .answers import answer, handles, uint
from .devices import DEVICES, Device
from .entry import entry
from .enums import ContextInfo, Status
from .objects import ClError, Object, find, find_all

__all__ = ["Context"]


class Context(Object):
    """Devices that share memory objects, programs and events."""

    invalid = Status.INVALID_CONTEXT

    def __init__(self, devices: Sequence[Device]) -> None:
        super().__init__()
        self.devices = list(devices)


_INFO = {
    ContextInfo.REFERENCE_COUNT: lambda context: uint(context.references),
    ContextInfo.NUM_DEVICES: lambda context: uint(len(context.devices)),
    ContextInfo.DEVICES: lambda context: handles(context.devices),
}


@entry("clCreateContext")
def create_context(properties: int, count: int, devices: int, notify: int, user_data: int) -> Context:
    if not count or not devices:
        raise ClError(Status.INVALID_VALUE, "a context needs devices")
    return Context(find_all(Device, count, devices))


@entry("clCreateContextFromType")
def create_context_from_type(properties: int, kinds: int, notify: int, user_data: int) -> Context:
    return Context(DEVICES)


@entry("clRetainContext")
def retain_context(context: int) -> None:
    find(Context, context).retain()


@entry("clReleaseContext")
def release_context(context: int) -> None:
    find(Context, context).release()


@entry("clGetContextInfo")
def get_context_info(context: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(Context, context), name, value_size, value, size_ret)
