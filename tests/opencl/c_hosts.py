"""C programs that are linked to an ICD loader. No headers of OpenCL are needed: fgpu's table has the declarations."""

import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from fgpu.opencl.functions import FUNCTIONS, Function, Result
from fgpu.opencl.library.build import compiler, zig

__all__ = ["LOADERS", "compile_host", "declarations"]

_TYPES = {"p": "void *", "z": "size_t ", "u": "uint32_t ", "i": "int32_t ", "l": "uint64_t "}
_RESULTS = {Result.STATUS: "int32_t "}


def _bundled() -> Path | None:
    """The loader in pyopencl's wheel."""
    spec = find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return None
    return next((Path(spec.origin).parent / ".libs").glob("libOpenCL*"), None)


def _system() -> Path | None:
    """The system's loader."""
    return next((Path(folder) / "libOpenCL.so.1" for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
                 if (Path(folder) / "libOpenCL.so.1").exists()), None)


LOADERS: dict[str, Callable[[], Path | None]] = {"bundled": _bundled, "system": _system}
"""Loaders, where there are some; pyopencl always brings one."""


def declarations() -> str:
    """The API for C: every object and array is a ``void *``."""
    return "#include <stddef.h>\n#include <stdint.h>\n" + "".join(map(_declaration, FUNCTIONS.values()))


def _declaration(function: Function) -> str:
    parameters = [f"{_TYPES[letter]}".strip() for letter in function.parameters]
    if function.result in (Result.OBJECT, Result.ADDRESS_AND_STATUS):
        parameters.append("int32_t *")
    return f"{_RESULTS.get(function.result, 'void *')}{function.name}({', '.join(parameters) or 'void'});\n"


def compile_host(source: Path, loader: Path, output: Path) -> None:
    """Compile a program that uses OpenCL."""
    header = output.with_suffix(".h")
    header.write_text(declarations())
    command = [*(compiler() or zig()), "-std=gnu11", "-O1", "-Wall", "-include", header, "-o", output, source, loader,
               f"-Wl,-rpath,{loader.parent}", "-lpthread", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
