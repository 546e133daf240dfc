"""``fgpu build`` with stand-ins for the design and for the tools: what they are told, what is kept, what is said."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from click.testing import CliRunner

import fgpu.board.bitstream
import fgpu.board.ecp5
import fgpu.board.figures
import fgpu.tools.nextpnr_log
from fgpu.board.bitstream import Bitstream, build_bitstream, constraints_of_placed
from fgpu.board.boards import board
from fgpu.board.system import SystemParameters
from fgpu.cli import main
from fgpu.errors import ToolError
from fgpu.tools.nextpnr import FLOW
from fgpu.tools.nextpnr_log import said

STAND_IN = """#!/bin/sh
if [ "$1" = --version ]; then echo "{version}"; exit 0; fi
echo "{name} $@" >> "{folder}/calls"
{script}
"""
MOVED = json.dumps({"modules": {"moved": {"cells": {}}}})
CELLS = {name: {"used": 7, "available": 100} for name in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D")}


class Small(wiring.Component):
    """Instead of a board's design."""

    def __init__(self, board: Any, parameters: Any, pll: Any) -> None:
        super().__init__({})

    def elaborate(self, platform: Any) -> Module:
        return Module()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command runs, with tools that are content; a design of 54 MHz."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(fgpu.board.ecp5, "BoardTop", Small)
    monkeypatch.setattr(fgpu.board.figures, "TABLE", tmp_path / "table.json")
    stand_in(tmp_path, "yosys", "Yosys 0.70",
             """echo '{"modules": {"fgpu_board": {"ports": {}, "cells": {}}}}' > fgpu_board.json""")
    report = json.dumps({"utilization": CELLS, "fmax": {"clk": {"achieved": 54.0}}})
    nextpnr(tmp_path, "grep -q router2/currCongWeightMult fgpu_board.json || exit 1",
            f"grep -q moved refined.json || exit 1\ncat > report.json <<'END'\n{report}\nEND")

    def move(netlist: str, sdf: str) -> tuple[str, float]:
        assert (netlist, sdf) == ("placed\n", "delays\n")
        return MOVED, 1000 / 62.0

    monkeypatch.setattr(fgpu.board.bitstream, "refined", move)

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


def nextpnr(folder: Path, place: str, route: str) -> None:
    """A stand-in that runs twice."""
    stand_in(folder, "nextpnr-ecp5", "(Version nextpnr-0.11)", f"""
if echo "$@" | grep -q -- --no-route; then
{place}
echo placed > placed.json; echo delays > delays.sdf
else
{route}
echo config > fgpu_board.config
fi""")


def built(progress: Callable[[str], None] = lambda text: None) -> Bitstream:
    chosen = board("ulx3s_85f")
    return build_bitstream(chosen, SystemParameters(clock=chosen.clock, memory_bytes=chosen.chip.size),
                           progress=progress)


def build(arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["build", "--board", *arguments.split()])
    return done.exit_code, done.output


def test_netlist_and_bitstream_are_kept(folder: Path) -> None:
    for seed, calls in (
            (1, ["yosys", "nextpnr-ecp5", "nextpnr-ecp5"]), (1, []), (2, ["nextpnr-ecp5", "nextpnr-ecp5"])):
        (folder / "calls").write_text("")
        status, output = build(f"ulx3s_85f --seed {seed}")
        assert status == 0, output
        assert "wrote ulx3s_85f.bit: 54.0 MHz at best, runs at 50" in output
        said = (folder / "calls").read_text().splitlines()
        assert [line.split()[0] for line in said] == calls
        assert all(f"--85k --package CABGA381 --speed 6 --seed {seed}" in line for line in said if "nextpnr" in line)
    assert (folder / "ulx3s_85f.bit").read_text() == "config\n"


