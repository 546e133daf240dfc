"""The generated Verilog in a 4-state simulator, Icarus: what is X at power-up must not matter after a reset."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cocotbext.axi", reason="needs cocotb: pip install 'fgpu[test]'")

from cocotb_tools.runner import get_results, get_runner

from fgpu.cocotb import build
from fgpu.tools.verilog import write_verilog

from .four_state_configs import CONFIGS
from .test_cocotb import EXAMPLE

HERE = Path(__file__).parent
needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus: apt install iverilog")


def run(simulator: str, build: Path, folder: Path, name: str, *, reset: bool = True) -> list[int]:
    """Run the bench, which must pass; the cycles of its kernels."""
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(HERE), *sys.path])
        results = get_runner(simulator).test(
            "four_state_bench", "fgpu", hdl_toplevel_lang="verilog", build_dir=build, test_dir=folder,
            results_xml=str(folder / "results.xml"),
            extra_env={"FGPU_BENCH_CONFIG": name, "FGPU_BENCH_RESET": str(int(reset))})
    assert get_results(results) == (1, 0)
    cycles: list[int] = json.loads((folder / "cycles.json").read_text())
    return cycles


def icarus(folder: Path, name: str, *, initial: bool, reset: bool) -> list[int]:
    """Run the bench in Icarus; without ``initial`` registers and memories are X at power-up."""
    source = write_verilog(CONFIGS[name], folder / "fgpu.v", initial=initial)
    get_runner("icarus").build(sources=[source], hdl_toplevel="fgpu", build_dir=folder, timescale=("1ns", "1ps"))
    return run("icarus", folder, folder, name, reset=reset)


def verilator(folder: Path, name: str) -> list[int]:
    return run("verilator", build(CONFIGS[name]), folder / "verilator", name)


@pytest.mark.ci
@needs_icarus
def test_x_at_power_up(tmp_path: Path) -> None:
    """After a reset results are right, nothing is X, and Verilator's cycles."""
    assert icarus(tmp_path, "tiny", initial=False, reset=True) == verilator(tmp_path, "tiny")


@pytest.mark.long
def test_initial_values_instead_of_a_reset(tmp_path: Path) -> None:
    """As in an FPGA: results are right, and nothing is X."""
    assert icarus(tmp_path, "tiny", initial=True, reset=False)


@pytest.mark.long
def test_example(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, EXAMPLE / "run.py"], cwd=tmp_path, env={**os.environ, "SIM": "icarus"},
                          text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Running on Icarus" in done.stdout


@pytest.mark.long
def test_two_units_with_floats_atomics_and_two_ways(tmp_path: Path) -> None:
    assert icarus(tmp_path, "wide", initial=False, reset=True) == verilator(tmp_path, "wide")
