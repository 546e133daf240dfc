"""From C to Python: fills the C library's table of functions."""

import ctypes
from importlib import import_module
from typing import Any, Final

from .entry import ENTRIES
from .functions import FUNCTIONS, Function, Result
from .interrupts import hear_what_is_ignored, set_interrupted
from .objects import LOCK, set_dispatch

__all__ = ["MODULES", "attach"]

MODULES: Final = (
    "platforms", "devices", "device_info", "sub_devices", "contexts", "queues", "synchronization", "events",
    "buffers", "transfers", "rectangles", "maps", "native_kernels", "images",
    "programs", "builds", "kernels", "launches",
)
"""Those with functions of the API."""

_TYPES: Final = {"p": ctypes.c_size_t, "z": ctypes.c_size_t, "u": ctypes.c_uint32, "i": ctypes.c_int32,
                 "l": ctypes.c_uint64}
_callbacks: list[Any] = []      # C has their addresses: they live as long as the process


def prototype(function: Function) -> Any:
    """The ctypes type of a function of the API."""
    parameters = [_TYPES[letter] for letter in function.parameters]
    if function.result in (Result.OBJECT, Result.ADDRESS_AND_STATUS):
        parameters.append(ctypes.c_size_t)
    return ctypes.CFUNCTYPE(ctypes.c_int32 if function.result is Result.STATUS else ctypes.c_size_t, *parameters)


def attach(dispatch: int, platform: int, table: int, interrupted: int, ending: int = 0, unanswered: int = 0) -> None:
    """Write the address of each function's implementation to its slot in ``table``.

    ``dispatch`` is the address of the ICD's dispatch table, which handles lead to, ``platform`` the platform's
    handle, ``interrupted`` where the thread's number goes whose call a signal ended, ``ending`` where the signal's
    does, and ``unanswered`` where the thread's does if the call returned nothing; libraries that were installed
    before there were these lack them. Several threads may call this at once; a second library in the process is told
    that there is one.
    """
    with LOCK:
        if _callbacks:
            return
        set_dispatch(dispatch, platform)
        set_interrupted(interrupted, ending, unanswered)
        hear_what_is_ignored()
        for name in (*MODULES, "forks"):
            import_module(f"{__package__}.{name}")
        for name, called in ENTRIES.items():
            function = FUNCTIONS[name]
            callback = prototype(function)(called)
            _callbacks.append(callback)
            ctypes.c_void_p.from_address(table + 8 * function.slot).value = \
                ctypes.cast(callback, ctypes.c_void_p).value