def test_sites_that_stay_free_are_no_luts_in_use(folder: Path) -> None:
    """Of a design of a third of the FPGA, for a bitstream that was kept as well."""
    luts = 83_640 // 3
    cells = {f"l{number}": {"type": "LUT4", "port_directions": {}, "connections": {}} for number in range(luts)}
    netlist = folder / "netlist.json"
    netlist.write_text(json.dumps({"modules": {"fgpu_board": {"ports": {}, "cells": cells}}}))
    stand_in(folder, "yosys", "Yosys 0.70", f"cp {netlist} fgpu_board.json")
    report = json.dumps({"utilization": CELLS | {"TRELLIS_COMB": {"used": "USED", "available": 83_640}},
                         "fmax": {"clk": {"achieved": 54.0}}})
    nextpnr(folder, "", f"""used=$(grep -o '"BEL"' fgpu_board.json | wc -l)\ntest $used -gt 9999 || exit 1
echo '{report}' | sed "s/\\"USED\\"/$((used + {luts}))/" > report.json""")
    for _ in range(2):
        assert built().used["LUTs"] == (luts, 83_640)
        assert (folder / "calls").read_text().count("nextpnr-ecp5 ") == 2


def test_what_was_kept_is_not_parsed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is it taken for another flow's."""
    first = built()
    with monkeypatch.context() as patch:
        patch.setattr(fgpu.board.bitstream, "tuned", None)
        assert built() == first
    monkeypatch.setattr(fgpu.board.bitstream, "FLOW", FLOW + 1)
    built()
    assert (folder / "calls").read_text().count("nextpnr-ecp5 ") == 4


def test_a_design_that_is_too_slow_is_no_success(folder: Path) -> None:
    status, output = build("ulx3s_85f --clock 60 --write-table")
    assert status == 1
    assert "the design is too slow for 60 MHz; try --clock 50" in output
    assert not fgpu.board.figures.load()


def test_a_core_that_is_known_to_be_slow_runs_at_its_own_clock(folder: Path) -> None:
    assert build("ulx3s_85f --preset tiny --clock 45 --write-table")[0] == 0
    assert "runs at 45;" in build("ulx3s_85f --preset tiny")[1]
    assert "runs at 35;" in build("ulx3s_85f --preset tiny --clock 35")[1]
    assert "runs at 50;" in build("ulx3s_85f")[1]
    assert "runs at 40;" in build("ulx3s_45f --preset tiny")[1]


def test_what_was_built_is_listed(folder: Path) -> None:
    for arguments in ("ulx3s_85f --preset tiny", "ulx3s_85f --cus 2", "ulx3s_85f --preset tiny --seed 3"):
        assert build(f"{arguments} --write-table")[0] == 0
    rows = fgpu.board.figures.load()
    assert sorted((row.board, row.core, row.seed) for row in rows) == [
        ("ulx3s_85f", "basic, compute_units=2", 1), ("ulx3s_85f", "tiny", 3)]
    listed = build("?")[1]
    assert "basic, compute_units=2" in listed
    assert "7 (7 %)" in listed
    assert "| ulx3s_85f | tiny | 50 MHz | 54.0 MHz | 7 (7 %) |" in fgpu.board.figures.markdown()


def test_what_fits_is_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a count of cells, for boards that are not offered, too; a bitstream's own figures, where there is one."""
    kinds = ("LUTs", "flip-flops", "block RAMs", "multipliers")
    counts = {core: dict(zip(kinds, cells, strict=True)) for core, cells in {
        "rest": (4000, 1000, 1, 0), "tiny": (21_000, 20_000, 40, 32), "basic": (39_848, 30_000, 70, 72)}.items()}
    monkeypatch.setattr(fgpu.board.figures, "COUNTS", folder / "counts.json")
    (folder / "counts.json").write_text(json.dumps(counts))
    assert build("ulx3s_85f --preset tiny --write-table")[0] == 0
    found = {(fit.board.name, fit.core): (fit.verdict, *fit.used["LUTs"]) for fit in fgpu.board.figures.fits()}
    assert found == {
        ("ulx3s_85f", "tiny"): ("built: 54.0 MHz", 7, 100), ("ulx3s_85f", "basic"): ("fits by count", 43_848, 83_640),
        ("ulx3s_45f", "tiny"): ("fits by count", 25_000, 43_848),
        ("ulx3s_45f", "basic"): ("fits by count", 43_848, 43_848),
        ("ecpix5", "tiny"): ("fits by count", 25_000, 83_640), ("ecpix5", "basic"): ("fits by count", 43_848, 83_640),
        ("orangecrab", "tiny"): ("too large: LUTs, multipliers", 25_000, 24_288),
        ("orangecrab", "basic"): ("too large: LUTs, flip-flops, block RAMs, multipliers", 43_848, 24_288)}
    listed = build("?")[1]
    assert "orangecrab: its memory is DDR3" in listed
    assert "| orangecrab | tiny | 25,000 (103 %) |" in fgpu.board.figures.fits_markdown()


