"""OpenCL C to optimized LLVM IR: clang, its options and its diagnostics."""

import enum
import re
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from fgpu.errors import CompileError, ToolError
from fgpu.files import cache_directory

from ..ir.module import Module
from ..line_table import OWN
from ..work_groups import BARRIERS
from .bitcode import CLANG_SECONDS, SAMPLER, Library, bitcode_files, functions, with_pure
from .diagnostics import explained, separated
from .options import LENIENT, accepted
from .reader import read_module

__all__ = ["HEADER", "UNROLLED", "Bitcode", "Size", "Unoptimized", "builtins", "compile_to_bitcode",
           "compile_unit", "optimize", "read_ir"]

_HERE = Path(__file__).parent
HEADER = _HERE / "opencl.h"
_ANY_BODY = 100_000
_SMALL_BODY = -20
"""Up to which size functions are inlined, in LLVM's units: five for an instruction, less what the call would cost."""
UNROLLED = 4
"""Copies of the body in an unrolled loop: they share a counter and a branch, and their loads do not wait for each
other."""
_UNROLLED_BODY = 80
"""Up to which size together, in LLVM's units, about one for an instruction: beside more, counting costs little."""
_ALL_STATIC = "#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)"
"""Nobody else calls a program's functions, and inline ones have no body elsewhere. Kernels are `used`: opencl.h."""
_ALL_STATIC_END = "#pragma clang attribute pop"
_KEPT = "__fgpu_kept_"
"""What the aliases that keep some kernels have before the names. LLVM calls the kernels so, too."""
_BYTE_ORDER_MARK = "\ufeff"
"""What some editors begin a file with."""
_EXTENSIONS = (
    "cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics", "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics", "cl_clang_storage_class_specifiers",
    "__cl_clang_bitfields",
)
_WIDTHS = {"cl_khr_fp64": re.compile(r"error:.*(double|fp64|'DBL_|'HUGE_VAL')"),
           "cl_khr_fp16": re.compile(r"error:.*(half|fp16|'HALF_|'M_\w+_H')|note: field of illegal type '.*half")}
"""What clang is told to support once it says in such a message that the program needs it. Without, numbers like 1.5
are of type float, as on machines that have no other, and `sqrt(2)` is not ambiguous."""
_NEEDLESS = re.compile(rf"warning: unsupported OpenCL extension '({'|'.join(_WIDTHS)})'")
"""What clang says of a program that enables these types, but does not need them."""
_STRING = re.compile(r'"(\\.|[^"\\\n])*"')
_PRINTED_DOUBLE = re.compile(r"\bprintf\s*\([^;]*?(?<![\w.])((\d+\.\d*|\.\d+)(e[+-]?\d+)?|\d+e[+-]?\d+)(?![\w.])",
                             re.IGNORECASE)
"""Who prints such a number wants to see all its digits."""
_LATER = {"ctz": re.compile(r"error:.* undeclared (?:identifier|function) 'ctz'")}
"""Functions of later versions that are declared only once clang misses them: programs may have their own."""
_AMBIGUOUS = "' is ambiguous"
_NO_PROMISES = ("-Drestrict=", "-D__restrict=", "-D__restrict__=", "-Wno-macro-redefined")
"""Without the promise that nobody else accesses what a pointer points to, by which LLVM would move accesses over
barriers."""
_RESTRICT = re.compile("restrict|include")


def _zig() -> str:
    """The program of the package ``ziglang``, which has clang: a Python to start it would take longer than most
    programs to compile."""
    spec = find_spec("ziglang")
    folder = spec.submodule_search_locations if spec is not None else None
    return str(Path(folder[0], "zig")) if folder else "zig"


