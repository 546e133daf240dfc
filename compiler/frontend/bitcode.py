"""The built-in functions as bitcode: compiled once for each version of the compiler, then kept on disk."""

import hashlib
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fgpu.errors import ToolError
from fgpu.store import kept_files

from ..line_table import OWN

__all__ = ["BUILTINS", "SOURCES", "bitcode_files", "compiler_version"]

_HERE = Path(__file__).parent
_COMPILER = _HERE.parent
BUILTINS = _HERE / "builtins"
SOURCES = ("workitem.cl", "geometric.cl", "common.cl", "math_fast.cl", "math_special.cl", "math_log.cl",
           "math_atan.cl", "math_trig.cl", "math_exp.cl", "math_exact.cl", "math_basic.cl", "relational.cl",
           "integer.cl", "conversion.cl", "vector_data.cl")
"""The files, users before what they use: each is linked for what those before it lack."""
_TIMEOUT_SECONDS = 120


@cache
def compiler_version() -> str:
    """A digest of everything that decides what a program becomes: the compiler's files and its packages."""
    return _digest(path for path in _COMPILER.rglob("*") if path.suffix in (".py", ".h", ".cl"))


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(_COMPILER).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    for package in ("ziglang", "llvmlite"):
        digest.update(version(package).encode() + b"\0")
    return digest.hexdigest()[:32]


def bitcode_files(clang: Sequence[str]) -> list[Path]:
    """The library's bitcode; ``clang`` is the command that compiles standard input to standard output."""
    decides = [*BUILTINS.iterdir(), _HERE / "opencl.h", _HERE / "clang.py", _HERE / "bitcode.py"]
    names = tuple(f"{name}.bc" for name in SOURCES)

    def build(work: Path) -> dict[str, Any]:
        for source, name in zip(SOURCES, names, strict=True):
            (work / name).write_bytes(_compiled(clang, source))
        return {}

    folder, _ = kept_files("builtins", _digest(decides), build, names)
    return [folder / name for name in names]


def _compiled(clang: Sequence[str], name: str) -> bytes:
    source = f'#line 1 "{OWN}/{_HERE.name}/{BUILTINS.name}/{name}"\n{(BUILTINS / name).read_text(encoding="utf-8")}'
    try:
        run = subprocess.run([*clang, "-I", str(BUILTINS)], input=source.encode(), capture_output=True,
                             timeout=_TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"cannot compile the built-in functions of {name}: {error}") from None
    if run.returncode != 0:
        raise ToolError(f"cannot compile the built-in functions of {name}: {run.stderr.decode(errors='replace')}")
    return run.stdout
