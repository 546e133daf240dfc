"""The built-in functions as bitcode: compiled once for each version of the compiler, then kept on disk."""

import hashlib
import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import fgpu
from fgpu.errors import ToolError
from fgpu.store import kept_bytes, kept_files

from ..line_table import OWN

__all__ = ["BUILTINS", "CLANG_SECONDS", "SAMPLER", "SOURCES", "WIDE", "Library", "bitcode_files", "compiler_version",
           "functions"]

_HERE = Path(__file__).parent
_COMPILER = _HERE.parent
BUILTINS = _HERE / "builtins"
WIDE = ("half", "double_special", "double_arc", "double_hyperbolic", "double_trig", "double_exp", "double_wide",
        "double")
"""Those for numbers that few programs have: only they link them, before the others."""
_TARGETS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float")
SOURCES = {
    **{name: (f"{name}.cl",) for name in (
        *WIDE, "async_copy", "workitem", "geometric", "common", "math_fast", "math_native", "math_special",
        "math_log", "math_atan", "math_trig", "math_exp", "math_exact", "math_basic", "relational", "integer")},
    **{f"conversion_{to}": ("conversion.cl", f"-DTO={to}", *(["-DTO_HAS_FRACTIONS"] if to == "float" else []))
       for to in _TARGETS},
    "vector_data": ("vector_data.cl",),
}
"""The parts of the library, users before what they use: each is linked for what those before it lack. Their files and
clang's options for them. Half of all functions are conversions, of which a program has few."""
SAMPLER: Final = "__translate_sampler_initializer"
"""What clang calls for the value of a sampler."""
CLANG_SECONDS: Final = 600
"""What takes a second may take minutes on a busy machine, or when a program is suspended: this ends what hangs."""
_NAME = re.compile(r"@([\w.$]+)")
_DEFINED = re.compile(r"^define [^@\n]*@([\w.$]+)(.*?)^\}", re.M | re.S)
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
    names = tuple(f"{part}.bc" for part in SOURCES)

    def build(work: Path) -> dict[str, Any]:
        for (part, (source, *own)), name in zip(SOURCES.items(), names, strict=True):
            (work / name).write_bytes(_compiled([*clang, *(wide if part in WIDE else options), *own], source))
        return {}

    folder, _ = kept_files("builtins", _digest(decides), build, names)
    return [folder / name for name in names]


def functions(bitcode: bytes) -> tuple[set[str], set[str]]:
    """The names of the functions that a module has for others, and of those that it lacks."""
    from llvmlite import binding as llvm

    with llvm.parse_bitcode(bitcode, llvm.create_context()) as module:
        there: tuple[set[str], set[str]] = (set(), set())
        for function in module.functions:
            there[function.is_declaration].add(function.name)
        return there


def with_pure(bitcode: bytes, name: str) -> bytes:
    """A module that says of a function without a body that a call of it may be left out where nobody needs the
    result."""
    from llvmlite import binding as llvm

    with llvm.parse_bitcode(bitcode, llvm.create_context()) as module:
        for function in module.functions:
            if function.name == name:
                for attribute in ("memory", "nounwind", "willreturn"):     # memory(none)
                    function.add_function_attribute(attribute)
        content: bytes = module.as_bitcode()
        return content


class Library:
    """Parts of the built-in functions, of which a program is linked with those that it needs: to read all of them
    takes longer than the rest of most compilations."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)

    @cached_property
    def _index(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        """The part of each function, and which others it calls, if any."""
        parts, calls = json.loads(kept_bytes("builtin-names", self.paths[0].parent.name, self._made_index))
        return parts, calls

    def _made_index(self) -> bytes:
        from llvmlite import binding as llvm

        parts: dict[str, int] = {}
        calls: dict[str, list[str]] = {}
        for number, path in enumerate(self.paths):
            with llvm.parse_bitcode(path.read_bytes(), llvm.create_context()) as module:
                # All at once: LLVM numbers a module's values anew for each function that it prints.
                for name, body in _DEFINED.findall(str(module)):
                    parts[name] = number
                    calls[name] = sorted({*_NAME.findall(body)} - {name})
        return json.dumps([parts, {name: known for name, called in calls.items()
                                   if (known := [other for other in called if other in parts])}]).encode()

    def needed(self, names: Iterable[str]) -> list[Path]:
        """The parts that have the functions ``names``, and those that they use, in the order of linking."""
        parts, calls = self._index
        found: set[str] = set()
        ahead = [name for name in names if name in parts]
        while ahead:
            name = ahead.pop()
            if name not in found:
                found.add(name)
                ahead += calls.get(name, ())
        return [self.paths[part] for part in sorted({parts[name] for name in found})]


def _compiled(clang: Sequence[str], name: str) -> bytes:
    source = f'#line 1 "{OWN}/{_HERE.name}/{BUILTINS.name}/{name}"\n{(BUILTINS / name).read_text(encoding="utf-8")}'
    try:
        run = subprocess.run([*clang, "-I", str(BUILTINS)], input=source.encode(), capture_output=True,
                             timeout=CLANG_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"cannot compile the built-in functions of {name}: {error}") from None
    if run.returncode != 0:
        raise ToolError(f"cannot compile the built-in functions of {name}: {run.stderr.decode(errors='replace')}")
    return run.stdout
