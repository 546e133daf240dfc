"""``fgpu bench``: the benchmark kernels, beside the reference design."""

import json
from pathlib import Path
from statistics import geometric_mean
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fgpu.config import Config
from fgpu.errors import LaunchError

from .common import config_options, engine_options, write_file
from .values import NumberList

if TYPE_CHECKING:
    from benchmarks import Record

__all__ = ["bench"]

_Job = tuple[str, int, int]


@click.command(short_help="Run benchmark kernels beside the reference design.")
@click.argument("kernels", nargs=-1, metavar="[KERNEL]...")
@click.option("--cus", type=NumberList(), default=(1,), metavar="N[,M...]", help="Compute units to try. Default 1.")
@click.option("--sizes", type=NumberList(), default=(), metavar="N[,M...]",
              help="Output elements to try (matmul: 1024 is 32 x 32). Default: each kernel's own.")
@click.option("--group-size", type=int, default=64, show_default=True,
              help="Work-items of a work-group.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the data.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Write one record a run to FILE.")
@click.option("--patterns", is_flag=True, help="Without KERNEL: the access patterns instead.")
@click.option("--compare", is_flag=True, help="Also show how far each run is from its bound.")
@click.option("--write-baseline", is_flag=True,
              help="Instead, measure anew what benchmarks/baseline.json says; goes with no other option.")
@engine_options
@config_options(omit=("compute_units",))
def bench(kernels: tuple[str, ...], cus: tuple[int, ...], sizes: tuple[int, ...], group_size: int, seed: int,
          json_file: Path | None, patterns: bool, compare: bool, write_baseline: bool, engine: str, latency: Any,
          max_cycles: int, config: Config) -> None:
    """Run benchmark kernels and check their results: copy, vec_add, vec_mul, fir, matmul, bitonic.

    Without KERNEL these are run; there are access patterns, too: stride2, stride32, reverse, gather,
    scatter, broadcast, transpose, char_copy, whose sizes are work-items. The exit code is 1 if any result
    is wrong. The reference's cycles are those of the configuration `--preset reference`.

    \b
    Example:
      fgpu bench matmul fir --cus 1,4 --sizes 256,1024 --json bench.json
    """
    if write_baseline:
        _write_baseline()
        return
    from benchmarks import BENCHMARKS, EVERY, PATTERNS, run_benchmark
    from sim import Device

    unknown = [name for name in kernels if name not in EVERY]
    if unknown:
        raise LaunchError(f"there is no benchmark {unknown[0]!r}; choose from {', '.join(EVERY)}")
    default = PATTERNS if patterns else BENCHMARKS
    configs = {units: config.replace(compute_units=units) for units in cus}
    jobs: list[_Job] = [(name, size, units) for name in kernels or default for units in cus
                        for size in sizes or EVERY[name].sizes]
    for name, size, _ in jobs:
        EVERY[name].check(size, group_size)
    if engine == "verilator":
        for variant in configs.values():    # builds of models show their own progress
            Device(variant, engine=engine).close()
    records = []
    console = Console(stderr=True)
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                  console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(jobs))
        for name, size, units in jobs:
            progress.update(task, description=f"{name} {size}, {units} CU(s)")
            records.append(run_benchmark(name, size, config=configs[units], engine=engine, group_size=group_size,
                                         seed=seed, memory_latency=latency, max_cycles=max_cycles))
            progress.advance(task)
    _print(records)
    if compare:
        _compare(records, config)
    if json_file is not None:
        write_file(json_file, json.dumps([record.as_dict() for record in records], indent=1) + "\n")
    failed = sum(not record.passed for record in records)
    if failed:
        raise click.ClickException(f"{failed} of {len(records)} runs failed")


def _write_baseline() -> None:
    from benchmarks import baseline
    from sim import Device

    context = click.get_current_context()
    given = [name for name in context.params
             if name != "write_baseline" and context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    if given:
        raise click.UsageError("--write-baseline goes with no other option: baselines are of one configuration")
    Device(Config()).close()    # builds of models show their own progress
    before = baseline.load()
    console = Console(stderr=True)
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                  console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("measuring", total=None)
        counts = baseline.measure(lambda done, total: progress.update(task, completed=done, total=total))
    baseline.save(counts)
    for line in baseline.differences(before, counts):
        click.echo(line)
    click.echo(f"{len(counts)} baselines are in {baseline.BASELINE}")


def _print(records: "list[Record]") -> None:
    table = Table("kernel", pad_edge=False, box=None)
    for title in ("size", "CUs", "cycles", "reference", "speed-up", "instructions", "cycles/s"):
        table.add_column(title, justify="right")
    table.add_column("result")
    for record in records:
        cycles, reference = record.cycles, record.reference_cycles
        table.add_row(
            record.kernel, str(record.size), str(record.cus), _number(cycles), _number(reference),
            f"{reference / cycles:.2f}" if reference and cycles else "", _number(record.instructions),
            _number(round(cycles / record.seconds) if cycles and record.seconds else None),
            "[green]right[/]" if record.passed else "[red]FAILED[/]")
    console = Console(highlight=False)
    console.print(table)
    for record in records:
        if record.failure:
            console.print(f"{record.kernel} {record.size}, {record.cus} CU(s): {record.failure}", style="red",
                          markup=False)


def _compare(records: "list[Record]", config: Config) -> None:
    """How close each run, and each of its work-items, is to what issue and memory allow; the mean speed-up."""
    table = Table("kernel", pad_edge=False, box=None, title="Bounds", title_justify="left")
    for title in ("size", "CUs", "issue", "memory", "start and end", "cycles", "of the bound", "per item", "at best"):
        table.add_column(title, justify="right")
    for record in records:
        if record.cycles is None:
            continue
        bound = record.bound(config)
        table.add_row(record.kernel, str(record.size), str(record.cus), _number(bound.issue), _number(bound.memory),
                      _number(bound.overhead), _number(record.cycles), f"{record.cycles / bound.total:.2f}",
                      f"{record.cycles / record.work_items:.2f}", f"{bound.total / record.work_items:.2f}")
    console = Console(highlight=False)
    console.print()
    console.print(table)
    speedups = [record.reference_cycles / record.cycles for record in records
                if record.cycles and record.reference_cycles]
    if speedups:
        console.print(f"Geometric mean of the speed-up over the reference: {geometric_mean(speedups):.2f}, "
                      f"least {min(speedups):.2f}")


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
