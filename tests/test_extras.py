"""What works without the extras, and that one message names the extra for what does not."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fgpu.extras import EXTRAS

EXTRA = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
MODULE = {"pyserial": "serial"}
WITHOUT = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {modules}:
            raise ModuleNotFoundError(name)
for name in {modules}:
    sys.modules[name] = None    # what importlib.util.find_spec takes for missing
sys.meta_path.insert(0, Missing())
{code}
"""


def run(extras: list[str], code: str, folder: Path) -> subprocess.CompletedProcess:
    """Python code where the packages of some extras are missing, and no installed program stands in for them."""
    modules = [module for extra in extras for module in EXTRAS[extra]]
    return subprocess.run([sys.executable, "-c", WITHOUT.format(modules=modules, code=code)], cwd=folder,
                          env={**os.environ, "PATH": str(folder)}, capture_output=True, text=True, check=False)


def fgpu(extras: list[str], arguments: str, folder: Path) -> subprocess.CompletedProcess:
    return run(extras, f"from fgpu.cli import main; main({arguments.split()!r}, prog_name='fgpu')", folder)


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_table_is_what_the_package_declares(extra):
    declared = [MODULE.get(name, name.replace("-", "_")) for text in EXTRA[extra] if not text.startswith("fgpu[")
                for name in [re.match(r"[\w-]+", text)[0]]]
    assert [module.replace(".", "_") for module in EXTRAS[extra]] == declared


def test_all_has_every_extra():
    assert set(re.findall(r"\w+", EXTRA["all"][0])) == {"fgpu", *EXTRAS}


@pytest.mark.parametrize("arguments", ["--help", "run --help", "bench --help", "synth --help",
                                       "asm copy.s -o copy.json", "disasm copy.s",
                                       pytest.param("verilog -o fgpu.v --preset tiny", marks=pytest.mark.ci)])
def test_works_with_the_core_only(arguments, tmp_path):
    """Not `fgpu synth` itself, which takes minutes; its parts are Yosys and what `fgpu verilog` does."""
    (tmp_path / "copy.s").write_text(".kernel copy\n    ret\n")
    done = fgpu([*EXTRAS], arguments, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("missing", "arguments", "remedy"), [
    ("sim", "run copy.s --global 64", "sim"),
    ("opencl", "run copy.cl --global 64", "opencl"),
    ("sim opencl", "run copy.cl --global 64", "sim,opencl"),
    ("opencl", "compile copy.cl -o copy.json", "opencl"),
    ("opencl", "compile copy.cl -o copy.json --print-after all", "opencl"),
    ("opencl", "compile --list-passes", "opencl"),
    ("opencl", "disasm copy.cl --source", "opencl"),
    ("sim opencl", "demo", "sim,opencl"),
    ("sim opencl", "bench", "sim,opencl"),
    ("sim", "synth --write-baseline", "sim"),
    ("scalar", "bench --scalar", "scalar"),
    ("dask", "bench --dask tcp://127.0.0.1:1", "dask"),
    ("plot", "plot copy.s", "plot"),
    ("timing", "synth --family ecp5 --timing pe", "timing"),
])
def test_a_command_names_what_it_lacks(missing, arguments, remedy, tmp_path):
    for name in ("copy.s", "copy.cl"):
        (tmp_path / name).write_text("")
    done = fgpu(missing.split(), arguments, tmp_path)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("Error: ")
    assert line.endswith(f"pip install 'fgpu[{remedy}]'")
    for module in (module for extra in missing.split() for module in EXTRAS[extra]):
        assert module in line


@pytest.mark.parametrize(("missing", "code"), [
    ("sim", "from fgpu import Device"),
    ("sim", "import fgpu.sim.device"),
    ("sim", "from fgpu.benchmarks import BENCHMARKS"),
    ("opencl", "from fgpu import compile_opencl; compile_opencl('')"),
    ("cocotb", "import fgpu.cocotb.host"),
])
def test_python_programs_are_told_the_same(missing, code, tmp_path):
    done = run([missing], code, tmp_path)
    assert "fgpu.errors.MissingExtraError: " in done.stderr
    assert done.stderr.strip().endswith(f"pip install 'fgpu[{missing}]'")


def test_images_run_without_a_compiler(tmp_path):
    (tmp_path / "copy.s").write_text(".kernel copy\n    ret\n")
    done = fgpu(["opencl"], "run copy.s --global 64 --engine functional", tmp_path)
    assert done.returncode == 0, done.stderr
