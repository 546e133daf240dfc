"""What makes a Python function one of the API."""

import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from types import CodeType
from typing import Any, Final, TypeVar

from fgpu.errors import MissingExtraError

from .enums import Status
from .functions import FUNCTIONS, Function, Result
from .objects import LOCK, ClError, Object

__all__ = ["ENTRIES", "Interrupted", "entry", "interrupting", "is_interrupted", "pass_on", "set_interrupted",
           "status_of"]

_F = TypeVar("_F", bound=Callable[..., Any])
_HERE: Final = os.path.dirname(__file__)

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


class Interrupted(BaseException):
    """The ``signal`` with that number ended a call that has given the host all that it returns."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.signal = signal


_interrupted, _ending = ctypes.c_size_t(), ctypes.c_size_t()


def set_interrupted(thread: int, signal: int = 0) -> None:
    """Say at which addresses the C library wants the number of a thread whose call a signal ended, and that of the
    signal, if it wants to know.

    It interrupts that thread again when the call has returned: a callback of ctypes can raise nothing.
    """
    global _interrupted, _ending
    _interrupted = ctypes.c_size_t.from_address(thread)
    if signal:
        _ending = ctypes.c_size_t.from_address(signal)


def is_interrupted() -> bool:
    """Whether a signal ended something in this thread, whose host will hear of it when the call returns."""
    return _interrupted.value == threading.get_ident()


def interrupting(error: BaseException) -> int:
    """The number of the signal for which the host, which is Python, raised an exception while a call of it was here:
    Ctrl-C, or one with a handler that raises. 0 if no signal did."""
    if isinstance(error, Interrupted):
        return error.signal
    if isinstance(error, KeyboardInterrupt):
        return signal.SIGINT
    if is_interrupted():
        return _ending.value
    if threading.current_thread() is not threading.main_thread():
        return 0
    ran: set[CodeType] = set()
    cause: BaseException | None = error
    while cause is not None:        # ours may have made another of it
        ran |= {frame.f_code for frame, _ in traceback.walk_tb(cause.__traceback__)}
        cause = cause.__context__
    if all(code.co_filename.startswith(_HERE) for code in ran):     # as for most errors
        return 0
    return next((number for number in signal.valid_signals() if _code(signal.getsignal(number)) in ran), 0)


def pass_on(error: BaseException, complete: Callable[[], object]) -> None:
    """If a signal of the host's ended a call, ``complete`` what it returns, and raise :class:`Interrupted`."""
    if number := interrupting(error):
        complete()
        raise Interrupted(number) from None


def _code(handler: object) -> CodeType | None:
    """What runs when a handler of signals is called, if that is Python."""
    handler = getattr(handler, "func", handler)     # a partial's
    for each in (handler, vars(type(handler)).get("__call__")):
        if isinstance(code := getattr(each, "__code__", None), CodeType):
            return code
    return None


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
    status = error.status if isinstance(error, ClError) else \
        Status.OUT_OF_HOST_MEMORY if isinstance(error, MemoryError) else Status.OUT_OF_RESOURCES
    if number := interrupting(error):
        _interrupted.value, _ending.value = threading.get_ident(), number
    elif isinstance(error, MissingExtraError):
        sys.stderr.write(f"fgpu: {where}: {error}\n")
    elif not isinstance(error, ClError):    # a fault of ours
        sys.stderr.write(f"fgpu: {where}: {''.join(traceback.format_exception(error))}")
    elif os.environ.get("FGPU_OPENCL_LOG"):
        sys.stderr.write(f"fgpu: {where}: {error}\n")
    return int(status)
