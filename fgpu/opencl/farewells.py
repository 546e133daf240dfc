"""The host's callbacks at the end of memory objects.

An object ends wherever its last reference goes, perhaps with locks held that a callback of the host may need. So what
ends while the host releases something says farewell before that call returns; all else does so in a thread.
"""

import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Final

__all__ = ["after_fork", "bid_farewell", "farewells_here", "prepare_farewells"]

_Farewell = tuple[Sequence[Callable[[], object]], Callable[[], None]]

_waiting: Final[deque[_Farewell]] = deque()
_tokens: "SimpleQueue[None]" = SimpleQueue()    # one for each that waits; may be put to in any state of a thread
_here = threading.local()
_thread: threading.Thread | None = None


def prepare_farewells() -> None:
    """Start the thread: finalizers must not."""
    global _thread
    if _thread is None:
        _thread = threading.Thread(target=_call_others, name="fgpu destructor callbacks", daemon=True)
        _thread.start()


def after_fork() -> None:
    """In a new process: the thread is there again, if it was. The old one may have held the queue's lock."""
    global _thread, _tokens
    _tokens = SimpleQueue()
    for _ in list(_waiting):
        _tokens.put(None)
    if _thread is not None:
        _thread = None
        prepare_farewells()


def bid_farewell(callbacks: Sequence[Callable[[], object]], end: Callable[[], None]) -> None:
    """Have the callbacks called, the last one first, and then ``end``: soon, and without the API's lock."""
    waiting = getattr(_here, "waiting", None)
    if waiting is not None:
        waiting.append((callbacks, end))
    else:
        _waiting.append((callbacks, end))
        _tokens.put(None)


@contextmanager
def farewells_here() -> Iterator[None]:
    """What ends within says farewell at its end, in this thread."""
    if getattr(_here, "waiting", None) is not None:     # a callback releases another object
        yield
        return
    waiting: list[_Farewell] = []
    _here.waiting = waiting
    try:
        yield
        while waiting:
            _call(*waiting.pop(0))
    finally:
        _here.waiting = None


def _call(callbacks: Sequence[Callable[[], object]], end: Callable[[], None]) -> None:
    for callback in reversed(callbacks):
        try:
            callback()
        except BaseException as error:
            sys.stderr.write(f"fgpu: {''.join(traceback.format_exception(error))}")
    end()


def _call_others() -> None:
    while True:
        _tokens.get()
        _call(*_waiting.popleft())
