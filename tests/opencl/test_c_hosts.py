"""C programs under ICD loaders: threads, all ways to end, forks, signals, environments."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from ..tiers import quick
from .c_hosts import LOADERS, compile_host


@pytest.fixture(scope="session", params=quick(LOADERS, ["bundled"]))
def host(request, opencl_icd, tmp_path_factory):
    """Runs host.c's programs."""
    loader = LOADERS[request.param]()
    if loader is None:
        pytest.skip(f"there is no {request.param} loader here")
    program = tmp_path_factory.mktemp("host") / "host"
    compile_host(Path(__file__).with_name("host.c"), loader, program)

    def run(*arguments, check=True, environment=None):
        needed = {"PYOPENCL_HOME": str(program.parent)}    # without it the bundled loader reads at NULL
        return opencl_icd.run(program, *map(str, arguments), check=check, environment=needed | (environment or {}))

    run.path = program
    return run


def test_a_c_program_finds_and_uses_the_device(host):
    done = host("transfer")
    assert done.stdout.startswith("FGPU")
    assert not done.stderr


def test_who_looks_for_platforms_starts_no_python(host):
    """... which would fail here, and say so."""
    assert host("platform", environment={"PYTHONHOME": "/nowhere"}).stdout == "found\n"
    done = host("platform")
    assert not done.stderr


@pytest.mark.parametrize("program", ["unsupported", "properties", "floats", "no_children", "threads",
                                     "first_calls", "short_thread", "build_callbacks"])
def test_a_c_program(program, host):
    assert not host(program).stderr


@pytest.mark.parametrize(("program", "status", "says"), [
    ("return", 0, ""), ("exit", 3, ""), ("_exit", 3, ""), ("destructor", 0, "released\n"),
    ("atexit", 0, "released\n"), ("busy_exit", 0, ""),
])
def test_the_end_of_a_process_with_work_left(program, status, says, host):
    done = host(program, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, says, "")


@pytest.mark.parametrize("program", ["fork", "fork_busy", "fork_first"])
def test_parent_and_child_go_on(program, host):
    assert not host(program).stderr


def test_ctrl_c_ends_a_c_program(host):
    assert host("interrupt", check=False).returncode == -signal.SIGINT


def test_a_handler_of_ctrl_c_stays(host):
    host("own_interrupt")


def test_pythons_environment_is_for_other_pythons(host):
    host("transfer", environment={"PYTHONHOME": "/nowhere", "PYTHONPATH": "/nowhere", "PYTHONNOUSERSITE": "0",
                                  "LC_ALL": "C", "PYTHONWARNINGS": "error"})


def test_no_environment_is_needed(host, opencl_icd):
    done = opencl_icd.run("/usr/bin/env", "-i", f"OCL_ICD_VENDORS={opencl_icd.folder}",
                          "PYOPENCL_HOME=", host.path, "transfer")
    assert done.stdout.startswith("FGPU")


def without(opencl_icd, folder, **changes):
    """A copy of the platform whose settings are others; None: it has none."""
    shutil.copytree(opencl_icd.folder, folder)
    library = folder / "libfgpu-opencl.so"
    (folder / "fgpu.icd").write_text(f"{library}\n")
    settings = folder / "libfgpu-opencl.so.conf"
    lines = dict(line.split("=", 1) for line in settings.read_text().splitlines())
    settings.write_text("".join(f"{name}={value}\n" for name, value in (lines | changes).items()))
    return {"OCL_ICD_VENDORS": str(folder)}, settings


def test_a_python_without_a_shared_library_is_named(host, opencl_icd, tmp_path):
    environment, _ = without(opencl_icd, tmp_path / "icd", libpython="")
    [line] = host("no_platform", environment=environment).stderr.splitlines()
    assert line.startswith("fgpu: no OpenCL platform in this process: ")
    assert "has no shared library" in line
    assert "--enable-shared" in line


def test_a_library_that_has_gone_is_named(host, opencl_icd, tmp_path):
    environment, _ = without(opencl_icd, tmp_path / "icd", libpython="/nowhere/libpython3.so")
    [line] = host("no_platform", environment=environment).stderr.splitlines()
    assert "/nowhere/libpython3.so: No such file or directory" in line
    assert "`fgpu opencl install`" in line


def test_settings_that_are_missing_are_named(host, opencl_icd, tmp_path):
    environment, settings = without(opencl_icd, tmp_path / "icd")
    settings.unlink()
    [line] = host("no_platform", environment=environment).stderr.splitlines()
    assert f"{settings}: No such file or directory; `fgpu opencl install` writes it" in line


def test_an_environment_that_has_gone_is_named(host, opencl_icd, tmp_path):
    environment, _ = without(opencl_icd, tmp_path / "icd", python="/nowhere/bin/python", packages="/nowhere")
    line, *_ = host("transfer", check=False, environment=environment).stderr.splitlines()
    assert line.startswith("fgpu: no OpenCL platform in this process: ")


@pytest.mark.parametrize("rounds", quick([5_000, 120_000], [5_000]))
def test_calls_leave_nothing_behind(rounds, host):
    """A million calls in CI, with objects made and released, and errors: the process does not grow by 1 MB."""
    assert int(host("leak", rounds).stdout) * os.sysconf("SC_PAGE_SIZE") < 1 << 20
