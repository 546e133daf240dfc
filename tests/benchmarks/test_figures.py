"""Figures: their numbers from made-up records, and files that are drawn."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fgpu.benchmarks import Record
from fgpu.benchmarks.figures import FIGURES, Figure, Measurements
from fgpu.benchmarks.results import write_records
from fgpu.cli import main
from fgpu.cli.plot import _draw
from fgpu.errors import AmbiguousRunsError


def record(kernel: str, size: int, cus: int, cycles: int | None, **more: Any) -> Record:
    return Record(kernel=kernel, size=size, cus=cus, group_size=64, launches=1, work_items=size, cycles=cycles,
                  instructions=1, work_item_instructions=1, seconds=1.0, seed=0, **{"engine": "verilator",
                  "passed": True, **more})


HARD = {"config": {"float_ops": ["fadd"]}}
RECORDS = [
    *(record(kernel, size, units, size * (8 if kernel == "fir" else 1) // units)
      for kernel in ("copy", "fir") for size in (64, 256) for units in (1, 4)),
    record("fir_char", 64, 4, 256), record("fir_char", 256, 4, 2048), record("copy_char4", 64, 4, 8),
    record("max", 64, 4, 300), record("max", 256, 4, 600), record("max_atomic", 64, 4, 100),
    record("fft_float", 64, 1, 1000), record("fft_float", 64, 1, 500, **HARD),
    record("bitonic_float", 64, 4, 100), record("bitonic_float", 64, 4, 80, **HARD),
    # These do not count: integers with units that they do not use, wrong, without a clock, unknown.
    record("fir", 64, 4, 1, **HARD),
    record("fir", 64, 4, 1, passed=False), record("fir", 4096, 4, None), record("gather", 64, 4, 1),
]
LOCAL = [record(kernel, 256, 1, 1000, config={"local_memory": 32}) for kernel in ("sum", "sum_local")]
SCHEMES = [record("mandelbrot", 256, 1, cycles, config={"divergence": scheme})
           for scheme, cycles in (("stack", 1000), ("min_pc", 900))]
PORTS = [record("copy", 1024, 4, 10, config={"axi_ports": 4})]
FAR = {"config": {"axi_ports": 4}, "latency": None}
SCALAR = [record("copy", 64, 1, 160, engine="scalar"), record("fir", 256, 1, 20480, engine="scalar"),
          record("fir_char", 256, 1, 40960, engine="scalar"), record("max", 64, 1, 1200, engine="scalar"),
          record("copy_char", 64, 1, 64, engine="scalar")]


def series(name: str, records: list[Record]) -> dict[str, dict[str | int, float]]:
    return {label: dict(values) for label, values in FIGURES[name](Measurements(records)).series.items()}


def test_execution_time_is_that_of_hard_floats_if_there_are_any() -> None:
    assert series("6.2", RECORDS) == {"bitonic_float": {64: 80}}
    soft = [record for record in RECORDS if not record.config]
    assert series("6.2", soft)["fir"] == {64: 128, 256: 512}


def test_the_references_cycles_are_beside_those_of_integers() -> None:
    known = [record("copy", 64, 4, 30, reference_cycles=659), record("copy", 256, 1, 90, reference_cycles=700)]
    figure = FIGURES["6.2"](Measurements([*known, record("fir", 64, 4, 128)]))
    assert figure.reference == {"copy": {64: 659}}
    assert figure.panels
    assert FIGURES["6.2-integers"](Measurements(known)).series == {}
    both = Measurements([*known, record("fft_float", 64, 4, 500, **HARD)])
    assert FIGURES["6.2"](both).series.keys() == {"fft_float"}
    integers = FIGURES["6.2-integers"](both)
    assert integers.series == {"copy": {64: 30}}
    assert integers.reference == {"copy": {64: 659}}


def test_small_multiples() -> None:
    """Each line has axes of its own with its name, and the reference's beside it."""
    cycles = {f"kernel{number}": {64: 10 * number, 256: 50 * number} for number in range(1, 9)}
    figure = Figure("6.2", "Time", "size", "cycles", cycles, lines=True, panels=True,
                    reference={"kernel3": {64: 99}})
    axes = _draw(figure).axes
    assert [panel.get_title() for panel in axes] == list(cycles)
    assert [len(panel.lines) for panel in axes] == [1, 1, 2, 1, 1, 1, 1, 1]
    assert axes[2].lines[1].get_ydata() == [99]
    assert len({panel.get_ylim() for panel in axes}) == 1


