"""Compiling C++ into shared libraries, and keeping them in the user's cache."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fgpu.errors import ToolError
from fgpu.store import kept_files

from .header import abi_header

__all__ = [
    "BENCH_SOURCES", "Compiler", "Progress", "bench_sources", "build_bench", "cached", "compiled_by",
    "digest", "find_compiler", "run_tool", "write_abi",
]

Progress = Callable[[str], None]
"""Is told, in a few words, what a build is doing."""

_HERE = Path(__file__).parent
BENCH_SOURCES = [
    _HERE / f"{name}.cpp"
    for name in ("testbench", "axi_checker", "memory", "host", "access", "profiler", "recorder")]
_TAIL_LINES = 25


def run_tool(command: Sequence[str | Path], cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run an external tool; its output, or :class:`ToolError` with the end of it."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
    except OSError as error:
        raise ToolError(f"cannot run {words[0]}: {error.strerror or error}") from error
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-_TAIL_LINES:])
        raise ToolError(f"{Path(words[0]).name} failed with exit status {done.returncode}: "
                        f"{' '.join(words)}\n{tail}")
    return done.stdout


# -- the C++ compiler ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: the command that runs it, and a text that changes when it does."""

    command: tuple[str, ...]
    version: str

    def compile(self, sources: Sequence[tuple[Path, Sequence[str]]], output: Path, *,
                flags: Sequence[str] = (), objects: Sequence[Path] = (), libraries: Sequence[str] = (),
                progress: Progress | None = None) -> None:
        """Compile sources, each with flags of its own, in parallel, in their order: large ones should be first.

        ``output`` is an object file (``.o``, of one source), or a shared library (``.so``) or else a program, with
        ``objects`` in it; ``libraries`` are the linker's options.
        """
        work = output.parent
        common = ["-std=c++17", "-fPIC", *flags]
        done = 0

        def job(index: int) -> Path:
            nonlocal done
            source, extra = sources[index]
            target = output if output.suffix == ".o" else work / f"{index}-{source.stem}.o"
            run_tool([*self.command, *common, *extra, "-c", source, "-o", target], work)
            done += 1
            if progress is not None:
                progress(f"compiled {done} of {len(sources)} files")
            return target

        pool = ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            compiled = list(pool.map(job, range(len(sources))))
        finally:
            pool.shutdown(cancel_futures=True)
        if output.suffix != ".o":
            shared = ["-shared"] if output.suffix == ".so" else []
            run_tool([*self.command, *shared, "-o", output, *compiled, *objects, *libraries, "-lpthread"], work)


def find_compiler(kind: str | None = None) -> Compiler:
    """The system's C++ compiler, or the one of the ``ziglang`` package where the system has none.

    ``kind`` (or else the environment variable ``FGPU_CXX``) names a command, or is ``"zig"``.
    """
    kind = kind or os.environ.get("FGPU_CXX") or None
    if kind == "zig":
        return _zig()
    for name in [kind] if kind else ["c++", "g++", "clang++"]:
        path = shutil.which(name)
        if path is not None:
            return Compiler((path,), _version((path, "--version")))
    if kind:
        raise ToolError(f"there is no C++ compiler {kind!r} on this system")
    return _zig()


def _zig() -> Compiler:
    command = (sys.executable, "-m", "ziglang")
    try:
        version = _version((*command, "version"))
    except ToolError as error:
        raise ToolError("there is no C++ compiler (c++, g++ or clang++) on this system, and the Python package "
                        "ziglang, which has one, does not run: install either, the latter with "
                        f"pip install 'fgpu[opencl]': {error}") from error
    # A cache may be shared by machines with different processors.
    return Compiler((*command, "c++", "-mcpu=baseline"), f"zig {version}")


@lru_cache
def _version(command: tuple[str, ...]) -> str:
    return run_tool(command, _HERE).splitlines()[0]


# -- the cache ----------------------------------------------------------------------------------


def digest(parts: Iterable[str | Path]) -> str:
    """A hash of texts and of files' names and contents."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        name = part.name if isinstance(part, Path) else ""
        sha.update(f"{name}:{len(data)}:".encode() + data)
    return sha.hexdigest()[:32]


def cached(key: str, library: str, build: Callable[[Path], dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
    """The file ``library`` of the entry ``key`` among the simulators, and its notes: see :func:`kept_files`."""
    entry, notes = kept_files("simulators", key, build, (library,))
    return entry / library, notes


def compiled_by(compiler: Compiler) -> list[str | Path]:
    """What compiled code depends on beside its sources and flags, for :func:`digest`."""
    return [*compiler.command, compiler.version, f"{platform.system()} {platform.machine()}", Path(__file__)]


def bench_sources() -> list[str | Path]:
    """The test bench's C++, headers and all, for :func:`digest`."""
    return [*sorted(_HERE.glob("*.h")), *BENCH_SOURCES, abi_header()]


def write_abi(folder: Path) -> list[str]:
    """Write the test bench's generated header; the flags with which it and the others are found."""
    (folder / "abi.h").write_text(abi_header())
    return [f"-I{folder}", f"-I{_HERE}"]


def build_bench(compiler: str | None = None, progress: Progress | None = None) -> Path:
    """The test bench alone, for engines that bring their own model."""
    chosen = find_compiler(compiler)
    flags = ["-O2", "-Wall", "-Wextra"]
    key = "bench-" + digest([*bench_sources(), *flags, *compiled_by(chosen)])

    def build(work: Path) -> dict[str, Any]:
        chosen.compile([(source, ()) for source in BENCH_SOURCES], work / "bench.so",
                       flags=[*flags, *write_abi(work)], progress=progress)
        return {"compiler": chosen.version}

    return cached(key, "bench.so", build)[0]
