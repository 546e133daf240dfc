"""``fgpu bench --float``: with units, without, and both beside each other."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fgpu.benchmarks import Record
from fgpu.cli import main
from fgpu.cli.bench_floats import float_configs, print_ratios
from fgpu.config import FLOAT_OPS, Config


def test_configurations() -> None:
    some = Config(float_ops=frozenset({"fadd"}))
    assert float_configs(None, some) == [some]
    assert float_configs("hard", Config()) == [Config(float_ops=FLOAT_OPS)]
    assert float_configs("both", some) == [some, Config()]


def test_the_command_runs_both(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    done = CliRunner().invoke(main, ["bench", "div_float", "--float", "both", "--sizes", "64", "--engine",
                                     "functional", "--jobs", "1", "--json", str(path)])
    assert done.exit_code == 0, done.output
    hard, soft = json.loads(path.read_text())
    assert hard["passed"]
    assert soft["passed"]
    assert hard["config"]["float_ops"]
    assert "float_ops" not in soft["config"]
    assert hard["instructions"] < soft["instructions"] / 5


def test_integers_run_once(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    done = CliRunner().invoke(main, ["bench", "copy", "div_float", "--float", "both", "--sizes", "64", "--engine",
                                     "functional", "--jobs", "1", "--json", str(path)])
    assert done.exit_code == 0, done.output
    assert [record["kernel"] for record in json.loads(path.read_text())] == ["copy", "div_float", "div_float"]
    lines = done.output.splitlines()
    assert lines[0].split()[:4] == ["kernel", "floats", "size", "CUs"]
    assert [line.split()[:2] for line in lines[1:4]] == [["copy", "64"], ["div_float", "hard"], ["div_float", "soft"]]
    assert "Hard and soft floating point do not apply to benchmarks of integers: copy" in lines


def test_only_integers_have_no_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    print_ratios([_record("copy", 100, {})])
    assert capsys.readouterr().out.split("\n") == [
        "", "Hard and soft floating point do not apply to benchmarks of integers: copy", ""]


def _record(name: str, cycles: int | None, config: dict) -> Record:
    return Record(kernel=name, size=64, cus=1, group_size=64, engine="verilator", seed=0, launches=1, work_items=64,
                  cycles=cycles, instructions=1, work_item_instructions=64, seconds=1.0, passed=True, config=config)


def test_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    hard = {"float_ops": ["fadd"]}
    print_ratios([_record("a", 100, hard), _record("a", 200, {}), _record("b", 100, hard), _record("b", 800, {}),
                  _record("c", None, hard), _record("c", 100, {}), _record("d", 100, hard)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith(("a", "b", "c", "d"))] == [
        ["a", "64", "1", "100", "200", "2.00"], ["b", "64", "1", "100", "800", "8.00"]]
    assert "Geometric mean 4.00, most 8.00 (b 64, 1 CU(s))" in lines
