"""Benchmarks with local memory: the same results as those without, tables and figures of both, and what it gains."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fgpu.benchmarks import EVERY, WORK_GROUPS, Record, run_benchmark
from fgpu.benchmarks.figures import FIGURES, Measurements
from fgpu.benchmarks.results import read_records
from fgpu.benchmarks.work_groups import CONFIG
from fgpu.cli import main
from fgpu.cli.bench_local import print_comparison, with_all_units
from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.errors import LaunchError

from ..configurations import GROUPS

LOCAL = [name for name, benchmark in WORK_GROUPS.items() if benchmark.without]
SMALL = Config(local_memory=32)


def test_each_stands_behind_the_one_without() -> None:
    names = list(WORK_GROUPS)
    assert len(LOCAL) == 13
    for name in LOCAL:
        assert names[names.index(name) - 1] == EVERY[name].without
        assert WORK_GROUPS[EVERY[name].without].sizes == EVERY[name].sizes


@pytest.mark.parametrize("name", LOCAL)
def test_both_have_the_same_data_and_result(name: str) -> None:
    local, plain = (EVERY[each].problem(256, seed=5) for each in (name, EVERY[name].without))
    assert {key: array.tolist() for key, array in plain.arrays.items() if array.any()} == {
        key: array.tolist() for key, array in local.arrays.items() if array.any()}
    for computed, expected in zip(local.expected.values(), plain.expected.values(), strict=True):
        np.testing.assert_array_equal(computed, expected)


@pytest.mark.parametrize("name", [*LOCAL, "scan", "histogram", "convolution", "kmeans", "mergesort"])
def test_result_is_right(name: str) -> None:
    record = run_benchmark(name, 256, config=CONFIG, engine="functional", seed=1)
    assert record.failure is None
    assert record.passed


@pytest.mark.ci
@pytest.mark.parametrize("name", WORK_GROUPS)
def test_result_is_right_of_all_sizes(name: str) -> None:
    for size in WORK_GROUPS[name].sizes:
        record = run_benchmark(name, size, config=CONFIG, engine="functional", seed=size)
        assert record.failure is None, size


@pytest.mark.ci
@pytest.mark.parametrize("name", LOCAL)
def test_result_is_right_in_global_memory(name: str) -> None:
    config = CONFIG.replace(local_memory=0, compute_units=2)
    for size in (256, WORK_GROUPS[name].sizes[-1]):
        record = run_benchmark(name, size, config=config, engine="functional", seed=2)
        assert record.failure is None, size


@pytest.mark.parametrize("size", [64, 192, 512, 576, 4096])
def test_scans_and_sums_of_all_sizes(size: int) -> None:
    """Whole blocks, parts of them, one and several."""
    for name in ("sum_local", "scan_local", "scan", "histogram_local", "kmeans_local"):
        record = run_benchmark(name, size, config=CONFIG, engine="functional", seed=size)
        assert record.failure is None, name


def test_sizes_of_blocks() -> None:
    with pytest.raises(LaunchError, match="mergesort_local: the size must be at most 512, not 1,024"):
        EVERY["mergesort_local"].problem(1024)
    with pytest.raises(LaunchError, match="bitonic_local: the size must be 256 or 512, not 1,024"):
        EVERY["bitonic_local"].problem(1024)
    with pytest.raises(LaunchError, match="matmul_local: the size 576 is not n x n with n a multiple of 16"):
        EVERY["matmul_local"].problem(576)


def test_what_needs_atomic_operations() -> None:
    """Those on local memory come with it; where it is kept in global memory, they are those of global memory."""
    assert EVERY["histogram"].fitting(SMALL).atomics == ATOMICS
    assert EVERY["histogram_local"].fitting(SMALL) == SMALL
    assert EVERY["histogram_local"].fitting(Config()).atomics == ATOMICS


# -- tables and figures -------------------------------------------------------------------------


def record(kernel: str, size: int, cus: int, latency: int, cycles: int, **more: Any) -> Record:
    return Record(kernel=kernel, size=size, cus=cus, group_size=64, engine="verilator", seed=0, launches=1,
                  work_items=size, cycles=cycles, instructions=10, work_item_instructions=640, seconds=1.0,
                  passed=True, latency=latency, **{"config": {"local_memory": 32}, **more})


RECORDS = [
    record("matmul", 1024, 1, 0, 3000), record("matmul_local", 1024, 1, 0, 1000),
    record("matmul", 1024, 4, 60, 5000), record("matmul_local", 1024, 4, 60, 1000),
    record("sum", 1024, 1, 0, 12000), record("sum_local", 1024, 1, 0, 1000),
    record("sum_local", 4096, 1, 0, 1000), record("copy", 1024, 1, 0, 7),
]


def test_the_bound_counts_banks_of_local_memory() -> None:
    counted = {"cu0.local_phases": 700, "cu0.local_conflicts": 300, "cu1.local_phases": 500}
    bound = replace(RECORDS[0], cus=2, stats=counted).bound(Config(compute_units=2))
    assert (bound.local, bound.issue) == (750, 40)
    assert bound.total == 750 + bound.overhead


def test_table_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(RECORDS)
    title, header, *rows = (" ".join(line.split()) for line in capsys.readouterr().out.strip().splitlines())
    assert title == "Without local memory and with it"
    assert header == "kernel size launches 1 CU, latency 0 4 CUs, latency 60"
    assert rows == ["matmul_local 1024 1 1 3,000 1,000 3.00 5,000 1,000 5.00",
                    "sum_local 1024 1 1 12,000 1,000 12.00", "geometric mean 6.00 5.00"]
    print_comparison([RECORDS[-1]])
    assert not capsys.readouterr().out


def test_figure_of_both() -> None:
    series = FIGURES["work-groups"](Measurements(RECORDS)).series
    assert {name: {x: round(y, 6) for x, y in values.items()} for name, values in series.items()} == {
        "1 CU(s), latency 0": {"matmul": 3, "sum": 12, "mean": 6},
        "4 CU(s), latency 60": {"matmul": 5, "mean": 5}}
    assert not FIGURES["6.2"](Measurements(RECORDS)).series     # they are not of chapter 6
    assert not FIGURES["work-groups"](Measurements([replace(each, config={}) for each in RECORDS])).series


def test_the_suite_runs_with_all_units_unless_told_otherwise() -> None:
    assert with_all_units(Config(compute_units=4), ()) == CONFIG.replace(compute_units=4)
    assert with_all_units(Config(local_memory=8), ("local_memory",)).local_memory == 8
    assert with_all_units(Config(), ("local_memory", "atomics")) == Config(float_ops=FLOAT_OPS)


def test_several_latencies(tmp_path: Any) -> None:
    path = tmp_path / "out.json"
    arguments = f"bench sum copy --sizes 64 --latency 0,60,10:20 --engine functional --jobs 1 --json {path}"
    result = CliRunner().invoke(main, arguments.split())
    assert result.exit_code == 0, result.output
    assert [(each.kernel, each.latency) for each in read_records(path)] == [
        (name, latency) for latency in (0, 60, None) for name in ("sum", "copy")]


# -- what local memory gains --------------------------------------------------------------------


@pytest.mark.ci
@pytest.mark.parametrize(("name", "size", "latency", "least"), [
    ("bitonic_local", 256, 0, 2), ("sum_local", 1024, 0, 1.99), ("matmul_local", 1024, 0, 1),
    ("matmul_local", 1024, 60, 1)])
def test_local_memory_gains(name: str, size: int, latency: int, least: float) -> None:
    plain, local = (run_benchmark(each, size, config=GROUPS, memory_latency=latency).cycles
                    for each in (EVERY[name].without, name))
    assert plain is not None
    assert local is not None
    assert plain / local >= least
