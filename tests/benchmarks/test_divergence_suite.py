"""The benchmarks for schemes of divergence."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from fgpu.benchmarks import DIVERGENCE, run_benchmark, schemes
from fgpu.benchmarks.figures import FIGURES, Measurements
from fgpu.benchmarks.record import difference
from fgpu.benchmarks.work_groups import CONFIG
from fgpu.cli import main


def test_the_papers_twelve_and_five_more() -> None:
    assert len(DIVERGENCE) == 17


@pytest.mark.parametrize("name", DIVERGENCE)
def test_result_is_right(name: str) -> None:
    record = run_benchmark(name, DIVERGENCE[name].sizes[0], config=CONFIG, engine="functional", seed=3)
    assert record.failure is None
    assert record.occupancy is not None
    assert 0 < record.occupancy <= 1


@pytest.mark.ci
@pytest.mark.parametrize("name", DIVERGENCE)
def test_result_is_right_in_hardware(name: str) -> None:
    record = run_benchmark(name, DIVERGENCE[name].sizes[0], config=CONFIG)
    assert record.failure is None
    assert record.cycles is not None


def test_elementary_functions_may_differ_by_little_and_no_more() -> None:
    expected = np.array([100.0, 0.0, -1.0], np.float32)
    assert difference("out", expected + np.float32(1e-5), expected, 2e-5) is None
    wrong = difference("out", np.array([100.0, 0.0, np.nan], np.float32), expected, 2e-5)
    assert wrong == "1 of 3 elements of out are wrong; the first is 2: nan instead of -1.0"


def test_occupancy_is_told() -> None:
    result = CliRunner().invoke(main, ["bench", "tree_search", "--divergence", "all", "--engine", "functional",
                                       "--sizes", "64", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert "SIMD occupancy, percent" in result.output


def test_unknown_schemes_are_refused() -> None:
    result = CliRunner().invoke(main, ["bench", "tree_search", "--divergence", "stacks"])
    assert result.exit_code == 1
    assert "divergence must be one of 'stack'" in result.output


def test_figures_of_occupancy_and_cycles() -> None:
    records = [run_benchmark("tree_search", 64, config=CONFIG.replace(divergence=scheme), engine="functional")
               for scheme in ("stack", "min_pc")]
    timed = [replace(record, cycles=cycles) for record, cycles in zip(records, (200, 150), strict=True)]
    found = Measurements(timed)
    figure = FIGURES["divergence"](found)
    assert figure.series["stack"]["tree_search"] == pytest.approx(100 * (records[0].occupancy or 0))
    assert figure.series["min_pc"]["tree_search"] > figure.series["stack"]["tree_search"]
    assert FIGURES["divergence-cycles"](found).series["min_pc"] == {"tree_search": 75, "mean": pytest.approx(75)}
    assert not FIGURES["divergence-cycles"](Measurements(records)).series
    beside = [each.name for each in FIGURES["divergence"](found).beside]
    assert beside == ["divergence-cycles", "divergence-area"]
    assert [each.name for each in FIGURES["divergence"](Measurements(records)).beside] == beside[1:]


@pytest.mark.ci
@pytest.mark.parametrize("scheme", schemes.load())
def test_the_area_of_the_units_is_that_checked_in(scheme: str) -> None:
    """If not: ``python -c "from fgpu.benchmarks import schemes; schemes.save()"``, and docs/divergence.md."""
    figures = schemes.load()[scheme]
    area = schemes.measure_area(scheme)
    assert {kind: figures[kind] for kind in area} == area
