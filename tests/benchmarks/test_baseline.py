"""The checked-in cycles and instructions: none may move unsaid."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fgpu.benchmarks import BENCHMARKS, Record, baseline
from fgpu.cli import main
from fgpu.errors import SimulationError

from ..checked_in import demand_unmoved


@pytest.mark.ci
def test_nothing_moved() -> None:
    demand_unmoved(baseline.differences(baseline.load(), baseline.measure()), "cycles or instructions",
                   "benchmarks/baseline.json", baseline.REWRITE)


def test_every_kernel_is_guarded() -> None:
    assert {(name, size) for name in BENCHMARKS for size in (256, 1024)} <= set(baseline.RUNS)
    assert len(baseline.load()) == len(baseline.RUNS)


def test_differences_better_and_worse() -> None:
    before = {"copy 256": {"cycles": 1000, "instructions": 8}, "fir 256": {"cycles": 7, "instructions": 8},
              "gone 1": {"cycles": 1, "instructions": 1}, "max 1": {"scratchpad": 0}}
    now = {"copy 256": {"cycles": 990, "instructions": 10}, "fir 256": {"cycles": 7, "instructions": 8},
           "gather 1": {"cycles": 1, "instructions": 1}, "max 1": {"scratchpad": 4}}
    assert list(baseline.differences(before, now)) == [
        "copy 256: 1,000 cycles became 990 (-1.0 %)", "copy 256: 8 instructions became 10 (+25.0 %)",
        "gone 1 is not run any more", "max 1: 0 scratchpad became 4", "gather 1 is new"]


def _record(name: str, size: int, *, failure: str | None = None) -> Record:
    return Record(kernel=name, size=size, cus=1, group_size=64, engine="verilator", seed=0, launches=1,
                  work_items=size, cycles=None if failure else 2 * size, instructions=size,
                  work_item_instructions=size, seconds=1.0, passed=not failure, failure=failure)


@pytest.mark.ci
def test_the_command_writes_what_the_test_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "baseline.json"
    monkeypatch.setattr(baseline, "BASELINE", path)
    monkeypatch.setattr(baseline, "RUNS", (("copy", 64), ("fir", 128)))
    monkeypatch.setattr(baseline, "run_benchmark", lambda name, size, config: _record(name, size))
    path.write_text('{"copy 64": {"cycles": 100, "instructions": 64}}')
    result = CliRunner().invoke(main, baseline.REWRITE.split()[1:])
    assert result.exit_code == 0, result.output
    assert "copy 64: 100 cycles became 128 (+28.0 %)" in result.output
    assert json.loads(path.read_text()) == {"copy 64": {"cycles": 128, "instructions": 64},
                                            "fir 128": {"cycles": 256, "instructions": 128}}


def test_a_wrong_result_makes_no_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "run_benchmark", lambda name, size, config: _record(name, size, failure="wrong"))
    with pytest.raises(SimulationError, match="copy 256: wrong"):
        baseline.measure()


@pytest.mark.parametrize("options", [["copy"], ["--cus", "4"], ["--engine", "functional"], ["--cache-size", "4"]])
def test_baselines_are_of_one_configuration(options: list[str]) -> None:
    result = CliRunner().invoke(main, ["bench", "--write-baseline", *options])
    assert result.exit_code == 2
    assert "--write-baseline goes with no other option" in result.stderr
