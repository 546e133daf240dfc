"""Which part of the core imports which: no cycles, and the small ones know nothing of the large ones."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

FGPU = Path(__file__).parents[2] / "fgpu"
OUTSIDE = {"sim", "compiler", "benchmarks"}
"""Packages of the same name that have folders of their own."""


def imported(path: Path) -> Iterator[str]:
    """Full names of all modules that a file imports, wherever the import stands."""
    package = ["fgpu", *path.relative_to(FGPU).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[:len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *(node.module.split(".") if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def part(module: str) -> str | None:
    """The part of the core, a folder or a file in ``fgpu/``, that a module belongs to; None if none."""
    names = module.split(".")
    if names[0] != "fgpu" or len(names) == 1 or names[1] in OUTSIDE:
        return None
    is_part = (FGPU / names[1]).is_dir() or (FGPU / f"{names[1]}.py").exists()
    return names[1] if is_part else None


def parts() -> dict[str, set[str]]:
    """The parts, and those that each imports."""
    graph: dict[str, set[str]] = {}
    for path in FGPU.rglob("*.py"):
        own = path.relative_to(FGPU).parts[0].removesuffix(".py")
        found = {name for module in imported(path) if (name := part(module)) is not None}
        if own not in ("__init__", "__main__"):     # the user's view of everything
            graph.setdefault(own, set()).update(found - {own})
    return graph


def test_no_cycles() -> None:
    graph = parts()
    assert {"axi", "cache", "cli", "cu", "dispatcher", "gateware", "interfaces", "tools"} <= graph.keys()
    TopologicalSorter(graph).prepare()      # raises CycleError, which names them


def test_what_each_may_know() -> None:
    graph = parts()
    basis = {"config", "errors", "fault", "gateware", "interfaces", "isa"}
    assert not graph["gateware"]
    assert graph["axi"] <= {"gateware"}
    assert graph["interfaces"] <= (basis | {"address_map"}) - {"gateware", "interfaces"}
    assert graph["cache"] <= basis | {"axi", "atomic_result"}
    assert graph["dispatcher"] <= basis | {"address_map"}
    assert graph["cu"] <= basis | {"probe", "atomic_result"}


def test_the_compiler_needs_no_hardware() -> None:
    """What it asks of the timing of a compute unit is in a module without any."""
    script = "import sys, fgpu.compiler.backend.schedule\nprint(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    hardware = ("fgpu.cu.", "fgpu.cache.", "fgpu.dispatcher.", "fgpu.core")
    assert [name for name in found.split() if name.startswith(hardware)] == ["fgpu.cu.pipeline"]
