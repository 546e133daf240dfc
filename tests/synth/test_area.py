"""The checked-in areas: none may move unsaid."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fgpu.benchmarks import area
from fgpu.cli import main
from fgpu.config import Config
from fgpu.cu.pe import ProcessingElement
from fgpu.tools.area import Area, ModuleArea, component_memories, synthesize
from fgpu.tools.families import FAMILIES

from ..checked_in import demand_unmoved


def check(names: tuple[str, ...]) -> None:
    demand_unmoved(area.differences(area.load(), area.measure(names)), "areas", "benchmarks/area.json", area.REWRITE)


@pytest.mark.ci
@pytest.mark.parametrize("name", area.QUICK)
def test_nothing_moved(name: str) -> None:
    check((name,))


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(area.UNITS) - set(area.QUICK)))
def test_nothing_large_moved(name: str) -> None:
    check((name,))


def test_every_unit_is_guarded() -> None:
    assert list(area.load()) == list(area.UNITS)


def test_differences_better_and_worse() -> None:
    before = {"pe": {"luts": 300, "ffs": 600}, "cache": {"luts": 7, "ffs": 7}}
    now = {"pe": {"luts": 290, "ffs": 1601}, "cache": {"luts": 7, "ffs": 7}, "turn": {"luts": 1}}
    assert list(area.differences(before, now)) == [
        "pe: luts 300 became 290", "pe: ffs 600 became 1,601", "turn is new"]


def test_the_command_writes_what_the_test_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "area.json"
    path.write_text('{"pe": {"luts": 300}}')
    monkeypatch.setattr(area, "BASELINE", path)
    monkeypatch.setattr(area, "component_area", lambda component: Area(luts=290))
    monkeypatch.setattr(area, "UNITS", dict.fromkeys(area.UNITS, lambda config: None))
    result = CliRunner().invoke(main, area.REWRITE.split()[1:])
    assert result.exit_code == 0, result.output
    assert "pe: luts 300 became 290" in result.output
    assert json.loads(path.read_text())["launcher"]["luts"] == 290
    result = CliRunner().invoke(main, [*area.REWRITE.split()[1:], "--family", "ecp5"])
    assert result.exit_code == 2
    assert "--write-baseline goes with no other option" in result.stderr


def test_cells() -> None:
    """Two LUTs for each bit of a RAM64X1D, four for a RAM32M; a half block RAM is one of 18 Kb."""
    cells = {"LUT6": 3, "INV": 2, "RAM32M": 2, "RAM64X1D": 1, "SRL16E": 1, "FDRE": 9, "RAMB18E1": 3, "RAMB36E1": 1}
    found = Area.of_cells(cells, FAMILIES["xc7"].cells)
    assert found == Area(luts=3, lut_memories=4, memory_luts=11, ffs=9, block_rams=2.5)
    assert (found + found).all_luts == 28
    cells = {"LUT3": 3, "ALU": 2, "MUX2_LUT5": 9, "RAM16SDP4": 1, "DFFRE": 4, "DFF": 1, "SDPX9B": 1, "SP": 1,
             "DPB": 1, "MULT27X36": 2, "IBUF": 1, "GND": 1, "$scopeinfo": 7}
    assert Area.of_cells(cells, FAMILIES["gowin"].cells) == Area(
        luts=5, lut_memories=1, memory_luts=8, ffs=5, block_rams=3, dsps=2)
    cells = {"LUT4": 3, "CCU2C": 2, "PFUMX": 9, "TRELLIS_DPR16X4": 1, "TRELLIS_FF": 4, "DP16KD": 1, "MULT18X18D": 2}
    assert Area.of_cells(cells, FAMILIES["ecp5"].cells) == Area(
        luts=7, lut_memories=1, memory_luts=4, ffs=4, block_rams=1, dsps=2)


@pytest.mark.ci
def test_multipliers_of_a_family_for_which_yosys_makes_none() -> None:
    """Four products a processing element, as on the other families."""
    found = component_memories(ProcessingElement(Config()), "gowin")
    assert (found.dsps, found.block_rams) == (4, 2)


def test_several_configurations_beside_the_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def synthesize(config, family, progress):
        unit = ModuleArea("cu0", Area(luts=10_000, memory_luts=600, ffs=9000, block_rams=26.5, dsps=32))
        return ModuleArea("fgpu", sum([unit.area] * config.compute_units, Area()), [unit] * config.compute_units)

    monkeypatch.setattr("fgpu.tools.area.synthesize", synthesize)
    found = tmp_path / "area.json"
    result = CliRunner().invoke(main, ["synth", "--cus", "1,8", "--json", str(found)])
    assert result.exit_code == 0, result.output
    words = [line.split() for line in result.output.splitlines()]
    assert ["1", "LUTs", "10,000", "32,208", "(Yosys)", "0.31"] in words
    assert ["LUTs", "with", "LUT", "memory", "10,600"] in words
    assert ["LUTs", "with", "LUT", "memory", "84,800", "119,371", "(Vivado)", "0.71"] in words
    assert ["block", "RAMs", "26.5", "50", "(Yosys)", "0.53"] in words
    # The reference has neither floating point nor, in that table, atomics.
    assert "(Yosys)" not in CliRunner().invoke(main, ["synth", "--preset", "float"]).output
    assert [tree["compute_units"] for tree in json.loads(found.read_text())] == [1, 8]


def test_alike_modules_are_synthesized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    verilog = "".join([
        "module bank0(clk);\n  input clk;\n  assign \\x$1 = \\y$2 ;\nendmodule\n",
        "module bank1(clk);\n  input clk;\n  assign \\x$3 = \\y$4 ;\nendmodule\n",
        "module cu(clk);\n  input clk;\n  bank0 a (\n    .clk(clk)\n  );\n",
        "  bank1 b (\n    .clk(clk)\n  );\nendmodule\n",
        "module fgpu(clk);\n  input clk;\n  cu cu0 (\n    .clk(clk)\n  );\n",
        "  cu cu1 (\n    .clk(clk)\n  );\nendmodule\n"])
    seen = []
    monkeypatch.setattr("fgpu.tools.area.to_verilog", lambda config: verilog)
    monkeypatch.setattr("fgpu.tools.area._yosys", lambda source, family: seen.append(source) or Area(luts=10))
    tree = synthesize(Config(compute_units=2), jobs=1)
    assert len(seen) == 3
    assert (tree.area.luts, [child.area.luts for child in tree.children]) == (70, [30, 30])
