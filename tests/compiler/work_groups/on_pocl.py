"""The corpus on PoCL."""

import ctypes
from functools import cache

from ..fuzz.pocl import Argument, opencl
from .launches import Launch, source

__all__ = ["on_pocl"]


@cache
def _program(file: str) -> ctypes.c_void_p:
    return opencl().program(source(file))


def on_pocl(launch: Launch) -> list[Argument]:
    """The arguments afterwards. Raises OSError where there is no PoCL."""
    arguments = launch.arguments()
    opencl().launch(_program(launch.file), launch.name, launch.global_size, launch.local_size, arguments,
                    launch.global_offset)
    return arguments
