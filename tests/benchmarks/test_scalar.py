"""The scalar processor: right results, a clock that memory slows down, and its place in ``fgpu bench``."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fgpu.benchmarks import CHAPTER6
from fgpu.benchmarks.campaign import Point
from fgpu.benchmarks.results import read_records
from fgpu.benchmarks.scalar import run_scalar, runs_on_scalar
from fgpu.cli import main
from fgpu.cli.bench import _scalar_points
from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.errors import LaunchError, MemoryAccessError
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.scalar import CODE_BASE, DATA_BASE, Launches, compile_program, run_program

RUNS = [name for name, benchmark in CHAPTER6.items() if runs_on_scalar(benchmark)]


@pytest.mark.ci
@pytest.mark.parametrize("name", [
    "fir_char", "max", "bitonic", "compass", *(pytest.param(name, marks=pytest.mark.long) for name in RUNS)])
def test_result_is_right(name: str) -> None:
    record = run_scalar(name, 64, seed=4)
    assert record.failure is None
    assert record.cycles


@pytest.mark.ci
def test_each_burst_waits_for_memory() -> None:
    """So many more cycles as there are lines: of 256 words of input, and a few of code."""
    fast, slow = (run_scalar("copy", 256, memory_latency=latency).cycles for latency in (0, 100))
    assert fast
    assert slow
    lines, rest = divmod(slow - fast, 100)
    assert rest == 0
    assert 256 // 8 < lines < 256 // 8 + 24
    assert run_scalar("copy", 256, memory_latency=100).cycles == slow


@pytest.mark.ci
def test_a_wrong_result_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    source = CHAPTER6["copy"].source.read_text().replace("= in[i];", "= in[i] + (i == 9);")
    monkeypatch.setattr("fgpu.benchmarks.scalar._program", lambda *args: compile_program(source, args[2], args[1]))
    record = run_scalar("copy", 64)
    assert record.cycles is None
    assert re.match("1 of 64 elements of out are wrong; the first is 9", record.failure or "")


@pytest.mark.ci
def test_an_access_outside_memory_stops_the_program() -> None:
    benchmark = CHAPTER6["copy"]
    program = compile_program(benchmark.source.read_text(), [*benchmark.image(Config()).kernels.values()])
    with pytest.raises(MemoryAccessError, match="0x60000000 is outside memory"):
        run_program(program, Launches((0,), ((0, 1, 0, 1),), ((0x6000_0000, DATA_BASE),)), GlobalMemory())


@pytest.mark.ci
def test_launches_take_their_ids_and_arguments() -> None:
    """Two kernels, two dimensions, an offset, a float: what the table of launches may have."""
    source = """
        __kernel void first(__global int *out, int factor)
        { out[16 * get_global_id(1) + get_global_id(0)] = factor * (10 * get_global_id(1) + get_global_id(0)); }
        __kernel void second(__global float *out, float value)
        { out[get_global_id(0)] = value; }"""
    kernels = [*compile_opencl(source).kernels.values()]
    memory = GlobalMemory()
    launches = Launches((0, 1), ((3, 5, 1, 3), (2, 4, 0, 1)),
                        ((DATA_BASE, 0xFFFF_FFFE), (DATA_BASE + 1024, int(np.float32(1.5).view(np.uint32)))))
    run_program(compile_program(source, kernels), launches, memory)
    words = memory.words[:256].view(np.int32)
    assert {int(i): int(words[i]) for i in np.flatnonzero(words)} == {19: -26, 20: -28, 35: -46, 36: -48}
    assert memory.words[256:261].view(np.float32).tolist() == [0, 0, 1.5, 1.5, 0]
    assert CODE_BASE not in range(memory.base, memory.base + memory.size)


@pytest.mark.ci
def test_bench_shows_the_speedup(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    command = f"bench copy copy_char4 --sizes 64 --scalar --jobs 1 --json {path}"
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == 0, result.output
    records = {(record.kernel, record.engine): record for record in read_records(path)}
    # Vectors are for the FGPU alone.
    assert records.keys() == {("copy", "verilator"), ("copy_char4", "verilator"), ("copy", "scalar")}
    ratio = (records["copy", "scalar"].cycles or 0) / (records["copy", "verilator"].cycles or 1)
    assert re.search(rf"1 +1 +{ratio:.1f} +{ratio:.1f} \(copy 64\)", result.output)


def test_bench_says_once_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(Point, "expected_cycles", lambda point: 1000 * point.size)
    points = [Point(kernel="xcorr", size=size, config=Config(compute_units=units), accurate_cycles=100_000)
              for size in (64, 512) for units in (1, 2)]
    assert [(point.size, point.engine) for point in _scalar_points(points)] == [(64, "scalar")]
    assert capsys.readouterr().err == "not run: xcorr 512 on the scalar processor: about 512,000 cycles\n"


def test_refused() -> None:
    with pytest.raises(LaunchError, match="max_atomic does not run on the scalar processor"):
        run_scalar("max_atomic", 64)
