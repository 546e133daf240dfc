"""Signals of a host that is Python: what their handlers raise while a call is here reaches the host."""

import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["Interrupted", "hear_what_is_ignored", "interrupting", "is_interrupted", "pass_on", "remember",
           "set_interrupted"]

_HERE: Final = os.path.dirname(__file__)
_ENTRY: Final = os.path.join(_HERE, "entry.py")


class Interrupted(BaseException):
    """The ``signal`` with that number ended a call that has given the host all that it returns."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.signal = signal


_interrupted, _ending, _unanswered = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()


def set_interrupted(thread: int, signal: int = 0, unanswered: int = 0) -> None:
    """Say at which addresses the C library wants the number of a thread whose call a signal ended, that of the
    signal, and the thread's once more if the call returned nothing; the last two if it wants to know.

    It interrupts that thread again when the call has returned: a callback of ctypes can raise nothing.
    """
    global _interrupted, _ending, _unanswered
    _interrupted = ctypes.c_size_t.from_address(thread)
    if signal:
        _ending = ctypes.c_size_t.from_address(signal)
    if unanswered:
        _unanswered = ctypes.c_size_t.from_address(unanswered)


def remember(number: int) -> None:
    """Have this thread's host hear of the signal ``number`` when the call returns."""
    _interrupted.value, _ending.value = threading.get_ident(), number


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


def hear_what_is_ignored() -> None:
    """Let a signal's exception reach the host, too, that a finalizer meets while a call is here: LLVM's objects have
    many, and Python only prints what they raise. So it does with what comes before the first line of a call."""
    print_it = sys.unraisablehook

    def hook(ignored: "UnraisableHookArgs") -> None:
        begin = ignored.exc_traceback
        is_entry = begin is not None and begin.tb_frame.f_code.co_filename == _ENTRY
        number = interrupting(ignored.exc_value) if ignored.exc_value and (is_entry or _is_in_call()) else 0
        if number:
            remember(number)
            if is_entry:
                _unanswered.value = threading.get_ident()
        else:
            print_it(ignored)

    sys.unraisablehook = hook


def _is_in_call() -> bool:
    frame = sys._getframe()
    while frame.f_code.co_filename != _ENTRY:
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return True
