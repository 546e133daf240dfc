"""The floating-point units as a module by themselves: what cores that differ in their units differ in."""

import re
from pathlib import Path

import pytest
from amaranth.back import rtlil
from click.testing import CliRunner

from fgpu.cli import main
from fgpu.config import FLOAT_OPS, Config
from fgpu.core import FGPU

FEW = frozenset({"fadd"})


def modules(config: Config) -> dict[str, str]:
    """The modules of a core; private names count the signals of the whole process."""
    text = re.sub(r"port\$\d+\$", "port$", rtlil.convert(FGPU(config), name="fgpu", emit_src=False))
    return {body.split(None, 1)[0]: body for body in re.split(r"^module ", text, flags=re.MULTILINE)[1:]}


@pytest.mark.ci
def test_cores_differ_in_that_module_alone() -> None:
    base = Config.preset("tiny")
    few, all_ = (modules(base.replace(float_ops=ops, float_subnormals=subnormals))
                 for ops, subnormals in ((FEW, True), (FLOAT_OPS, False)))
    different = {name for name in few | all_ if few.get(name) != all_.get(name)}
    inside = {name for name in few | all_ if re.match(r"\\fgpu\.cu0\.floats(\.|$)", name)}
    assert r"\fgpu.cu0.floats" in inside
    assert different
    assert different <= inside


@pytest.mark.ci
def test_a_core_without_units_has_no_trace_of_them() -> None:
    assert not [name for name in modules(Config.preset("tiny")) if "float" in name]


def test_the_module_by_itself(tmp_path: Path) -> None:
    """Nothing in it is reset."""
    path = tmp_path / "units.v"
    done = CliRunner().invoke(main, ["verilog", "-o", str(path), "--float-units", "--float-ops", "fslt"])
    assert done.exit_code == 0, done.output
    text = path.read_text()
    [ports] = re.findall(r"^module floats\((.*)\);", text, re.MULTILINE)
    assert set(ports.split(", ")) == {"clk", "rst", "operation", "first", "second", "select", "result", "available",
                                      "slots"}
    assert "always @(posedge clk)" in text
    assert not re.search(r"if \(rst\)|\? .*\brst\b", text)


@pytest.mark.parametrize("options", [[], ["--preset", "tiny"]])
def test_no_units_no_module(tmp_path: Path, options: list[str]) -> None:
    done = CliRunner().invoke(main, ["verilog", "-o", str(tmp_path / "units.v"), "--float-units", *options])
    assert done.exit_code == 1
    assert "float_ops is empty: there are no floating-point units to write; choose some" in done.output