_DRIVER = (_zig(), "clang", "-target", "spir-unknown-unknown", "-emit-llvm", "-c")
_LANGUAGE = (
    "-x", "cl", "-cl-std=CL1.2", "-cl-no-stdinc", "-nostdinc", "-gline-tables-only", "-cl-kernel-arg-info",
    # Files are called as they were given, wherever that was, and the compiler's own as they are imported.
    "-fdebug-compilation-dir=.", f"-fdebug-prefix-map={_HERE.parent}={OWN}",
    # Signed integers wrap: what the hardware does, and what kernels ported from elsewhere count on.
    "-fwrapv",
    # Programs look at memory by pointers to other types, as the built-in functions do at halves.
    "-fno-strict-aliasing",
    # Every product and every sum is rounded, in whatever expression it stands: as other machines do it.
    "-ffp-contract=off",
    # Conversions to integers give the nearest one, of constants, too.
    "-fno-strict-float-cast-overflow",
    "-fno-caret-diagnostics",
    # The functions of chapter 6.12 are declared when they are looked up.
    "-Xclang", "-fdeclare-opencl-builtins",
    *(f"-Wno-error={name}" for name in LENIENT),
    # Whoever enables doubles without need of them has floats all the same.
    "-Wno-error=ignored-pragmas",
    "-Wno-spir-compat", "-Wno-unused-command-line-argument", "-include", str(HEADER),
)
_OPTIMIZER = (
    "-fno-color-diagnostics", "-fno-vectorize", "-fno-slp-vectorize",
    # No memcpy, memset or tables for checksums made of loops and stores: there is no library to call.
    "-fno-builtin", "-mllvm", "-disable-loop-idiom-all",
    # One load of a vector is better than a load of each element.
    "-mllvm", "-disable-vector-combine",
    "-mllvm", "-inlinecold-threshold=100000",
    # Closed forms of loops are computed in integers wider than a register.
    "-mllvm", "-replexitval=never",
    # A divergent branch splits the wavefront for good, so a select is worth several instructions.
    "-mllvm", "-two-entry-phi-node-folding-threshold=12", "-mllvm", "-phi-node-folding-threshold=12",
    "-mllvm", "-speculate-one-expensive-inst=true",
)
_CLANG = (*_DRIVER, *_LANGUAGE, *_OPTIMIZER)
_NO_PASSES = ("-Xclang", "-disable-llvm-passes")
_UNOPTIMIZED = ("-D__FGPU_SOME_KERNELS", "-O2", *_NO_PASSES)


class Size(enum.Enum):
    """How much code RAM programs may take for their speed."""

    LARGE = "every function inlined, and loops unrolled"
    MEDIUM = "every function inlined"
    SMALL = "functions are subroutines unless a call takes as much"

    def options(self) -> list[str]:
        """Clang's."""
        body = _SMALL_BODY if self is Size.SMALL else _ANY_BODY
        options = [f"-inline-threshold={body}"]
        if self is Size.LARGE:
            options += ["-unroll-runtime", f"-unroll-max-count={UNROLLED}",
                        f"-unroll-partial-threshold={_UNROLLED_BODY}"]
        return [part for option in options for part in ("-mllvm", option)]


def _supporting(extensions: Collection[str]) -> list[str]:
    """Clang's options for some of the ``_WIDTHS``."""
    return ["-Xclang", f"-cl-ext=-all,{','.join(f'+{name}' for name in (*_EXTENSIONS, *extensions))}",
            *(f"-D__FGPU_{name}" for name in extensions),
            # Numbers like 1.5 are floats where there are no doubles; so clang does not warn of each.
            *([] if "cl_khr_fp64" in extensions else ["-cl-single-precision-constant"])]


_libraries: dict[Path, Library] = {}
"""By the cache folder."""


def builtins() -> Library:
    """The built-in functions, to link programs with: checked once in a process, unless they vanish."""
    folder = cache_directory()
    library = _libraries.get(folder)
    if library is None or not all(path.exists() for path in library.paths):
        library = _libraries[folder] = Library(_bitcode_files())
    return library


def _bitcode_files() -> list[Path]:
    return bitcode_files([*_CLANG, *Size.MEDIUM.options(), "-O1", "-Wno-tautological-constant-out-of-range-compare",
                          "-o", "-", "-"], _supporting(()), _supporting(_WIDTHS))


def _quoted(filename: str) -> str:
    """As between quotes in C."""
    return filename.replace("\\", "\\\\").replace('"', '\\"')


