"""``fgpu build`` with stand-ins for the design and for the tools: what they are told, what is kept, what is said."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from click.testing import CliRunner

import fgpu.board.bitstream
import fgpu.board.ecp5
import fgpu.board.figures
from fgpu.cli import main

STAND_IN = """#!/bin/sh
if [ "$1" = --version ]; then echo "{version}"; exit 0; fi
echo "{name} $@" >> "{folder}/calls"
{script}
"""
CELLS = {name: {"used": 7, "available": 100} for name in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D")}


class Small(wiring.Component):
    """Instead of a board's design."""

    def __init__(self, board: Any, parameters: Any) -> None:
        super().__init__({})

    def elaborate(self, platform: Any) -> Module:
        return Module()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command runs, with tools that are content; a design of 44 MHz."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(fgpu.board.ecp5, "BoardTop", Small)
    monkeypatch.setattr(fgpu.board.figures, "TABLE", tmp_path / "table.json")
    stand_in(tmp_path, "yosys", "Yosys 0.70", "echo netlist > fgpu_board.json")
    report = json.dumps({"utilization": CELLS, "fmax": {"clk": {"achieved": 44.0}}})
    stand_in(tmp_path, "nextpnr-ecp5", "(Version nextpnr-0.11)",
             f"grep -q netlist fgpu_board.json || exit 1\necho config > fgpu_board.config\n"
             f"cat > report.json <<'END'\n{report}\nEND")

    def pack(program: str, arguments: list[str], work: Path) -> subprocess.CompletedProcess[str]:
        assert program == "ecppack"
        (work / "fgpu_board.bit").write_bytes((work / "fgpu_board.config").read_bytes())
        return subprocess.CompletedProcess(arguments, 0, "", "")

    monkeypatch.setattr(fgpu.board.bitstream, "run_yowasp", pack)
    return tmp_path


def stand_in(folder: Path, name: str, version: str, script: str) -> None:
    program = folder / name
    program.write_text(STAND_IN.format(folder=folder, name=name, version=version, script=script))
    program.chmod(0o755)


def build(arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["build", "--board", *arguments.split()])
    return done.exit_code, done.output


def test_netlist_and_bitstream_are_kept(folder: Path) -> None:
    for seed, calls in ((1, ["yosys", "nextpnr-ecp5"]), (1, []), (2, ["nextpnr-ecp5"])):
        (folder / "calls").write_text("")
        status, output = build(f"ulx3s_85f --seed {seed}")
        assert status == 0, output
        assert "wrote ulx3s_85f.bit: 44.0 MHz at best, runs at 40" in output
        said = (folder / "calls").read_text().splitlines()
        assert [line.split()[0] for line in said] == calls
        assert all(f"--85k --package CABGA381 --speed 6 --seed {seed}" in line for line in said if "nextpnr" in line)
    assert (folder / "ulx3s_85f.bit").read_text() == "config\n"


def test_a_design_that_is_too_slow_is_no_success(folder: Path) -> None:
    status, output = build("ulx3s_85f --clock 50 --write-table")
    assert status == 1
    assert "the design is too slow for 50 MHz; try --clock 40" in output
    assert not fgpu.board.figures.load()


def test_what_was_built_is_listed(folder: Path) -> None:
    for arguments in ("ulx3s_85f --preset tiny", "ulx3s_85f --cus 2", "ulx3s_85f --preset tiny --seed 3"):
        assert build(f"{arguments} --write-table")[0] == 0
    rows = fgpu.board.figures.load()
    assert sorted((row.board, row.core, row.seed) for row in rows) == [
        ("ulx3s_85f", "basic, compute_units=2", 1), ("ulx3s_85f", "tiny", 3)]
    listed = build("?")[1]
    assert "basic, compute_units=2" in listed
    assert "7 (7 %)" in listed
    assert "| ulx3s_85f | tiny | 40 MHz | 44.0 MHz | 7 (7 %) |" in fgpu.board.figures.markdown()


def test_a_tool_that_fails_is_told(folder: Path) -> None:
    stand_in(folder, "nextpnr-ecp5", "(Version nextpnr-0.11)", "echo 'ERROR: no room' >&2; exit 1")
    status, output = build("ulx3s_85f")
    assert status == 1
    assert "placing and routing failed with status 1: ERROR: no room" in output
