"""Benchmarks on several numbers of compute units and AXI ports: one table, with what limits each run."""

from dataclasses import replace

import pytest
from click.testing import CliRunner

from fgpu.benchmarks import Record, run_benchmark
from fgpu.benchmarks.results import read_records
from fgpu.cli import main
from fgpu.cli.bench_scaling import print_scaling
from fgpu.config import Config

ONE = replace(run_benchmark("copy", 256, engine="functional"), engine="verilator", instructions=64)


def record(units: int, ports: int, cycles: int, **stats: int) -> Record:
    config = {} if ports == 1 else {"axi_ports": ports}
    return replace(ONE, cus=units, cycles=cycles, config={"compute_units": units, **config}, latency=0,
                   stats={name.replace("_", ".", 1): value for name, value in stats.items()})


def test_what_limits_a_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue takes 64 * 8 cycles in all, and a port moves 8 bytes a cycle."""
    monkeypatch.setenv("COLUMNS", "200")
    records = [record(1, 1, 1000), record(4, 1, 500, axi0_read_bytes=3200),
               record(4, 4, 250, axi0_read_bytes=1600, axi1_read_bytes=1600)]
    print_scaling(records)
    text = capsys.readouterr().out
    overhead = records[0].bound(Config()).overhead
    rows = [line.split() for line in text.splitlines()]
    ratios = [f"{cycles / (least + overhead):.2f}" for cycles, least in ((1000, 512), (500, 400), (250, 128))]
    assert ["copy", "256", "0", "1,000", ratios[0], "issue", "500", ratios[1], "memory", "250", ratios[2],
            "issue"] in rows
    assert ["mean", "speed-up", "0", "1.00", "2.00", "4.00"] in rows


def test_nothing_is_printed_for_one_number_of_ports(capsys: pytest.CaptureFixture[str]) -> None:
    print_scaling([record(1, 1, 1000), record(4, 1, 500)])
    assert not capsys.readouterr().out


def test_a_record_knows_its_hardware() -> None:
    assert record(8, 2, 1).hardware == Config(compute_units=8, axi_ports=2)
    atomic = replace(ONE, config={"atomics": ["add", "max"]})
    assert atomic.hardware == Config(atomics=frozenset({"add", "max"}))


def test_command_runs_all(tmp_path) -> None:
    """Compute units, ports and latencies in every combination."""
    path = tmp_path / "scaling.json"
    result = CliRunner().invoke(main, ["bench", "copy", "--sizes", "64", "--cus", "1,2", "--axi-ports", "1,2",
                                       "--latency", "0,60:100", "--engine", "functional", "--json", str(path)])
    assert result.exit_code == 0, result.output
    found = {(each.cus, each.hardware.axi_ports, each.latency) for each in read_records(path)}
    assert found == {(units, ports, latency) for units in (1, 2) for ports in (1, 2) for latency in (0, None)}
