"""The compiler's own library: routines in OpenCL C for what the machine has no instruction for."""

from functools import cache
from pathlib import Path

from .frontend import compile_to_ir
from .ir import Function

__all__ = ["PREFIX", "routine"]

PREFIX = "fgpu_"
"""What the names of routines start with; those for floating point go on with ``float_``."""
_LIBRARY = Path(__file__).parent / "library"


@cache
def _file(name: str) -> dict[str, Function]:
    path = _LIBRARY / name
    # At -O2 clang would put 64-bit multiplications back in for ours.
    return compile_to_ir(path.read_text(encoding="utf-8"), path.name, optimization="-O1").functions


def routine(name: str) -> Function | None:
    """The routine called ``name``, if there is one; its file is compiled when the first is asked for."""
    if not name.startswith(PREFIX):
        return None
    return _file("float.cl" if name.startswith(f"{PREFIX}float_") else "integer.cl").get(name)
