"""The builder and its cache: concurrent builds, damaged entries, missing and failing tools, the zig compiler."""

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fgpu.benchmarks import record
from fgpu.compiler.frontend import bitcode
from fgpu.compiler.frontend.bitcode import bitcode_files, compiler_version
from fgpu.config import Config
from fgpu.errors import LaunchError, ToolError
from fgpu.sim import verilator_build
from fgpu.sim.engine import Trace
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench import build
from fgpu.sim.testbench.abi import BenchLibrary
from fgpu.sim.testbench.build import Compiler, build_bench, cached, find_compiler
from fgpu.sim.verilator import VerilatorEngine
from fgpu.sim.verilator_build import build_model, hardware_digest
from fgpu.store import kept_bytes, workspace

from .stub_core import StubCore, faulty


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "simulators"


def entries(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock")


def slow_build(log: Path):
    def run(work: Path):
        time.sleep(0.3)
        (work / "lib.so").write_text("code")
        with log.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return {"by": os.getpid()}
    return run


def test_two_processes_build_once(tmp_path, cache):
    log = tmp_path / "log"
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=cached, args=("key", "lib.so", slow_build(log))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
        assert worker.exitcode == 0
    assert len(log.read_text().splitlines()) == 1
    assert entries(cache) == ["key"]


@pytest.mark.parametrize("damage", ["cut", "no library", "no notes", "bad notes"])
def test_a_damaged_entry_is_built_again(tmp_path, cache, damage):
    log = tmp_path / "log"
    library, _ = cached("key", "lib.so", slow_build(log))
    notes = library.with_name("notes.json")
    match damage:
        case "cut":
            library.write_text("co")
        case "no library":
            library.unlink()
        case "no notes":
            notes.unlink()
        case _:
            notes.write_text("{")
    library, _ = cached("key", "lib.so", slow_build(log))
    assert library.read_text() == "code"
    cached("key", "lib.so", slow_build(log))
    assert len(log.read_text().splitlines()) == 2


def test_failed_build_leaves_nothing(cache):
    def run(work: Path):
        (work / "half").write_text("x")
        raise ToolError("no")

    with pytest.raises(ToolError, match="no"):
        cached("key", "lib.so", run)
    assert entries(cache) == []


def test_old_entries_go(tmp_path, cache):
    cached("old", "lib.so", slow_build(tmp_path / "log"))
    os.utime(cache / "old", (1, 1))
    cached("new", "lib.so", slow_build(tmp_path / "log"))
    assert entries(cache) == ["new"]


def _build_and_die():
    def run(work: Path):
        (work / "half").write_text("x")
        os.kill(os.getpid(), signal.SIGKILL)

    cached("key", "lib.so", run)


def test_killed_builds_leave_nothing_for_ever(tmp_path, cache):
    worker = multiprocessing.get_context("fork").Process(target=_build_and_die)
    worker.start()
    worker.join(20)
    assert worker.exitcode == -signal.SIGKILL
    with workspace() as folder:
        (folder / "mine").write_text("x")
        cached("key", "lib.so", slow_build(tmp_path / "log"))
        assert (folder / "mine").exists(), "its owner lives"
        left = [path for path in cache.parent.rglob("*") if path.name == "half"]
        assert not left
    assert not list((cache.parent / "work").iterdir())
    assert entries(cache) == ["key"]


def test_a_cache_that_cannot_be_written_serves_what_it_has(tmp_path, cache, monkeypatch):
    library, _ = cached("key", "lib.so", slow_build(tmp_path / "log"))
    kept_bytes("areas", "one", lambda: b"1")

    def refuse(*arguments, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for module, names in ((os, ("utime", "replace", "mkdir")), (Path, ("mkdir", "write_bytes", "write_text"))):
        for name in names:
            monkeypatch.setattr(module, name, refuse)
    assert cached("key", "lib.so", slow_build(tmp_path / "log"))[0] == library
    assert kept_bytes("areas", "one", lambda: b"2") == b"1"
    assert kept_bytes("areas", "two", lambda: b"2") == b"2"
    assert len((tmp_path / "log").read_text().splitlines()) == 1


@pytest.mark.parametrize("damage", [b"", b"1", b"{", None])
def test_a_damaged_value_is_made_again(cache, damage):
    assert kept_bytes("areas", "one", lambda: b"[1]") == b"[1]"
    path = cache.parent / "areas" / "one"
    path.write_bytes(path.read_bytes()[:-1] if damage is None else damage)
    assert kept_bytes("areas", "one", lambda: b"[2]") == b"[2]"
    assert kept_bytes("areas", "one", lambda: b"[3]") == b"[2]"


def test_a_truncated_library_of_built_ins_is_compiled_again():
    clang = [sys.executable, "-c", "import sys; print('code of', len(sys.stdin.read()), 'characters')", "--"]
    paths = bitcode_files(clang)
    contents = [path.read_bytes() for path in paths]
    assert all(contents)
    for damaged in (paths[0], paths[-1]):
        damaged.write_bytes(damaged.read_bytes()[:5])
        assert [path.read_bytes() for path in bitcode_files(clang)] == contents


_GENERATE = """
import sys
opened = set()
sys.addaudithook(lambda event, values: opened.add(values[0]) if event == "open" else None)
from pathlib import Path
from fgpu.config import Config
from fgpu.tools.verilog import write_verilog
from tests.sim.stub_core import StubCore
write_verilog(Config(), Path(sys.argv[1]), core=StubCore)
modules = {module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "fgpu"}
print(*modules, *(path for path in opened if isinstance(path, str) and "__pycache__" not in path), sep="\\n")
"""


def test_all_that_generates_a_model_is_in_its_key(tmp_path, monkeypatch):
    package = Path(verilator_build.fgpu.__file__).parent
    run = subprocess.run([sys.executable, "-c", _GENERATE, str(tmp_path / "stub.v")], capture_output=True, text=True,
                         check=True, cwd=package.parent)
    used = {Path(line) for line in run.stdout.splitlines() if Path(line).is_relative_to(package)}
    parts = []
    monkeypatch.setattr(verilator_build, "digest", lambda found: parts.extend(found) or "digest")
    hardware_digest(StubCore)
    assert {"verilog.py", "plain.v", "yosys.py"} <= {path.name for path in used}
    assert used <= set(parts)


def test_records_know_the_headers(monkeypatch):
    parts = []
    monkeypatch.setattr(record, "digest", lambda found: parts.extend(found) or "digest")
    record.version.__wrapped__()
    names = {path.name for path in parts if isinstance(path, Path)}
    assert build.abi_header() in parts
    assert {"memory.h", "memory.cpp", "copy.cl"} <= names
    assert compiler_version() in parts
    sources = []
    monkeypatch.setattr(bitcode, "_digest", lambda found: sources.extend(found) or "digest")
    compiler_version.__wrapped__()
    assert {"opencl.h", "builtins.h"} <= {path.name for path in sources}


def test_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(ToolError, match="cannot write the cache"):
        build_bench()


@pytest.mark.ci
def test_model_is_built_once(cache, monkeypatch):
    current = hardware_digest(StubCore)
    # Somebody may edit the hardware while this test runs.
    monkeypatch.setattr(verilator_build, "hardware_digest", lambda core: current)
    told = []
    model = build_model(Config(), core=StubCore, progress=told.append)
    assert told[:2] == ["generating Verilog", "running Verilator"]
    assert model.cache_events[0] == "read_hit"
    monkeypatch.setattr(verilator_build, "_build", None)    # must not be called again
    assert build_model(Config(), core=StubCore) == model
    BenchLibrary(model.library, model=True)


def test_a_unit_that_there_is_not_is_told_before_anything_is_compiled(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(verilator_build, "verilate", lambda *_, **__: pytest.fail("translates it"))
    trace = Trace(tmp_path / "x.vcd", units=("cu9",))
    engine = VerilatorEngine(Config(), GlobalMemory(), core=StubCore, trace=trace)
    with pytest.raises(LaunchError, match="no unit 'cu9' to trace"):
        engine.build()
    assert entries(cache) == []


def test_keys_differ():
    digests = [hardware_digest(core) for core in (None, StubCore, faulty("wrap"), faulty("hang"))]
    assert len(set(digests)) == 4


def test_an_edit_makes_another_key(tmp_path, monkeypatch):
    """What is read once for all devices of a process is read again when it has changed."""
    package = tmp_path / "hardware"
    package.mkdir()
    files = {"__init__": "", "core": "def f():\n    if 1:\n        from . import unit\n", "unit": "", "other": "",
             "tools/verilog": "from ..core import f\n"}
    (package / "tools").mkdir()
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.setattr(verilator_build.fgpu, "__file__", str(package / "__init__.py"))
    keys = [hardware_digest(None)]
    edits = [("other", "x = 1", False), ("unit", "from . import other", True), ("other", "x = 2", True)]
    for seconds, (name, text, changes) in enumerate(edits, 1):
        (package / f"{name}.py").write_text(text)
        os.utime(package / f"{name}.py", (seconds, seconds))    # the clock of a file system ticks slowly
        keys.append(hardware_digest(None))
        assert (keys[-1] != keys[-2]) == changes


def test_many_devices_read_the_hardware_once(monkeypatch):
    found = hardware_digest(None)
    monkeypatch.setattr(verilator_build.ast, "parse", lambda *_: pytest.fail("reads the hardware again"))
    assert hardware_digest(None) == found


def test_missing_compiler(monkeypatch):
    with pytest.raises(ToolError, match="no C\\+\\+ compiler 'nosuch'"):
        find_compiler("nosuch")
    monkeypatch.setenv("FGPU_CXX", "nosuch")
    with pytest.raises(ToolError, match="nosuch"):
        build_bench()


def test_no_compiler_at_all(monkeypatch, tmp_path):
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    monkeypatch.setattr(build.sys, "executable", str(tmp_path / "python"))
    build._version.cache_clear()
    with pytest.raises(ToolError, match=r"no C\+\+ compiler .* and the Python package ziglang"):
        find_compiler()


def test_failing_compiler_tells_why(tmp_path):
    source = tmp_path / "bad.cpp"
    source.write_text("int f() { return nonsense; }\n")
    with pytest.raises(ToolError, match=r"(?s)failed with exit status 1.*nonsense"):
        find_compiler().compile([(source, ())], tmp_path / "bad.so")


def test_failing_verilator_tells_why(cache, monkeypatch):
    monkeypatch.setattr(verilator_build, "_VERILATE", ["--no-such-option"])
    with pytest.raises(ToolError, match=r"(?s)verilator_bin failed.*no-such-option"):
        build_model(Config(), core=StubCore)
    assert entries(cache) == []


def test_system_compiler_is_preferred_and_zig_found(monkeypatch):
    assert find_compiler("zig").command[-2:] == ("c++", "-mcpu=baseline")
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    assert find_compiler() == find_compiler("zig")


@pytest.mark.long
def test_zig_builds_a_model():
    """Long only where zig has not yet built its C++ library: once for each user."""
    model = build_model(Config(), core=StubCore, compiler="zig")
    BenchLibrary(model.library, model=True)


def test_compiler_is_a_plain_value():
    assert Compiler(("c++",), "1") == Compiler(("c++",), "1")


def test_only_the_hardware_is_in_the_key():
    package = Path(verilator_build.fgpu.__file__).parent
    names = {str(path.relative_to(package)) for path in verilator_build._imported(package, package / "core.py")}
    assert {"core.py", "config.py", "cu/pe.py", "cache/tag_stage.py", "isa.py", "axi/signatures.py"} <= names
    assert not any(name.startswith("cli") for name in names)