def _wrapped(source: str, filename: str, is_library: bool, kernels: Sequence[str]) -> str:
    source = source.removeprefix(_BYTE_ORDER_MARK)
    named = f'#line 1 "{_quoted(filename)}"\n{source}'
    kept = "".join(f'extern void {_KEPT}{kernel}(void) __attribute__((alias("{kernel}")));\n' for kernel in kernels)
    # A backslash may be the last character; what is missing at the end is missed in the last line.
    return named if is_library else \
        f"{_ALL_STATIC}\n{named}\n\n#line {max(1, len(source.splitlines()))}\n{_ALL_STATIC_END}\n{kept}"


class Bitcode(NamedTuple):
    """What clang makes of a program, and what it warns of."""

    code: bytes
    warnings: tuple[str, ...]


def compile_to_bitcode(source: str, filename: str, options: Sequence[str] = (), optimization: str = "-O2",
                       library: Library | None = None, size: Size = Size.MEDIUM, is_library: bool = False,
                       kernels: Sequence[str] = ()) -> Bitcode:
    """Run clang on ``source`` and link what it calls of ``library``.

    Most bodies take less time than a call and its moves, and most loops less than their counting: ``size``.
    What no kernel calls is left out, unless this ``is_library``, and so may be kernels other than ``kernels``, if
    those are given.
    Its errors become a :class:`~fgpu.errors.CompileError`.
    """
    options = accepted(options)
    kernels = kernels if all(map(str.isidentifier, kernels)) else ()
    code = _wrapped(source, filename, is_library, kernels).encode()
    # What is needed of the library is known once clang has read the program.
    is_linked_later = library is not None and not is_library

    def run(extensions: Collection[str], defined: Sequence[str]) -> _Answer:
        linked = _linking(library.paths) if library is not None and is_library else []
        return _run_clang([*_CLANG, *_supporting(extensions), *size.options(), optimization, *linked,
                           *(_NO_PASSES if is_linked_later else ()), *defined, *options,
                           *(["-D__FGPU_SOME_KERNELS"] if kernels else [])], code, filename)

    (status, bitcode, messages), _ = _as_wide_as_needed(run, options, tries=not is_library)
    if status and kernels and "alias must point to a defined" in messages:      # one is of another source, or of none
        return compile_to_bitcode(source, filename, options, optimization, library, size, is_library)
    _check(status, messages)
    if _promises_too_much(source, options, bitcode):
        options = [*options, *_NO_PROMISES]
        return compile_to_bitcode(source, filename, options, optimization, library, size, is_library, kernels)
    return Bitcode(optimize(bitcode, size, optimization) if is_linked_later else bitcode,
                   separated(explained(_without_ours(messages))))


@dataclass(frozen=True)
class Unoptimized:
    """What clang makes of one of a program's sources before anything is linked or optimized."""

    bitcode: bytes
    declared: bytes
    """The same with all that the source says of parameters."""
    extensions: tuple[str, ...]
    """Types beyond those of every program: ``cl_khr_fp64``."""
    log: str
    """Warnings."""


def compile_unit(source: str, filename: str, options: Sequence[str] = (), folder: Path | None = None) -> Unoptimized:
    """Run clang on ``source``. Its errors become a :class:`~fgpu.errors.CompileError`.

    What it includes between quotes is looked for in ``folder`` before the working directory.
    """
    options = accepted(options)
    here = [] if folder is None else ["-iquote", str(Path.cwd())]
    if folder is not None:
        options = [f"-I{Path.cwd() / option[2:]}" if option.startswith("-I") else option for option in options]
    text = f'#line 1 "{_quoted(filename)}"\n{source.removeprefix(_BYTE_ORDER_MARK)}\n'
    code = text.encode("utf-8", "surrogateescape")

    def run(extensions: Collection[str], defined: Sequence[str]) -> _Answer:
        return _run_clang([*_CLANG, *_UNOPTIMIZED, *_supporting(extensions), *defined, *options, *here], code,
                          filename, folder)

    has_doubles = _PRINTED_DOUBLE.search(_STRING.sub('""', source)) and "-cl-single-precision-constant" not in options
    (status, bitcode, messages), extensions = _as_wide_as_needed(run, options, ["cl_khr_fp64"] if has_doubles else [])
    _check(status, messages)
    made = Unoptimized(bitcode, bitcode, tuple(extensions), explained(_without_ours(messages)))
    if _promises_too_much(source, options, bitcode):
        return replace(made, bitcode=compile_unit(source, filename, [*options, *_NO_PROMISES], folder).bitcode)
    return made


