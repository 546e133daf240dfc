"""The thread that calls the host back.

A thread of our own, as the host may hold its own locks while it waits in a call; and without the API's lock, so that
what is called may call the API.
"""

import ctypes
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable
from typing import Final

__all__ = ["EVENT_NOTIFY", "LOCK", "NOTIFY", "after_fork", "call_back"]

NOTIFY: Final = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)
"""Callbacks with an object's handle and the host's ``user_data``."""
EVENT_NOTIFY: Final = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_int32, ctypes.c_size_t)
"""Callbacks with an event's handle, its status and the host's ``user_data``."""

_waiting: Final[deque[Callable[[], object]]] = deque()
LOCK: Final = threading.RLock()
"""May be taken with the API's lock, not the other way round."""
_changed = threading.Condition(LOCK)
_thread: threading.Thread | None = None
_SECONDS_OF_LIFE = 10.0


def call_back(action: Callable[[], object]) -> None:
    """Have the thread do something: in the order of these calls, and soon."""
    global _thread
    with LOCK:
        _waiting.append(action)
        if _thread is None:
            _thread = threading.Thread(target=_run, name="fgpu callbacks", daemon=True)
            _thread.start()
        else:
            _changed.notify()


def after_fork() -> None:
    """In a new process: a thread starts with the next callback, and no other waits."""
    global _thread, _changed
    _thread = None
    _changed = threading.Condition(LOCK)


def _run() -> None:
    global _thread
    while True:
        with LOCK:
            if not _waiting and not _changed.wait(_SECONDS_OF_LIFE) and not _waiting:
                _thread = None
                return
            action = _waiting.popleft() if _waiting else None
        try:
            if action is not None:
                action()
        except BaseException as error:      # ours: what is called is C, which raises nothing
            sys.stderr.write(f"fgpu: callback: {''.join(traceback.format_exception(error))}")
        action = None                       # keeps objects alive
