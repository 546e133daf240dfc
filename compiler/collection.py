"""Garbage that is collected less often while a program is compiled."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["seldom_collected"]

_OBJECTS = 200_000
"""New ones, more than deleted ones, after which Python looks for garbage."""
_lock = Lock()
_depth = 0
_before: tuple[int, int, int] = gc.get_threshold()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """A compilation makes many objects that live long: with Python's thresholds, a third of its time goes by looking
    for garbage among them. Several threads may be in here."""
    global _depth, _before
    with _lock:
        if _depth == 0:
            _before = gc.get_threshold()
            if _before[0]:      # it is on
                gc.set_threshold(max(_OBJECTS, _before[0]), *_before[1:])
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                gc.set_threshold(*_before)
