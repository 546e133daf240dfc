"""The generated Verilog under cocotb and cocotbext-axi: a bench that shares nothing with ours but the host's code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cocotbext.axi", reason="needs cocotb: pip install 'fgpu[cocotb]'")

from fgpu.cocotb import run
from fgpu.config import Config

from ..seeds import seed_of_test

EXAMPLE = Path(__file__).parents[2] / "examples" / "cocotb"
TINY = Config.preset("tiny")


@pytest.mark.ci
def test_example(tmp_path: Path) -> None:
    """As a user runs it; dependencies warn of nothing."""
    done = subprocess.run([sys.executable, EXAMPLE / "run.py"], cwd=tmp_path, text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "PASS=1 FAIL=0" in done.stdout
    assert "Warning" not in done.stdout + done.stderr


def test_a_simulator_that_cocotb_does_not_know(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, EXAMPLE / "run.py"], cwd=tmp_path, text=True, capture_output=True,
                          check=False, env=os.environ | {"SIM": "verilatr"})
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cocotb knows no simulator 'verilatr': ")
    assert "icarus" in done.stderr


@pytest.mark.ci
def test_kernels_and_bad_accesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    assert run("bench", TINY, folder=tmp_path, seed=seed_of_test() >> 1) == (12, 0)