def test_the_documents_tables_are_those_of_the_package() -> None:
    text = (Path(__file__).parents[2] / "docs/boards.md").read_text(encoding="utf-8")
    assert fgpu.board.figures.markdown() in text
    assert fgpu.board.figures.fits_markdown() in text


def test_a_tool_that_fails_is_told_in_one_line(folder: Path) -> None:
    stand_in(folder, "nextpnr-ecp5", "(Version nextpnr-0.11)",
             "echo 'Warning: late' >&2; echo 'ERROR: no room' >&2; echo '1 warning, 1 error' >&2; exit 1")
    status, output = build("ulx3s_85f")
    assert status == 1
    assert output.splitlines()[-1] == "Error: placing failed with status 1: ERROR: no room"


@pytest.mark.parametrize(("expected", "clock"), [(62.0, 61.07), (40.0, 50.0)])
def test_what_was_placed_is_routed_for_what_it_can_do(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                                      expected: float, clock: float) -> None:
    """Or for the clock that is wanted, if that is faster."""
    asked = []
    monkeypatch.setattr(fgpu.board.bitstream, "refined", lambda *_: (MOVED, 1000 / expected))
    monkeypatch.setattr(fgpu.board.bitstream, "constraints_of_placed",
                        lambda constraints, netlist, mhz: asked.append((netlist, mhz)) or constraints)
    built()
    assert asked == [(MOVED, pytest.approx(clock))]


def test_the_clock_of_what_was_placed_has_another_name() -> None:
    pll = {"type": "EHXPLLL", "connections": {"CLKOP": [7], "CLKOS": [8]}}
    netlist = json.dumps({"modules": {"fgpu_board": {
        "cells": {"pll": pll}, "netnames": {"delayed": {"bits": [8]}, "clk": {"bits": [7]}}}}})
    constraints = b'FREQUENCY NET "%s" %d HZ;\nFREQUENCY PORT "pin" 25000000.0 HZ;\n'
    assert constraints_of_placed(constraints % (b"clock", 50e6), netlist, 61.07) == constraints % (b"clk", 61_070_000)


def test_it_says_how_far_routing_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fgpu.tools.nextpnr_log, "_SECONDS", 0.01)
    steps = "".join(f"echo 'Info: iter={number} wires=9 overused={20000 - number} overuse=7 archfail=NA' >> $log\n"
                    f"for try in $(seq 999); do grep -q {20000 - number} told && break; sleep 0.01; done\n"
                    for number in (1, 2))
    told: list[str] = []
    stand_in(folder, "nextpnr-ecp5", "(Version nextpnr-0.11)",
             "while [ $1 != --log ]; do shift; done; log=$PWD/$2; cd " + f"{folder}\n{steps}exit 1")

    def tell(text: str) -> None:
        told.append(text)
        (folder / "told").write_text("\n".join(told).replace(",", ""))

    (folder / "told").touch()
    with pytest.raises(ToolError):
        built(tell)
    assert told[-2:] == ["routing, iteration 1: 19,999 wires overused", "routing, iteration 2: 19,998 wires overused"]


@pytest.mark.parametrize(("line", "text"), [
    ("Info:     at initial placer iter 3, wirelen = 203", "placing, first iteration 3"),
    ("Info:     at iteration #4, type ALL: wirelen solved = 4889, spread = 9, legal = 1221370; time = 3.84s",
     "placing, iteration 4: 1,221,370 of wire"),
    ("Info:   at iteration #22: temp = 0.000000, timing cost = 753, wirelen = 15055 ",
     "refining, iteration 22: 15,055 of wire"),
    ("Info:     iter=40 wires=56455 overused=0 overuse=0 archfail=0", "routing, iteration 40: 0 wires overused"),
    ("Info: Packing constants..", None),
])
def test_lines_of_nextpnrs_log(line: str, text: str | None) -> None:
    assert said(line) == text
