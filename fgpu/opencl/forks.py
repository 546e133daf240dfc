"""The platform in a process that forks.

The new process has copies of all objects, of the devices' memory and of commands that wait, and goes on with them;
what other threads ran at that moment has failed there.
"""

import os
from contextlib import ExitStack

from . import callbacks, farewells, launches
from .devices import allocator_lock
from .objects import LOCK, alive

__all__: list[str] = []


_held = ExitStack()


def _before() -> None:
    LOCK.acquire()
    _held.enter_context(callbacks.LOCK)
    _held.enter_context(allocator_lock())


def _in_parent() -> None:
    _held.close()
    LOCK.release()


def _in_child() -> None:
    for found in alive():
        found.after_fork()
    callbacks.after_fork()
    farewells.after_fork()
    launches.after_fork()
    _in_parent()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
