"""Compiling the functional engine, once for each kind of processor."""

import platform
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from fgpu.errors import ToolError
from fgpu.sim.testbench.build import Compiler, cached, compiled_by, digest, find_compiler

from .abi import Library, header

__all__ = ["library"]

_HERE = Path(__file__).parent
_FLAGS: Final = (
    "-std=c++20", "-O2", "-ftree-vectorize", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wno-psabi",
    "-Wno-ignored-attributes")
_LEVELS: Final = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
}
"""By the names of the x86-64 psABI: what Linux must say of a processor."""


def _level() -> str | None:
    """The best of the levels that this processor has."""
    try:
        with open("/proc/cpuinfo") as file:
            flags = next((set(line.split()) for line in file if line.startswith("flags")), set())
    except OSError:
        return None
    below = set.union(*_LEVELS.values()) & flags
    for name, needed in _LEVELS.items():
        if needed | (_LEVELS["x86-64-v3"]) <= below:
            return name
    return None


def _tuned(compiler: Compiler) -> tuple[Compiler, list[str]]:
    """The compiler, and the flags, for this processor."""
    level = _level() if platform.machine() in ("x86_64", "AMD64") else None
    if not compiler.version.startswith("zig "):
        return compiler, [] if level is None else [f"-march={level}"]
    # As a C compiler it does not build a C++ library, which would take minutes.
    words = {"c++": "cc", "-mcpu=baseline": f"-mcpu={(level or 'baseline').replace('-', '_')}"}
    return Compiler(tuple(words.get(word, word) for word in compiler.command), compiler.version), []


@lru_cache
def library(compiler: str | None = None) -> Library:
    """The engine, compiled if need be, which takes seconds.

    Raises :class:`~fgpu.errors.ToolError` where there is no compiler, and where it fails.
    """
    if sys.byteorder != "little":
        raise ToolError("the compiled functional engine is for little-endian machines")
    chosen, flags = _tuned(find_compiler(compiler))
    sources: list[str | Path] = [*sorted(_HERE.glob("*.h")), _HERE / "engine.cpp", header()]
    key = "functional-" + digest([*sources, *_FLAGS, *flags, *compiled_by(chosen)])

    def build(work: Path) -> dict[str, Any]:
        print("Compiling the functional engine, which takes some seconds and is kept", file=sys.stderr, flush=True)
        (work / "job.h").write_text(header())
        chosen.compile([(_HERE / "engine.cpp", ())], work / "functional.so",
                       flags=[*_FLAGS, *flags, f"-I{work}", f"-I{_HERE}"])
        return {"compiler": chosen.version}

    return Library(cached(key, "functional.so", build)[0])
