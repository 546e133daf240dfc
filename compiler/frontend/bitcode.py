"""The built-in functions as bitcode: compiled once for each version of the compiler, then kept on disk."""

import hashlib
import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fgpu
from fgpu.errors import ToolError
from fgpu.store import kept_files

from ..line_table import OWN

__all__ = ["BUILTINS", "SOURCES", "WIDE", "bitcode_files", "compiler_version"]

_HERE = Path(__file__).parent
_COMPILER = _HERE.parent
BUILTINS = _HERE / "builtins"
WIDE = ("half", "double_special", "double_arc", "double_hyperbolic", "double_trig", "double_exp", "double_wide",
        "double")
"""Those for numbers that few programs have: only they link them, before the others."""
SOURCES = (*(f"{name}.cl" for name in WIDE), "async_copy.cl", "workitem.cl", "geometric.cl", "common.cl",
           "math_fast.cl", "math_special.cl", "math_log.cl", "math_atan.cl", "math_trig.cl", "math_exp.cl",
           "math_exact.cl", "math_basic.cl", "relational.cl", "integer.cl", "conversion.cl", "vector_data.cl")
"""The files, users before what they use: each is linked for what those before it lack."""
_TIMEOUT_SECONDS = 120
_IMPORT = re.compile(r"^\s*from (?:(fgpu)\.|(\.+))([a-z_][\w.]*) import", re.M)


@cache
def compiler_version() -> str:
    """A digest of everything that decides what a program becomes: the compiler's files, what they import of the
    hardware's (instructions, timing, configuration) and the packages."""
    own = [path for path in _COMPILER.rglob("*") if path.suffix in (".py", ".h", ".cl")]
    return _digest([*own, *_imported(own)])


def _imported(files: Iterable[Path]) -> set[Path]:
    """The files of the hardware's package that ``files`` import, directly or not."""
    package = Path(fgpu.__file__).parent
    found: set[Path] = set()
    ahead = list(files)
    while ahead:
        path = ahead.pop()
        if path.suffix != ".py":
            continue
        # Reading all of them as Python would take longer than to find a program that was compiled before.
        for root, dots, name in _IMPORT.findall(path.read_text(encoding="utf-8")):
            if dots and not path.is_relative_to(package):
                continue    # among the compiler's own
            folder = package if root else path.parents[len(dots) - 1]
            other = folder.joinpath(*name.split(".")).with_suffix(".py")
            if other.is_file() and other not in found and not other.is_relative_to(_COMPILER):
                found.add(other)
                ahead.append(other)
    return found


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for name, path in sorted((f"{path.parent.name}/{path.name}", path) for path in paths):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    for package in ("ziglang", "llvmlite"):
        digest.update(version(package).encode() + b"\0")
    return digest.hexdigest()[:32]


def bitcode_files(clang: Sequence[str], options: Sequence[str] = (), wide: Sequence[str] = ()) -> list[Path]:
    """The library's bitcode; ``clang`` is the command that compiles standard input to standard output, with
    ``options``, or ``wide`` for those of :data:`WIDE`."""
    decides = [*BUILTINS.iterdir(), *(_HERE / name for name in ("opencl.h", "clang.py", "bitcode.py")),
               _COMPILER / "line_table.py"]
    names = tuple(f"{name}.bc" for name in SOURCES)

    def build(work: Path) -> dict[str, Any]:
        for source, name in zip(SOURCES, names, strict=True):
            more = wide if source.removesuffix(".cl") in WIDE else options
            (work / name).write_bytes(_compiled([*clang, *more], source))
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
