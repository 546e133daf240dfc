"""fgpu: a soft GPU for FPGAs.

The hardware in Amaranth, its simulation (:mod:`fgpu.sim`), a compiler for OpenCL C (:mod:`fgpu.compiler`) and
benchmarks (:mod:`fgpu.benchmarks`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiler import Image, compile_opencl
    from .config import Config
    from .sim import Device, LocalMemory

__all__ = ["Config", "Device", "Image", "LocalMemory", "__version__", "compile_opencl"]

__version__: str

_LATE = {"Config": "fgpu.config", "Device": "fgpu.sim", "Image": "fgpu.compiler", "LocalMemory": "fgpu.sim",
         "compile_opencl": "fgpu.compiler"}
"""Where names are that not everybody needs: nobody else waits for what they import."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fgpu")      # pyproject.toml says it, and nothing else
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