def test_speedup_over_one_unit_or_the_scalar_processor() -> None:
    assert series("6.8", RECORDS)["4 CU(s)"] == pytest.approx({"copy": 4, "fir": 4, "mean": 4})
    found = series("6.8", RECORDS + SCALAR)
    assert found["1 CU(s)"] == pytest.approx({"copy": 2.5, "fir": 10, "mean": 5})
    assert found["4 CU(s)"] == pytest.approx({"copy": 10, "fir": 40, "max": 4, "mean": 1600 ** (1 / 3)})


def test_narrow_types_relative_to_words() -> None:
    found = series("6.9", RECORDS)
    # Half and a quarter of the throughput: 35 % on average; one work-item for four elements: twice as much.
    assert found["8 bits"] == pytest.approx({"fir": 100 * (8 ** -0.5 - 1), "mean": 100 * (8 ** -0.5 - 1)})
    assert found["char4"]["copy"] == pytest.approx(100)
    # The scalar processor takes twice as long for characters, too; for copies of them, less than half as long.
    found = series("6.9", RECORDS + SCALAR)
    assert found["8 bits"]["fir"] == pytest.approx(-50)
    assert found["char4"]["copy"] == pytest.approx(-20)


def test_atomics() -> None:
    assert series("6.10", RECORDS) == {"without atomics": {64: 300, 256: 600}, "with atomics": {64: 100}}
    figure = FIGURES["6.10"](Measurements(RECORDS + SCALAR))
    assert figure.right == {"without atomics: speed-up": {64: 4}, "with atomics: speed-up": {64: 12}}


def test_soft_floats_relative_to_hard_ones() -> None:
    assert series("6.11", RECORDS)["soft"] == pytest.approx({"fft": 50, "bitonic": 80, "mean": 4000 ** 0.5})


def test_scaling_is_drawn_of_several_ports() -> None:
    """Over the first core, by latency; a run that the first core does not have does not count."""
    assert series("scaling", RECORDS) == {}
    ports = {"config": {"axi_ports": 4}}
    more = [record("copy", 64, 4, 8, **ports), record("fir", 64, 4, 64, **ports), record("max", 64, 8, 5, **ports),
            record("copy", 64, 1, 90, latency=60), record("copy", 64, 4, 30, latency=60, **ports)]
    soft = [record for record in RECORDS if not record.config]
    assert series("scaling", [*soft, *more]) == {
        "1 port(s), latency 0": {1: 1, 4: pytest.approx(4)},
        "4 port(s), latency 0": {4: pytest.approx(8)},
        "1 port(s), latency 60": {1: 1}, "4 port(s), latency 60": {4: pytest.approx(3)},
    }


@pytest.mark.parametrize(("one", "other", "message"), [
    ({}, {"config": {"axi_ports": 4}}, "with axi_ports=1 and with axi_ports=4, .*; choose one by --axi-ports$"),
    ({}, {"latency": 60}, "with latency=0 and with latency=60, .*; choose one by --latency$"),
    ({}, FAR, "with axi_ports=1, latency=0 and with axi_ports=4, latency=varies, .* by --axi-ports and --latency$"),
    ({}, {"config": {"tag_managers": 8}, "latency": 60}, "tag_managers=8, latency=60, .*; leave out all but one"),
    ({}, {"group_size": 128}, "group_size=64 and with group_size=128"),
    ({**FAR, "point": "copy (60, 100) 1"}, {**FAR, "point": "copy (10, 40) 2"}, r"\(60, 100\) .* \(10, 40\)"),
])
def test_no_run_takes_the_place_of_another(one: dict[str, Any], other: dict[str, Any], message: str) -> None:
    """A figure that could show only one of two that differ is refused; others are not."""
    records = [replace(record("copy", 64, 1, 100), **one), replace(record("copy", 64, 1, 50), **other),
               record("max", 64, 1, 7)]
    for name in ("6.2", "6.8"):
        with pytest.raises(AmbiguousRunsError, match=f"copy 64 on 1 CU.*{message}"):
            series(name, records)
    assert series("6.10", records) == {"without atomics": {64: 7}}


