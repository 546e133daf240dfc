"""What the commands do when all is well."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from fgpu.cli import main, progress
from fgpu.cli.options import _descriptions
from fgpu.cli.report import BUCKETS, time_table
from fgpu.cli.values import argument
from fgpu.compiler import Image, assemble
from fgpu.config import Config
from fgpu.probe import Bucket
from fgpu.sim.functional import engine as functional

FUNCTIONAL = "--engine functional"


@pytest.mark.parametrize("command", ["", "demo", "compile", "run", "bench", "asm", "disasm", "verilog"])
def test_help(fgpu, command):
    result = fgpu(f"{command} --help")
    assert result.exit_code == 0
    assert "Usage: main" in result.output


@pytest.mark.parametrize(("command", "groups"), [
    ("run", ["Options", "OpenCL C", "Simulation", "Hardware"]), ("bench", ["Options", "Simulation", "Hardware"]),
    ("demo", ["Options", "Simulation", "Hardware"]), ("compile", ["Options", "OpenCL C", "Hardware"]),
    ("verilog", ["Options", "Hardware"]), ("synth", ["Options", "Hardware"]), ("asm", ["Options"]),
])
def test_help_has_the_commands_own_options_first_and_the_hardwares_last(fgpu, command, groups):
    lines = fgpu(f"{command} --help").output.splitlines()
    headings = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == groups
    for option, group in (("--help", "Options"), ("--define", "OpenCL C"), ("--engine", "Simulation"),
                          ("--preset", "Hardware"), ("--float-ops", "Hardware")):
        where = [line[:-1] for number, text in enumerate(lines) if option in text and text.startswith("  -")
                 for line in lines[:number] if line[:-1] in groups][-1:]
        assert where == ([group] if group in groups else [])


def test_every_hardware_parameter_has_an_option_with_its_description(fgpu):
    text = " ".join(fgpu("run --help").output.split())
    for name in set(_descriptions()) - {"statistics"}:
        assert f"--{name.replace('_', '-')}" in text
    assert "KiB of the central cache" in text
    assert "--statistics" not in text


def test_a_terminal_that_lacks_the_bars_gets_the_rest(folder, monkeypatch):
    """``LANG=de_DE.ISO-8859-1``, say."""
    monkeypatch.setitem(main.commands, "bars", click.Command("bars", callback=lambda: Console().print("█ 5 %")))
    result = CliRunner(charset="latin-1").invoke(main, ["bars"])
    assert result.exception is None
    assert result.output == "? 5 %\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is always full")
@pytest.mark.parametrize("arguments", ["--help", "--version", "run --help"])
def test_help_that_cannot_be_written_is_told_in_a_line(arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "fgpu", *arguments.split()], stdout=full, stderr=subprocess.PIPE,
                              env={name: value for name, value in os.environ.items() if name != "LANG"}, text=True,
                              check=False)
    assert done.returncode == 1
    assert done.stderr == "Error: input/output: No space left on device\n"


def test_compile_writes_an_image(fgpu):
    result = fgpu("compile vec_add.cl -o out.json --listing")
    assert result.exit_code == 0, result.output
    assert "lwp " in result.output
    image = Image.load("out.json")
    assert [p.name for p in image.kernel("vec_add").parameters] == ["a", "b", "out"]
    assert fgpu("compile vec_add.cl -o out.mif").exit_code == 0
    assert Image.load("out.mif").words == image.words


def test_what_is_only_printed_needs_no_file(fgpu):
    for option in ("--listing", "--source", "--print-after select"):
        result = fgpu(f"compile vec_add.cl {option}")
        assert result.exit_code == 0
        assert "vec_add" in result.output
        assert "wrote" not in result.output
    assert not list(Path().glob("*.json"))
    assert "give the image to write, -o OUT, or what to print" in fgpu("compile vec_add.cl").stderr


def test_compile_passes_macros_on(fgpu):
    Path("k.cl").write_text("__kernel void k(__global int *o) { o[get_global_id(0)] = VALUE; }")
    assert fgpu("compile k.cl -o k.json -D VALUE=42").exit_code == 0
    assert fgpu("compile k.cl -o k2.json").exit_code == 1
    assert not Path("k2.json").exists()


def test_headers_beside_the_source_are_found(fgpu):
    """Wherever one is; macros and other options are for all commands that compile."""
    Path("kernels/inner").mkdir(parents=True)
    Path("kernels/inner/h.h").write_text("#define VALUE (SEVEN * 6)\n")
    Path("kernels/k.cl").write_text('#include "inner/h.h"\n__kernel void k(__global int *o) { o[0] = VALUE; }')
    run = f"run {Path('kernels/k.cl').resolve()} --global 1 --arg zeros:int32:1 --output 0=o.npy {FUNCTIONAL}"
    assert "SEVEN" in fgpu(run).output
    assert fgpu(f"{run} -D SEVEN=7 --option=-cl-finite-math-only").exit_code == 0
    assert np.load("o.npy").tolist() == [42]
    assert "42" in fgpu("disasm kernels/k.cl -D SEVEN=7").output
    result = fgpu("run copy.s --global 1 -D SEVEN=7")
    assert result.exit_code == 2
    assert "-DSEVEN=7 is for OpenCL C, which copy.s is not" in result.stderr


def test_numbers_are_whole_in_narrow_terminals(fgpu, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    result = fgpu("bench xcorr --sizes 1024 --engine functional")
    assert result.exit_code == 0, result.output
    header, row = (line.split() for line in result.output.splitlines()[:2])
    assert header[-3:] == ["instructions", "cycles/s", "result"]
    assert (row[0], row[-1]) == ("xcorr", "right")
    assert int(row[-2].replace(",", "")) > 10_000


def test_only_the_named_kernels_are_compiled(fgpu):
    Path("k.cl").write_text("__kernel void j(__global int *o) { __asm__(\"nop\"); }\n"
                            "__kernel void k(__global int *o) { o[get_global_id(0)] = 5; }")
    assert "k.cl:1: inline assembly is not supported" in fgpu("compile k.cl -o k.json").output
    assert fgpu("compile k.cl -o k.json --kernel k").exit_code == 0
    assert set(Image.load("k.json").kernels) == {"k"}
    assert fgpu(f"run k.cl --kernel k --global 4 --arg zeros:int32:4 --output 0=o.npy {FUNCTIONAL}").exit_code == 0
    assert np.load("o.npy").tolist() == [5] * 4


def test_assemble_and_disassemble(fgpu):
    assert fgpu("asm copy.s -o copy.mif").exit_code == 0
    result = fgpu("disasm copy.mif")
    assert result.exit_code == 0
    assert assemble(result.output).words == Image.load("copy.mif").words
    assert fgpu("disasm copy.mif -o again.s").exit_code == 0
    assert Path("again.s").read_text() == result.output


def test_sources_are_beside_the_instructions(fgpu):
    beside = "; vec_add.cl:"
    result = fgpu("compile vec_add.cl -o out.json --source")
    assert beside in result.output
    listing = fgpu("disasm out.json --source --kernel vec_add").output
    assert beside in listing
    assert "out[i] = a[i] + b[i]" in listing
    assert listing.strip() in result.output
    assert assemble(listing).words == Image.load("out.json").words
    assert fgpu("disasm vec_add.cl --source --kernel vec_add").output == listing
    assert beside not in fgpu("disasm out.json").output
    result = fgpu("disasm out.json --kernel other")
    assert result.exit_code == 1
    assert "no kernel 'other'; the kernels it has: vec_add" in result.stderr
    Path("vec_add.cl").unlink()
    assert fgpu("disasm out.json --source").output.startswith("; vec_add.cl is not there: lines by their numbers")


def test_run_opencl_with_files_and_fills(fgpu):
    a = np.arange(64, dtype=np.int32)
    np.save("a.npy", a)
    result = fgpu(f"run vec_add.cl --global 64 --arg a.npy --arg ones:int32:64 --arg zeros:int32:64 "
                  f"--output 2=sum.npy {FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    assert np.array_equal(np.load("sum.npy"), a + 1)
    assert "argument 2 is now 1 2 3" in result.output


@pytest.mark.parametrize("name", ["copy.mif", "copy.json", "copy.s"])
def test_run_every_kind_of_program(fgpu, name):
    fgpu("asm copy.s -o copy.mif")
    fgpu("asm copy.s -o copy.json")
    result = fgpu(f"run {name} --global 8,2 --local 4,1 --arg random:int32:16 --arg zeros:int32:16 --output 1=b.npy "
                  f"--output 0=a.npy {FUNCTIONAL} --seed 3")
    assert result.exit_code == 0, result.output
    assert np.array_equal(np.load("a.npy")[:8], np.load("b.npy")[:8])


def test_run_with_local_memory(fgpu):
    """Each work-item gets the global id of the one at the other end of its work-group."""
    Path("turn.s").write_text("""
    .kernel turn
        lid r1, 0
        wgoff r2, 0
        add r2, r2, r1
        lp r3, 0
        lp r4, 1
        lsw r2, r4[r1]
        sync
        xori r1, r1, 127
        llw r5, r4[r1]
        sw r5, r3[r2]
        ret
    """)
    result = fgpu(f"run turn.s --global 256 --local 128 --arg zeros:int32:256 --arg local:512 --local-memory 8 "
                  f"--output 0=out.npy {FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    assert np.array_equal(np.load("out.npy"), np.arange(256) ^ 127)
    assert "work-groups of 128 work-items, each with 512 bytes of local memory" in result.output


def test_run_with_vectors_by_value(fgpu):
    Path("mix.cl").write_text("__kernel void mix2(__global float *o, float2 v, char3 c) { o[0] = v.x - v.y + c.z; }")
    result = fgpu(f"run mix.cl --global 1 --arg zeros:float32:1 --arg 1.5,-2 --arg 1,0x10,-3 --output 0=out.npy "
                  f"{FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    assert np.load("out.npy").tolist() == [0.5]


def test_run_as_json(fgpu):
    result = fgpu(f"run copy.s --global 64 --arg range:int32:64 --arg zeros:int32:64 --json {FUNCTIONAL}")
    record = json.loads(result.stdout)
    assert record["kernel"] == "copy"
    assert record["work_item_instructions"] == 8 * 64
    assert record["cycles"] is None


PRINTING = '''__kernel void k(__global int *a)
{
    for (int j = 0; j < 2; j++)
        printf("%d.%d ", (int)get_global_id(0), j);
}
'''


def test_run_prints_what_the_kernel_prints(fgpu):
    """Before the outcome, which begins a line of its own; with --json on standard error."""
    Path("k.cl").write_text(PRINTING)
    command = f"run k.cl --global 3 --arg zeros:int32:1 {FUNCTIONAL} --atomics add"
    assert fgpu(command).output.startswith("0.0 1.0 2.0 0.1 1.1 2.1 \nk on the functional engine\n")
    assert fgpu(f"{command} --printf-order work-item").output.startswith("0.0 0.1 1.0 1.1 2.0 2.1 \nk on")
    result = fgpu(f"{command} --json")
    assert json.loads(result.stdout)["kernel"] == "k"
    assert result.stderr == "0.0 1.0 2.0 0.1 1.1 2.1 \n"


def test_run_tells_of_what_was_not_printed(fgpu):
    Path("k.cl").write_text(PRINTING)
    result = fgpu(f"run k.cl --global 3 --arg zeros:int32:1 {FUNCTIONAL} --atomics add --printf-size 64")
    assert result.stdout.startswith("0.0 1.0 2.0 \nk on")
    assert "Warning: kernel 'k': 3 of 6 calls of printf are not printed, 48 bytes that" in result.stderr
    assert "give it 112, with printf=Printf(size=112) or --printf-size" in result.stderr


def test_run_descriptor(fgpu):
    Path("copy.xml").write_text(
        "<kernel><nDim>1</nDim><start_addr>0</start_addr><global_size0>64</global_size0>"
        "<work_group_size0>32</work_group_size0><nParameters>2</nParameters>"
        "<param0>0x10000000</param0><param1>0x10040000</param1></kernel>")
    result = fgpu("run copy.s --descriptor copy.xml --memory 0x10000000=range:int32:64 "
                  f"--memory 0x10040000=zeros:int32:64 --output 0x10040000=out.npy {FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    assert np.array_equal(np.load("out.npy"), np.arange(64))


def test_same_seed_same_data(fgpu):
    runs = []
    for seed in (1, 1, 2):
        fgpu(f"run copy.s --global 64 --arg random:int32:64 --arg zeros:int32:64 --output 1=o.npy --seed {seed} "
             f"{FUNCTIONAL}")
        runs.append(np.load("o.npy"))
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_bench_writes_a_record_a_run(fgpu):
    result = fgpu(f"bench copy matmul --cus 1,4 --sizes 256,1024 --jobs 1 --json out.json {FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    records = json.loads(Path("out.json").read_text())
    assert [(r["kernel"], r["cus"], r["size"]) for r in records] == [
        (kernel, cus, size) for kernel in ("copy", "matmul") for cus in (1, 4) for size in (256, 1024)]
    assert all(r["passed"] and r["instructions"] > 0 and r["engine"] == "functional" for r in records)
    assert records[-1]["reference_cycles"] == 31249
    assert "31,249" in result.output


class TestSeconds:
    """`fgpu bench --mhz`, on runs of 777 cycles."""

    @pytest.fixture(autouse=True)
    def runs(self, fgpu, monkeypatch, tmp_path):
        from fgpu.benchmarks import campaign, timing

        def run(point):
            record = run_functional(point)
            return replace(record, cycles=777)

        run_functional = campaign.Point.run
        monkeypatch.setattr(campaign.Point, "run", run)
        monkeypatch.setattr(timing, "BASELINE", tmp_path / "timing.json")
        timing.BASELINE.write_text('{"core": {"routed": 37.0}, "pe": {"routed": 9.0}}')

    def test_beside_cycles(self, fgpu):
        result = fgpu(f"bench copy --sizes 64 --mhz 7.77 --compare --jobs 1 --json out.jsonl {FUNCTIONAL}")
        assert result.exit_code == 0, result.output
        rows = [line.split() for line in result.output.splitlines() if line.startswith("copy")]
        assert [row[row.index("777") + 1] for row in rows] == ["100.0", "100.0"]        # records, and bounds
        record = json.loads(Path("out.jsonl").read_text())
        assert (record["cycles"], record["mhz"], record["microseconds"]) == (777, 7.77, 100.0)

    def test_what_was_run_is_told_at_another_clock(self, fgpu, monkeypatch):
        from fgpu.benchmarks import campaign

        fgpu(f"bench copy --sizes 64 --jobs 1 --json out.jsonl {FUNCTIONAL}")
        monkeypatch.delattr(campaign.Point, "run")
        result = fgpu(f"bench copy --sizes 64 --jobs 1 --json out.jsonl --mhz 3.885 {FUNCTIONAL}")
        assert result.exit_code == 0, result.output
        assert json.loads(Path("out.jsonl").read_text())["microseconds"] == 200.0
        result = fgpu(f"bench copy --sizes 64 --jobs 1 --json out.jsonl {FUNCTIONAL}")
        assert "µs" not in result.output
        assert json.loads(Path("out.jsonl").read_text())["microseconds"] is None

    def test_baseline(self, fgpu):
        """A core with atomic operations, which the benchmark asks for itself, is none that was measured."""
        result = fgpu(f"bench copy sum_atomic --sizes 64 --mhz baseline --markdown --jobs 1 {FUNCTIONAL}")
        assert result.exit_code == 0, result.output
        assert result.output.splitlines() == [
            "| kernel | size | CUs | cycles | µs | MHz | reference's cycles |",
            "| --- | --: | --: | --: | --: | --: | --: |",
            "| `copy` | 64 | 1 | 777 | 21.0 | 37.0 | 631 |",
            "| `sum_atomic` | 64 | 1 | 777 |  |  |  |"]

    @pytest.mark.parametrize(("options", "message"), [
        ("--cus 4", "no clock of a core of 4 compute unit(s): fgpu synth --write-timing --timing core_of_4 measures"),
        ("--cus 2", "no clock of a core of 2 compute unit(s): fgpu synth --family ecp5 --timing core --cus 2"),
        ("--preset float", "knows the default core only, and this one has another float_ops: fgpu synth"),
    ])
    def test_what_was_not_measured(self, fgpu, options, message):
        result = fgpu(f"bench copy --sizes 64 --mhz baseline {options} {FUNCTIONAL}")
        assert result.exit_code == 1
        assert message in result.stderr


@pytest.mark.parametrize(("results", "told"), [
    ("", ""), (" --json x.jsonl", "; what x.jsonl has of the earlier ones stays there")])
def test_bench_tells_that_the_sources_have_changed(fgpu, monkeypatch, results, told):
    """Workers take what is on the disk when they start, and say so in their records."""
    from fgpu.benchmarks import campaign

    run = campaign.Point.run
    monkeypatch.setattr(campaign.Point, "run", lambda point: replace(run(point), version="other", point="other"))
    result = fgpu(f"bench copy --sizes 64 --jobs 1 {FUNCTIONAL}{results}")
    assert result.exit_code == 1
    assert "fgpu's sources changed while it measured: copy 64 is of other, not of " in result.stderr
    assert f"Run the command again{told}" in result.stderr


def test_bench_fails_when_a_result_is_wrong(fgpu, monkeypatch):
    from fgpu.benchmarks import Benchmark

    monkeypatch.setattr(Benchmark, "source", property(lambda self: Path("vec_add.cl").resolve()))
    Path("vec_add.cl").write_text(Path("vec_add.cl").read_text().replace("a[i] +", "a[i] -"))
    result = fgpu(f"bench vec_add --sizes 64 --json out.json {FUNCTIONAL}")
    assert result.exit_code == 1
    assert "64 of 64 elements of out are wrong" in result.output
    assert "1 of 1 runs failed" in result.stderr
    assert json.loads(Path("out.json").read_text())[0]["passed"] is False


def test_bench_reports_a_run_that_does_not_end(fgpu):
    result = fgpu(f"bench fir --sizes 64 --max-cycles 10 {FUNCTIONAL}")
    assert result.exit_code == 1
    assert "did not finish within 10" in result.output


def test_demo(fgpu):
    result = fgpu(f"demo {FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    for text in ("__kernel void vec_add", "lwp ", "All 1024 results are what NumPy computes"):
        assert text in result.output


def test_verilog_goes_to_the_generator(fgpu, monkeypatch):
    written = []
    monkeypatch.setattr("fgpu.tools.verilog.write_verilog", lambda config, path: written.append((config, path)))
    assert fgpu("verilog -o fgpu.v --cus 2 --preset tiny").exit_code == 0
    assert written == [(Config.preset("tiny", compute_units=2), Path("fgpu.v"))]


def test_random_arguments_have_every_type_of_elements():
    for dtype in ("int64", "uint64", "float16", "int8"):
        array = argument(f"random:{dtype}:100", np.random.default_rng(0))
        assert (array.dtype, len(array)) == (dtype, 100)
        assert len(set(array.tolist())) > 50


def test_long_integers_pass_from_the_command_line(fgpu):
    Path("k.cl").write_text("__kernel void k(__global long *o) { o[get_global_id(0)] *= 3; }")
    result = fgpu(f"run k.cl --global 4 --arg range:int64:4 --output 0=o.npy {FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    assert np.load("o.npy").tolist() == [0, 3, 6, 9]


def test_long_runs_tell_how_far_they_are(fgpu, monkeypatch):
    monkeypatch.setattr(progress, "_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(functional, "TOLD_SECONDS", 0.0)
    result = fgpu(f"run vec_add.cl --global 1021 --arg range:int32:1021 --arg range:int32:1021 "
                  f"--arg zeros:int32:1021 {FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    assert re.search(r"^running for 0 s: [\d,]+ instructions, 1[56] of 16 wavefronts started, "
                     r"[\d,]+ a second$", result.stderr, re.MULTILINE)
    assert "work-groups of 64 work-items, launched in 2 parts" in result.stdout


def test_warnings_are_for_who_typed_the_command(fgpu):
    Path("k.cl").write_text("__kernel void k(__global int *o) { o[get_global_id(0)] = get_local_id(0); }")
    result = fgpu(f"run k.cl --global 1021 --arg zeros:int32:1021 {FUNCTIONAL}")
    assert result.exit_code == 0, result.output
    assert re.match(r"Warning: kernel 'k' of global size \(1021,\) runs in work-groups of 1, ", result.stderr)


def test_all_atomics_have_a_name(fgpu):
    Path("k.cl").write_text("__kernel void k(__global int *o) { atomic_add(o, 1); atomic_xchg(o + 1, 7); }")
    assert fgpu("compile k.cl -o k.json --atomics add").exit_code == 1
    assert fgpu("compile k.cl -o k.json --atomics all").exit_code == 0
    assert fgpu("compile k.cl -o k.json --preset full").exit_code == 0
    none = fgpu("compile k.cl -o k.json --preset full --atomics=")
    assert none.exit_code == 1
    assert "needs hardware with the atomic operation" in none.output


def test_time_goes_into_named_buckets():
    assert set(BUCKETS) == {bucket.name.lower() for bucket in Bucket}
    assert time_table({"cycles": 5}) is None
    table = time_table({"cycles": 10, "cu0.issue": 8, "cu1.issue": 4, "cu0.fetch": 2, "cu0.branch": 0})
    assert table is not None
    assert table.row_count == 2


@pytest.mark.parametrize(("text", "value"), [
    ("12", 12), ("0x1F", 31), ("-3", -3), ("1.5", 1.5), ("range:uint8:2x2", [[0, 1], [2, 3]]),
    ("zeros:float32:3", [0, 0, 0]), ("ones:float16:2", [1, 1]), ("range:uint64:3", [0, 1, 2]),
    ("range:float64:3", [0, 1, 2]),
])
def test_arguments(text, value):
    assert np.array_equal(argument(text, np.random.default_rng(0)), value)
