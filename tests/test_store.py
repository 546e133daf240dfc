"""The cache folder: each user of the store has its entry again when it is damaged, and ``fgpu cache``.

What the store itself promises is in tests/sim/test_verilator_build.py, programs are in tests/compiler/test_cache.py.
"""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import fgpu
from fgpu import store
from fgpu.cli import main
from fgpu.compiler.frontend import bitcode
from fgpu.compiler.runtime_library import routines
from fgpu.errors import ToolError
from fgpu.files import cache_directory
from fgpu.store import Kind, clear, kept_bytes, kept_files, kinds, workspace
from fgpu.tools import area
from fgpu.tools.families import FAMILIES

INVERTER = "module top(input a, output b);\n  assign b = ~a;\nendmodule\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def yosys(monkeypatch):
    """Yosys in which all modules take two LUTs; how often it runs."""
    runs = []
    monkeypatch.setattr(area, "run_yosys", lambda script, *rest: runs.append(script) or
                        '{"modules": {"\\\\top": {"num_cells_by_type": {"LUT2": 2}}}}')
    return runs


def damage(folder: Path) -> None:
    """Cut the one entry of a kind."""
    [path] = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-1])


def test_a_damaged_area_is_measured_again(cache, yosys):
    first = area._yosys(INVERTER, FAMILIES["xc7"])
    damage(cache / "areas")
    assert area._yosys(INVERTER, FAMILIES["xc7"]) == first == area._yosys(INVERTER, FAMILIES["xc7"])
    assert first.luts == 2
    assert len(yosys) == 2


def test_an_area_depends_on_source_script_and_yosys(yosys, monkeypatch):
    for source, command, version in ((INVERTER, "one", "1"), (INVERTER + "\n", "one", "1"), (INVERTER, "two", "1"),
                                     (INVERTER, "one", "2"), (INVERTER, "one", "1")):
        monkeypatch.setattr(area, "version", lambda package, version=version: version)
        area._yosys(source, replace(FAMILIES["xc7"], synthesis=command))
    assert len(yosys) == 4


def test_damaged_routines_are_compiled_again(cache, monkeypatch):
    runs = []
    monkeypatch.setattr(routines, "_compiled", lambda name: runs.append(name) or {"routine": name})
    for _ in range(3):
        routines._file.__wrapped__("long.cl")
        if len(runs) == 1:
            damage(cache / "routines")
    assert runs == ["long.cl"] * 2


_COMPILE = """
import sys
from uuid import uuid4
from fgpu.compiler import compile_opencl
compile_opencl(f"__kernel void k(__global float *a) {{ a[0] = a[1] / a[2]; }} // {uuid4()}")   # not kept already
print(*(module.__file__ for name, module in sys.modules.items() if name.startswith("fgpu.")), sep="\\n")
"""


def test_all_that_compiles_is_in_the_compilers_key(monkeypatch):
    monkeypatch.delenv("FGPU_CACHE_DIR")      # the library is there
    used = subprocess.run([sys.executable, "-c", _COMPILE], capture_output=True, text=True, check=True)
    found = []
    monkeypatch.setattr(bitcode, "_digest", lambda paths: found.extend(paths) or "")
    bitcode.compiler_version.__wrapped__()
    used = {Path(line) for line in used.stdout.splitlines() if not line.endswith("__init__.py")}
    assert {"isa.py", "config.py", "isel.py"} <= {path.name for path in used}
    assert used <= set(found)
    assert Path(fgpu.__file__).parent / "core.py" not in found


def test_what_is_there(cache):
    kept_bytes("areas", "one", lambda: b"1" * 100)

    def build(work: Path) -> dict:
        (work / "lib").write_bytes(b"2" * 1000)
        return {}

    kept_files("simulators", "two", build, ("lib",))
    areas, simulators, work = kinds()
    assert areas == Kind("areas", 1, 165)
    assert (simulators.name, simulators.entries) == ("simulators", 1)
    assert simulators.size > 1000
    assert work == Kind("work", 0, 0)
    result = CliRunner().invoke(main, ["cache"])
    assert result.output.splitlines()[0] == str(cache)
    assert "simulators        1  0.0" in result.output
    with workspace() as folder:
        assert CliRunner().invoke(main, ["cache", "--clear"]).exit_code == 0
        assert folder.exists(), "somebody works there"
    assert {kind.entries for kind in kinds()} == {0}


def test_small_entries_are_looked_through_once_a_day(cache, monkeypatch):
    def make(name):
        monkeypatch.setattr(store, "_pruned", set())    # another process
        kept_bytes("areas", name, lambda: b"1")
        return cache / "areas" / name

    old = make("one")
    os.utime(old, (1, 1))
    make("two")
    assert old.exists()
    stamp = cache / "areas.pruned"
    os.utime(stamp, (1, 1))
    make("three")
    assert not old.exists()
    assert stamp.exists()
    assert [kind.entries for kind in kinds()] == [2]


def test_an_empty_cache(cache):
    clear()
    assert kinds() == []
    assert CliRunner().invoke(main, ["cache"]).output == f"{cache}\n"


def test_a_relative_folder_is_that_of_where_the_program_runs(tmp_path, monkeypatch):
    """Compilers run in folders of their own, and would look for it there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FGPU_CACHE_DIR", "kept here")
    assert cache_directory() == tmp_path / "kept here"


def test_what_cannot_be_cleared(cache, monkeypatch):
    kept_bytes("areas", "one", lambda: b"1")

    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(ToolError, match=f"cannot clear the cache {cache}"):
        clear()


def test_locks_of_failed_builds_go(cache):
    def fail(work: Path) -> dict:
        raise ToolError("no")

    with pytest.raises(ToolError):
        kept_files("simulators", "bad", fail, ("lib",))
    lock = cache / "simulators" / "bad.lock"
    os.utime(lock, (1, 1))
    kept_files("simulators", "good", lambda work: (work / "lib").write_text("x") and {}, ("lib",))
    assert not lock.exists()