def test_the_scalar_processor_and_local_memory_take_no_place_either() -> None:
    with pytest.raises(AmbiguousRunsError, match="latency=0 and with latency=60"):
        series("6.8", [*RECORDS, *SCALAR, replace(SCALAR[0], latency=60)])
    wide = [replace(each, config={**each.config, "axi_ports": 2}) for each in LOCAL]
    with pytest.raises(AmbiguousRunsError, match="axi_ports=1 and with axi_ports=2"):
        series("work-groups", LOCAL + wide)


def test_the_last_of_the_same_run_counts() -> None:
    again = [replace(record("copy", 64, 1, cycles, **FAR), point=f"copy (60, 100) {cycles}", version=str(cycles))
             for cycles in (100, 50)]
    assert series("6.2", again) == {"copy": {64: 50}}


def test_plot_of_several_ports_and_latencies(tmp_path: Path) -> None:
    """What shows them is drawn; of the others, those that are chosen."""
    records = [record("copy", 64, 1, 100 * ports + (latency or 0), config={"axi_ports": ports}, latency=latency)
               for ports in (1, 2) for latency in (0, None)]
    write_records(tmp_path / "a.json", [*records, replace(SCALAR[0], latency=None)])

    def plotted(*options: str) -> tuple[int, set[str], str]:
        for path in tmp_path.glob("*.svg"):
            path.unlink()
        result = CliRunner().invoke(main, ["plot", str(tmp_path / "a.json"), "-o", str(tmp_path), *options])
        return result.exit_code, {path.stem for path in tmp_path.glob("*.svg")}, result.output

    status, drawn, said = plotted()
    assert (status, drawn) == (0, {"figure-scaling"})
    assert "left out: figure 6.2, 6.8, 6.9: there are runs of copy 64 on 1 CU(s) with" in said
    status, drawn, said = plotted("--axi-ports", "2")
    assert (status, drawn) == (1, set())
    assert "choose one by --latency" in said
    assert said.splitlines()[-1] == "Error: no figure can be drawn of these runs"
    status, drawn, said = plotted("--axi-ports", "2", "--latency", "varies")
    assert (status, drawn) == (0, {"figure-6.2", "figure-6.8"})
    assert "copy 64" not in said
    assert "Speed-up over a scalar processor" in said
    assert "no runs with --axi-ports 4; there are 1, 2" in plotted("--axi-ports", "4")[2]
    assert "no runs with --latency 60; there are 0, varies" in plotted("--latency", "60")[2]


def test_plot(tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", [*RECORDS, *LOCAL, *SCHEMES, *PORTS])
    write_records(tmp_path / "b.csv", SCALAR)
    result = CliRunner().invoke(main, ["plot", str(tmp_path / "a.jsonl"), str(tmp_path / "b.csv"), "-o",
                                       str(tmp_path / "new" / "figures")])
    assert result.exit_code == 0, result.output
    drawn = {path.name: path.read_bytes() for path in (tmp_path / "new" / "figures").iterdir()}
    assert drawn.keys() == {f"figure-{name}.svg" for name in FIGURES}
    assert all(len(content) > 5000 for content in drawn.values())


def test_plot_of_little(tmp_path: Path) -> None:
    write_records(tmp_path / "a.json", SCALAR)
    result = CliRunner().invoke(main, ["plot", str(tmp_path / "a.json"), "-o", str(tmp_path)])
    assert (result.exit_code, "nothing for any figure" in result.stderr) == (1, True)
    assert result.stderr.count("is left out: the results have nothing for it") == 5    # the dissertation's
    assert "6.2-integers" not in result.stderr
    (tmp_path / "b.jsonl").write_text("{}\n")
    result = CliRunner().invoke(main, ["plot", str(tmp_path / "b.jsonl"), "-o", str(tmp_path)])
    assert (result.exit_code, "b.jsonl has no records of benchmarks" in result.stderr) == (1, True)
