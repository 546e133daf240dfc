"""The API called without C between: each call as one of Python, with error codes as exceptions."""

import ctypes
from importlib import import_module

from fgpu.opencl.bridge import MODULES
from fgpu.opencl.entry import ENTRIES
from fgpu.opencl.enums import CommandType, Status
from fgpu.opencl.functions import FUNCTIONS, Result
from fgpu.opencl.interrupts import is_interrupted, set_interrupted
from fgpu.opencl.objects import LOCK, find
from fgpu.opencl.queues import CommandQueue

for _module in (*MODULES, "forks"):
    import_module(f"fgpu.opencl.{_module}")
_interrupted, _ending = ctypes.c_size_t(), ctypes.c_size_t()
set_interrupted(ctypes.addressof(_interrupted), ctypes.addressof(_ending))


class Failed(Exception):
    """A call returned ``status``."""

    def __init__(self, name, status):
        super().__init__(f"{name}: {Status(status).name}")
        self.status = Status(status)


def call(name, *arguments):
    """The result of a function of the API, which is not given the last ``errcode_ret``."""
    with_status = FUNCTIONS[name].result in (Result.OBJECT, Result.ADDRESS_AND_STATUS)
    status = ctypes.c_int32(99)
    result = ENTRIES[name](*map(address_of, arguments), *([ctypes.addressof(status)] if with_status else []))
    if is_interrupted():        # as the C library does
        _interrupted.value = 0
        raise KeyboardInterrupt
    code = status.value if with_status else result
    if code and FUNCTIONS[name].result is not Result.ADDRESS:
        raise Failed(name, code)
    return result


def address_of(argument):
    """What C has for an argument: an integer, or the address of an array's or a ctypes object's memory."""
    if argument is None:
        return 0
    if hasattr(argument, "ctypes"):
        return argument.ctypes.data
    return argument if isinstance(argument, int) else ctypes.addressof(argument)


def status_of(name, *arguments):
    """The error code of a call; SUCCESS where there is none."""
    try:
        call(name, *arguments)
    except Failed as failed:
        return failed.status
    return Status.SUCCESS


def sizes(*numbers):
    """An array of ``size_t``."""
    return (ctypes.c_size_t * len(numbers))(*numbers)


def out():
    """A place for a handle."""
    return ctypes.c_size_t(0)


def info(query, handle, name, kind=ctypes.c_size_t):
    """A ``clGet...Info``'s answer, of a ctypes type."""
    value = kind()
    call(query, handle, name, ctypes.sizeof(kind), value, 0)
    return value.value


def device():
    """The first device."""
    found = out()
    call("clGetDeviceIDs", 0, 0xFFFFFFFF, 1, found, 0)
    return found.value


def text_info(query, handle, name):
    """A ``clGet...Info``'s answer that is a text."""
    size = ctypes.c_size_t()
    call(query, handle, name, 0, 0, size)
    value = ctypes.create_string_buffer(size.value)
    call(query, handle, name, size.value, value, 0)
    return value.value.decode()


def texts(*strings):
    """An array of pointers to texts."""
    held = [ctypes.create_string_buffer(string.encode()) for string in strings]
    array = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
    array.held = held
    return array


def context():
    """A context of the first device."""
    return call("clCreateContext", 0, 1, ctypes.c_size_t(device()), 0, 0)


def queue(of, properties=0):
    """A command queue of a context."""
    return call("clCreateCommandQueue", of, device(), properties)


def hold(on, gate):
    """Enqueue a command that waits for a gate, a ``threading.Event``."""
    with LOCK:
        find(CommandQueue, on).enqueue(CommandType.MARKER, lambda: gate.wait() and None, (0, 0), 0)
