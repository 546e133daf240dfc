"""Many runs: their files, what is not run again, processes and Dask workers."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fgpu.benchmarks import Record, campaign, run_benchmark
from fgpu.benchmarks.campaign import Point, run_points
from fgpu.benchmarks.results import read_records, write_records
from fgpu.cli import main
from fgpu.config import Config
from fgpu.errors import LaunchError, ToolError

POINTS = [Point(kernel=kernel, size=size, config=Config(), engine="functional")
          for kernel in ("copy", "max_char4") for size in (64, 128)]


def outcomes(records: list[Record]) -> dict[str, Record]:
    """What must be the same wherever a run was made."""
    return {record.point: replace(record, seconds=0.0) for record in records}


def bench(arguments: str) -> Result:
    return CliRunner().invoke(main, ["bench", *arguments.split()])


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return list(run_points(POINTS))


def test_processes_make_the_same_records(records: list[Record]) -> None:
    assert len(outcomes(records)) == len(POINTS)
    assert all(record.passed for record in records)
    assert outcomes(list(run_points(POINTS, jobs=2))) == outcomes(records)


def test_dask_workers_make_the_same_records(records: list[Record]) -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        assert outcomes(list(run_points(POINTS, dask=cluster.scheduler_address))) == outcomes(records)


def test_no_scheduler() -> None:
    with pytest.raises(ToolError, match="there is no Dask scheduler at 'nowhere://x'"):
        list(run_points(POINTS, dask="nowhere://x"))


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv"])
def test_files_give_back_what_was_written(tmp_path: Path, records: list[Record], suffix: str) -> None:
    path = tmp_path / f"records.{suffix}"
    written = [*records, replace(records[0], passed=False, failure='", and\nmore', cycles=7, stats={"a": 1},
                                 config={"atomics": ["add"]})]
    write_records(path, written)
    assert read_records(path) == written


def test_files_that_are_none(tmp_path: Path) -> None:
    for name, text in (("a.json", "{"), ("b.json", '[{"color": 1}]'), ("c.csv", "a,b\n1,2\n"), ("d.jsonl", "1\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(LaunchError, match="has no records of benchmarks"):
            read_records(tmp_path / name)
    result = bench("copy --sizes 64 --engine functional --json out.txt")
    assert (result.exit_code, "ends with .json, .jsonl, .csv" in result.stderr) == (1, True)


def test_finished_points_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = []

    def run(name: str, size: int, **options: object) -> Record:
        ran.append((name, size))
        return run_benchmark(name, size, engine="functional")

    monkeypatch.setattr(campaign, "run_benchmark", run)
    command = "copy fir --engine functional --max-cycles 1000000 --jobs 1 --json out.jsonl --sizes"
    assert bench(f"{command} 64").exit_code == 0
    lines = Path("out.jsonl").read_text().splitlines()
    # As if copy had failed, and the power with it in the middle of a line.
    failed = json.dumps({**json.loads(lines[0]), "passed": False, "failure": "dust"})
    Path("out.jsonl").write_text(f"{failed}\n{lines[1]}\n{lines[1][:40]}")
    ran.clear()
    result = bench(f"{command} 64,128")
    assert result.exit_code == 0, result.output
    assert sorted(ran) == [("copy", 64), ("copy", 128), ("fir", 128)]
    assert sorted((record.kernel, record.size) for record in read_records(Path("out.jsonl"))) == [
        ("copy", 64), ("copy", 128), ("fir", 64), ("fir", 128)]
    ran.clear()
    assert bench(f"{command} 64,128").exit_code == 0
    assert not ran


def test_other_options_are_other_points() -> None:
    point = POINTS[0]
    others = [replace(point, **change) for change in (
        {"seed": 1}, {"group_size": 128}, {"latency": (1, 2)}, {"config": Config(cache_size=8)}, {"engine": "pysim"},
        {"kernel": "fir"}, {"size": 65})]
    assert len({other.key for other in [point, *others]}) == len(others) + 1


@pytest.mark.ci
def test_long_runs_go_to_the_functional_engine_and_say_so() -> None:
    point = Point(kernel="xcorr", size=512, config=Config(), accurate_cycles=100_000)
    record = point.run()
    assert (record.engine, record.passed, record.cycles) == ("functional", True, None)
    assert record.note is not None
    assert "too long for verilator" in record.note
    # Eight cycles an instruction: what the whole run has, within the part that does not grow as the rest.
    assert point.expected_cycles() == pytest.approx(8 * record.instructions, rel=0.05)
    assert replace(point, size=64).run().engine == "verilator"


def test_a_suite_leaves_out_the_sizes_that_a_benchmark_has_not(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    result = bench(f"--suite reference --sizes 64,128 --engine functional --jobs 1 --json {path}")
    assert result.exit_code == 0, result.output
    assert "not run: matmul: the size 128 is not n x n" in result.stderr
    assert len(read_records(path)) == 2 * 6 - 1
    result = bench("matmul --sizes 64,128 --engine functional")
    assert result.exit_code == 1


def test_unknown_suite() -> None:
    result = bench("--suite chapter7")
    assert (result.exit_code, "choose from chapter6, reference, floats, patterns" in result.stderr) == (1, True)
