"""The functional engine: executes instructions, not cycles; the oracle for the hardware.

There are two of the same behaviour: one in NumPy, which says what is right, and one in C++, which is fast.
"""

import os
import warnings

from fgpu.config import Config
from fgpu.errors import ToolError
from fgpu.sim.engine import Engine
from fgpu.sim.memory import GlobalMemory

from .divergence import SCHEMES
from .engine import FunctionalEngine

__all__ = ["FunctionalEngine", "functional_engine"]

_KINDS = ("native", "numpy")


def functional_engine(config: Config, memory: GlobalMemory, kind: str | None = None) -> Engine:
    """The compiled engine (``native``), or the one in ``numpy`` where there is no compiler.

    ``kind``, or else the environment variable ``FGPU_FUNCTIONAL``, demands one of the two.
    Raises :class:`~fgpu.errors.ToolError` where it cannot be had.
    """
    kind = kind or os.environ.get("FGPU_FUNCTIONAL") or None
    if kind not in (None, *_KINDS):
        raise ToolError(f"FGPU_FUNCTIONAL must be {' or '.join(_KINDS)}, not {kind!r}")
    if config.divergence in SCHEMES:
        if kind == "native":
            raise ToolError(f"the compiled engine has no divergence={config.divergence!r}; "
                            "FGPU_FUNCTIONAL=numpy does")
        return FunctionalEngine(config, memory)
    if kind != "numpy":
        from .native.build import library
        from .native.engine import NativeEngine

        try:
            return NativeEngine(config, memory, library())
        except ToolError as error:
            if kind == "native":
                raise
            why = str(error).splitlines()[0]
            warnings.warn(f"the functional engine is the slow one, in NumPy: {why}", stacklevel=2)
    return FunctionalEngine(config, memory)