def optimize(bitcode: bytes, size: Size, optimization: str = "-O2") -> bytes:
    """Link what clang made of a program, in which only kernels are external, with the built-in functions that it
    calls, and optimize it."""
    _, lacking = functions(bitcode)
    if SAMPLER in lacking:     # macros have samplers for buffers, too
        bitcode = with_pure(bitcode, SAMPLER)
    status, optimized, messages = _run_clang([*_DRIVER, "-x", "ir", *_OPTIMIZER, *size.options(), optimization,
                                              *_linking(builtins().needed(lacking))], bitcode, "the program")
    _check(status, messages)
    return optimized


_Answer = tuple[int, bytes, str]
"""Clang's status, bitcode and messages."""


def _run_clang(command: Sequence[str], code: bytes, filename: str, folder: Path | None = None) -> _Answer:
    try:
        run = subprocess.run([*command, "-o", "-", "-"], capture_output=True, input=code, timeout=CLANG_SECONDS,
                             check=False, cwd=folder)
    except OSError as error:
        raise ToolError(f"cannot run clang: {error}") from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"clang did not finish {filename} within {CLANG_SECONDS} s") from None
    # Where the host has nobody wait for its children, their status is lost.
    return run.returncode or int(not run.stdout), run.stdout, run.stderr.decode(errors="replace")


def _linking(library: Sequence[Path]) -> list[str]:
    """Clang's options to link the built-in functions."""
    return [part for path in library for part in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(path))]


def _as_wide_as_needed(run: Callable[[Collection[str], Sequence[str]], _Answer], options: Sequence[str],
                       first: Sequence[str] = (), tries: bool = True) -> tuple[_Answer, list[str]]:
    """What clang says of a program with those of the ``_WIDTHS`` without which it has errors, and which those are.

    ``run`` is given them, the ``first`` ones from the start, and the macros of the others and of the ``_LATER``
    functions that it misses.
    """
    allowed = [extension for extension in _WIDTHS if tries and f"-U{extension}" not in options]
    extensions = [extension for extension in first if extension in allowed]

    functions: list[str] = []

    def attempt() -> _Answer:
        return run(extensions, [*(f"-D{name}=1" for name in allowed if name not in extensions),
                                *(f"-D__FGPU_{name}" for name in functions)])

    def missing(known: Mapping[str, re.Pattern[str]], names: Collection[str], there: Collection[str]) -> list[str]:
        return [name for name in names if name not in there and known[name].search(answer[2])]

    answer = attempt()
    while answer[0]:
        wider, later = missing(_WIDTHS, allowed, extensions), missing(_LATER, _LATER if tries else (), functions)
        if not wider and not later:
            break
        extensions += wider
        functions += later
        answer = attempt()
    if answer[0] and not extensions and _AMBIGUOUS in answer[2]:    # by functions of what the program has not
        without = run((), ())
        answer = without if without[0] == 0 else answer
    return answer, extensions


def _without_ours(messages: str) -> str:
    """Those that are not of what is around the source, nor of types that are there once they are needed."""
    return "".join(line for line in messages.strip().splitlines(keepends=True)
                   if not line.startswith("<stdin>:") and not _NEEDLESS.search(line))


def _check(status: int, messages: str) -> None:
    """Raise clang's errors."""
    if status:
        message = _without_ours(messages)
        if "error:" in message:
            raise CompileError(explained(message))
        raise ToolError(f"clang failed with status {status}: {message or 'no message'}; "
                        "is the ziglang package installed?")


def _promises_too_much(source: str, options: Sequence[str], bitcode: bytes) -> bool:
    """Whether a program with barriers says that nobody else accesses what its pointers point to."""
    return _NO_PROMISES[0] not in options and _RESTRICT.search(" ".join([source, *options])) is not None \
        and any(name.encode() in bitcode for name in BARRIERS)


def read_ir(bitcode: bytes) -> Module:
    """The functions in the bitcode that :func:`compile_to_bitcode` returned."""
    module = read_module(bitcode, own=f"{OWN}/{_HERE.name}/")
    for function in module.functions.values():
        function.name = function.name.removeprefix(_KEPT)
    return replace(module, functions={function.name: function for function in module.functions.values()})
