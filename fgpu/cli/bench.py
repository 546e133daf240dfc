"""``fgpu bench``: the benchmark kernels, beside the reference design."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fgpu.config import Config
from fgpu.errors import LaunchError, SimulationError
from fgpu.extras import demand

from .baselines import refuse_other_options, rewrite
from .bench_divergence import chosen_schemes, print_schemes
from .bench_floats import KINDS, float_configs, print_ratios
from .bench_local import print_comparison, with_all_units
from .bench_scaling import print_scaling
from .bench_seconds import BASELINE, Clock, Megahertz, clock_of
from .bench_tables import print_bounds, print_markdown, print_records, print_speedups
from .groups import command
from .options import config_options, engine_options
from .values import NameList, NumberList

if TYPE_CHECKING:
    from fgpu.benchmarks import Benchmark, Record
    from fgpu.benchmarks.campaign import Point

__all__ = ["bench"]


@command(short_help="Run benchmark kernels beside the reference design.")
@click.argument("kernels", nargs=-1, metavar="[KERNEL]...")
@click.option("--suite", metavar="NAME", help="Without KERNEL: which benchmarks. chapter6: all of the dissertation's "
              "chapter 6; reference: those that the reference was measured with (default); floats; patterns; "
              "work-groups: those with local memory, each beside the one without, on a core with all units; "
              "divergence: those for schemes of divergence, on the same core.")
@click.option("--divergence", type=NameList(), default=(), metavar="NAME[,NAME...]",
              help="How diverged work-items part and meet; several schemes, or all, to compare: docs/divergence.md.")
@click.option("--cus", type=NumberList(), default=(1,), metavar="N[,M...]", help="Compute units to try. Default 1.")
@click.option("--axi-ports", "ports", type=NumberList(), default=(), metavar="N[,M...]",
              help="AXI ports to try; several: also print what limits each run. Default 1, or the preset's.")
@click.option("--sizes", type=NumberList(), default=(), metavar="N[,M...]",
              help="Output elements to try (matmul: 1024 is 32 x 32). Default: each kernel's own.")
@click.option("--group-size", type=int, default=64, show_default=True,
              help="Work-items of a work-group.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the data.")
@click.option("--json", "results", type=click.Path(path_type=Path), metavar="FILE",
              help="Write one record a run to FILE: JSON (.json), JSON lines (.jsonl) or CSV (.csv). Records go to a "
                   ".jsonl file as runs end, and those that are there already are not run again.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count(), metavar="N",
              help="Processes beside each other. Default: one a core.")
@click.option("--dask", metavar="ADDRESS", help="Run on the workers of the Dask scheduler at ADDRESS instead.")
@click.option("--accurate-cycles", type=click.IntRange(min=1), metavar="N",
              help="Without --engine: runs that would take more cycles go to the functional engine. "
                   "Default 100 million, which are some minutes.")
@click.option("--patterns", is_flag=True, help="The same as --suite patterns.")
@click.option("--scalar", is_flag=True, help="Also run the same kernels on a scalar RISC-V soft processor "
              "(VexRiscv), as plain C in loops over all work-items: what the FGPU's speed-up is measured against.")
@click.option("--float", "floats", type=click.Choice(KINDS), help="Floating point in hardware (all units, "
              "or those of --float-ops), in software, or both beside each other. Without KERNEL: --suite floats.")
@click.option("--mhz", type=Megahertz(), help="Also show the microseconds that cycles take at so many MHz, or, by "
              f"{BASELINE}, at those of the default core of as many compute units, routed (benchmarks/timing.json).")
@click.option("--markdown", is_flag=True, help="Print the runs as a table in Markdown, for documents.")
@click.option("--compare", is_flag=True, help="Also show how far each run is from its bound.")
@click.option("--write-baseline", is_flag=True,
              help="Instead, measure anew what benchmarks/baseline.json says; goes with no other option.")
@partial(engine_options, latencies=True)
@config_options(omit=("compute_units", "divergence", "axi_ports"))
def bench(kernels: tuple[str, ...], suite: str | None, divergence: tuple[str, ...], cus: tuple[int, ...],
          ports: tuple[int, ...], sizes: tuple[int, ...], group_size: int, seed: int, results: Path | None,
          jobs: int, dask: str | None, accurate_cycles: int | None, patterns: bool, scalar: bool, floats: str | None,
          mhz: float | str | None, markdown: bool, compare: bool, write_baseline: bool, engine: str,
          latency: tuple[Any, ...], max_cycles: int, config: Config) -> None:
    """Run benchmark kernels and check their results: copy, vec_add, vec_mul, fir, matmul, bitonic.

    Without KERNEL these are run, or a --suite. The names of chapter6 end with the type of their elements where
    that is not int, as fir_char or fft_float. There are access patterns, too: stride2, stride32, reverse,
    gather, scatter, broadcast, transpose, char_copy, whose sizes are work-items. The exit code is 1 if any
    result is wrong. The reference's cycles are those of the configuration `--preset reference`.

    \b
    Examples:
      fgpu bench matmul fir --cus 1,4 --sizes 256,1024 --json bench.json
      fgpu bench --suite chapter6 --sizes 64,1024,4096 --cus 1,4 --json chapter6.jsonl
      fgpu bench --suite work-groups --cus 1,4 --latency 0,60
      fgpu bench --suite chapter6 --cus 1,2,4,8 --axi-ports 1,2,4 --latency 0,60:100 --json scaling.jsonl
      fgpu bench matmul --mhz baseline
    """
    demand("fgpu bench", "sim", "opencl", *(["scalar"] if scalar else []), *(["dask"] if dask else []))
    if write_baseline:
        _write_baseline()
        return
    from fgpu.benchmarks.campaign import ACCURATE_CYCLES, Point

    if sum((bool(kernels), suite is not None, patterns)) > 1:
        raise click.UsageError("KERNEL, --suite and --patterns go not together: each says what to run")
    suite = "patterns" if patterns else suite or ("floats" if floats else None)
    chosen = _benchmarks(kernels, suite)
    fitting = {benchmark.name: _sizes(benchmark, sizes, group_size, strict=bool(kernels) or suite is None)
               for benchmark in chosen}
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    accurate = None if "engine" in given else accurate_cycles or ACCURATE_CYCLES
    if suite in ("work-groups", "divergence"):
        config = with_all_units(config, given)
    schemes = chosen_schemes(divergence)
    points = [
        Point(kernel=benchmark.name, size=size, engine=engine, accurate_cycles=accurate, group_size=group_size,
              config=variant.replace(compute_units=units, axi_ports=count, divergence=scheme), seed=seed,
              latency=cycles, max_cycles=max_cycles if "max_cycles" in given else None)
        for scheme in schemes for cycles in latency for benchmark in chosen
        for count in ports or (config.axi_ports,) for units in cus
        for variant in float_configs(floats, config, integers=not benchmark.element.is_float)
        for size in fitting[benchmark.name]]
    if scalar:
        points += _scalar_points(points)
    records = _run(points, results, jobs, dask, clock_of(mhz, points))
    if markdown:
        print_markdown(records)
    else:
        print_records(records)
    if suite == "divergence" or divergence:
        print_schemes(records)
    print_comparison(records)
    print_scaling(records)
    if scalar:
        print_speedups(records)
    if floats == "both":
        print_ratios(records)
    if compare:
        print_bounds(records)
    failed = sum(not record.passed for record in records)
    if failed:
        raise click.ClickException(f"{failed} of {len(records)} runs failed")


def _benchmarks(kernels: tuple[str, ...], suite: str | None) -> "list[Benchmark]":
    from fgpu.benchmarks import EVERY, SUITES

    for name in kernels:
        if name not in EVERY:
            raise LaunchError(f"there is no benchmark {name!r}; choose from {', '.join(EVERY)}")
    if suite is not None and suite not in SUITES:
        raise LaunchError(f"there is no suite {suite!r}; choose from {', '.join(SUITES)}")
    return [EVERY[name] for name in kernels] or list(SUITES[suite or "reference"].values())


def _sizes(benchmark: "Benchmark", sizes: tuple[int, ...], group_size: int, *, strict: bool) -> list[int]:
    """The sizes that the benchmark has. Others are errors, or told and left out, as not all of a suite has all."""
    fitting = []
    for size in sizes or benchmark.sizes:
        try:
            benchmark.check(size, group_size)
        except LaunchError as error:
            if strict:
                raise
            click.echo(f"not run: {error}", err=True)
        else:
            fitting.append(size)
    return fitting


def _scalar_points(points: "list[Point]") -> "list[Point]":
    """The same work on the scalar processor, as far as it can do it in the time that is given."""
    from fgpu.benchmarks import EVERY
    from fgpu.benchmarks.scalar import SCALAR, runs_on_scalar

    found = []
    once = {(point.kernel, point.size, point.latency): replace(point, engine=SCALAR, config=Config())
            for point in points if runs_on_scalar(EVERY[point.kernel])}
    for point in once.values():
        limit = point.accurate_cycles
        if limit is not None and (cycles := point.expected_cycles()) > limit:
            click.echo(f"not run: {point.kernel} {point.size} on the scalar processor: about {cycles:,} cycles",
                       err=True)
        else:
            found.append(point)
    return found


def _run(points: "list[Point]", results: Path | None, jobs: int, dask: str | None,
         clock: Clock) -> "list[Record]":
    """The records of all points, in their order; those in ``results`` are not made anew, but for their time."""
    from fgpu.benchmarks import EVERY
    from fgpu.benchmarks.campaign import run_points
    from fgpu.benchmarks.record import version
    from fgpu.benchmarks.results import append_record, check_path, read_records, write_records
    from fgpu.sim import Device

    records: dict[str, Record] = {}
    wanted = {point.key for point in points}
    lines = results is not None and results.suffix.lower() == ".jsonl"
    if results is not None:
        check_path(results)
        if lines and results.exists():
            kept = [record.at(clock(record)) if record.point in wanted else record
                    for record in read_records(results) if record.passed or record.point not in wanted]
            write_records(results, kept)    # what failed goes, and a line that was not finished
            records = {record.point: record for record in kept if record.point in wanted}
    left = [point for point in points if point.key not in records]
    if dask is None:
        for config in {EVERY[point.kernel].fitting(point.config) for point in left if point.engine == "verilator"}:
            Device(config).build()    # which shows its own progress
    console = Console(stderr=True)
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                  TimeRemainingColumn(), console=console, transient=True,
                  disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(points), completed=len(points) - len(left))
        for run in run_points(left, jobs=jobs, dask=dask):
            if run.point not in wanted:
                raise SimulationError(
                    f"fgpu's sources changed while it measured: {run.kernel} {run.size} is of {run.version}, not of "
                    f"{version()}. Run the command again"
                    + (f"; what {results} has of the earlier ones stays there" if lines else ""))
            record = records[run.point] = run.at(clock(run))
            if lines and results is not None:
                append_record(results, record)
            progress.update(task, description=f"{record.kernel} {record.size}, {record.cus} CU(s)", advance=1)
    ordered = [records[point.key] for point in points]
    if results is not None and not lines:
        write_records(results, ordered)
    return ordered


def _write_baseline() -> None:
    from fgpu.benchmarks import baseline
    from fgpu.sim import Device

    refuse_other_options()
    Device(Config()).build()    # which shows its own progress
    rewrite(baseline, "baselines", "measuring")
