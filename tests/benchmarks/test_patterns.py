"""The access patterns: right results, and their place in ``fgpu bench``."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from fgpu.benchmarks import EVERY, PATTERNS, SUITES, run_benchmark
from fgpu.cli import main
from fgpu.config import Config
from fgpu.errors import LaunchError

OPTIONS = ["--sizes", "64", "--engine", "functional", "--jobs", "1", "--json", "out.json"]


@pytest.mark.parametrize("size", [64, 1024])
@pytest.mark.parametrize("name", PATTERNS)
def test_result_is_right(name: str, size: int) -> None:
    record = run_benchmark(name, size, engine="functional", seed=size)
    assert record.failure is None
    assert record.work_items == size


@pytest.mark.parametrize("name", PATTERNS)
def test_problem_does_what_it_says(name: str) -> None:
    """As many different words are written as there are work-items, and most move."""
    problem = PATTERNS[name].problem(256)
    changed = (problem.expected["out"] != problem.arrays["out"]).sum()
    assert 250 <= changed <= 256    # a few random values may be 0


def test_work_items_are_those_of_all_launches() -> None:
    assert run_benchmark("bitonic", 256, engine="functional").work_items == 36 * 128
    assert run_benchmark("matmul", 256, engine="functional").work_items == 256


def test_a_name_means_one_benchmark() -> None:
    """Suites may have it at sizes of their own."""
    for suite in SUITES.values():
        for name, benchmark in suite.items():
            assert replace(EVERY[name], sizes=benchmark.sizes) == benchmark


def test_transpose_needs_a_square() -> None:
    with pytest.raises(LaunchError, match=re.escape("transpose: the size 128 is not n x n with n a multiple of 8")):
        PATTERNS["transpose"].problem(128)


def test_bound() -> None:
    """8 wavefronts of 6 instructions; the functional engine counts no bytes."""
    bound = run_benchmark("reverse", 512, engine="functional").bound(Config())
    assert (bound.issue, bound.memory, bound.total) == (8 * 8 * 6, 0, 8 * 8 * 6 + bound.overhead)


@pytest.mark.parametrize(("rows", "sent", "least"), [(100, 100, 384), (700, 100, 700), (700, 6400, 800)])
def test_the_greatest_bound_counts(rows: int, sent: int, least: int) -> None:
    """A row a cycle at the cache; eight bytes a cycle each way at the port."""
    record = run_benchmark("reverse", 512, engine="functional")
    bound = replace(record, stats={"cache.data_busy": rows, "axi0.read_bytes": 80, "axi0.write_bytes": sent}).bound(
        Config())
    assert bound.total == least + bound.overhead


def test_bench_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["bench", "--patterns", *OPTIONS])
    assert result.exit_code == 0, result.output
    assert [record["kernel"] for record in json.loads(Path("out.json").read_text())] == list(PATTERNS)
    result = CliRunner().invoke(main, ["bench", "gather", "copy", *OPTIONS])
    assert [record["kernel"] for record in json.loads(Path("out.json").read_text())] == ["gather", "copy"]
    assert "stride32" in CliRunner().invoke(main, ["bench", "--help"]).output
