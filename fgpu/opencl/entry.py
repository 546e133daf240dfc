"""What makes a Python function one of the API."""

import ctypes
import errno
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final, TypeVar

from fgpu.errors import MissingExtraError

from .enums import Status
from .functions import FUNCTIONS, Function, Result
from .interrupts import Interrupted, interrupting, is_interrupted, remember
from .objects import LOCK, ClError, Object

__all__ = ["ENTRIES", "entry", "status_of"]

_F = TypeVar("_F", bound=Callable[..., Any])

ENTRIES: Final[dict[str, Callable[..., int]]] = {}
"""What the C library calls, by the API's names. All parameters and results are integers; NULL is 0."""


def entry(name: str, *, locked: bool = True) -> Callable[[_F], _F]:
    """Register a function as the API's ``name``.

    It takes the API's parameters as integers, without a last ``errcode_ret``, and returns None (a status), an
    :class:`~.objects.Object` or an address, as :class:`~.functions.Result` says; errors are raised as
    :class:`~.objects.ClError`. It runs with the API's lock; what takes long (``locked=False``) takes the lock itself
    where it needs it.
    """
    function = FUNCTIONS[name]

    def register(implementation: _F) -> _F:
        if name in ENTRIES:
            raise AssertionError(f"{name} is there twice")
        ENTRIES[name] = _guarded(function, implementation, locked)
        return implementation

    return register


def _guarded(function: Function, implementation: Callable[..., Any], locked: bool) -> Callable[..., int]:
    """The implementation as C calls it: nothing is ever raised."""
    name = function.name
    gives_event = name.startswith("clEnqueue") and name not in ("clEnqueueBarrier", "clEnqueueWaitForEvents")
    is_question = name.startswith("clGet")
    lock = LOCK if locked else nullcontext()

    def status(*arguments: int) -> int:
        try:
            with lock:
                implementation(*arguments)
            return 0
        except BaseException as error:
            code = status_of(name, error)
            # The host, which is Python, hears of its signal when this returns; sooner if it has no error to raise.
            is_complete = isinstance(error, Interrupted) or not (arguments[-1] if gives_event else is_question)
            return 0 if is_complete and is_interrupted() else code

    def address(*arguments: int) -> int:
        try:
            with lock:
                return int(implementation(*arguments))
        except BaseException as error:
            status_of(name, error)
            return 0

    def with_status(*arguments: int) -> int:
        code = 0
        result = 0
        try:
            with lock:
                found = implementation(*arguments[:-1])
            result = found.handle if isinstance(found, Object) else found
        except BaseException as error:
            code = status_of(name, error)
            if isinstance(error, ClError) and error.result is not None:
                result = error.result.handle
        if arguments[-1]:
            ctypes.c_int32.from_address(arguments[-1]).value = code
        return result

    return {Result.STATUS: status, Result.ADDRESS: address}.get(function.result, with_status)


def status_of(where: str, error: BaseException) -> int:
    """The error code of an exception. With ``FGPU_OPENCL_LOG`` in the environment standard error tells it.

    A signal for which the host raised it comes again when the call has returned.
    """
    has_no_memory = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
    status = error.status if isinstance(error, ClError) else \
        Status.OUT_OF_HOST_MEMORY if has_no_memory else Status.OUT_OF_RESOURCES
    if number := interrupting(error):
        remember(number)
    elif has_no_memory:
        sys.stderr.write(f"fgpu: {where}: the host has no memory left: {error}\n")
    elif isinstance(error, MissingExtraError):
        sys.stderr.write(f"fgpu: {where}: {error}\n")
    elif not isinstance(error, ClError):    # a fault of ours
        sys.stderr.write(f"fgpu: {where}: {''.join(traceback.format_exception(error))}")
    elif os.environ.get("FGPU_OPENCL_LOG"):
        sys.stderr.write(f"fgpu: {where}: {error}\n")
    return int(status)
