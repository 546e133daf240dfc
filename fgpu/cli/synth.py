"""``fgpu synth``: the area of a core, module by module, and its frequency."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from fgpu.config import Config
from fgpu.tools.families import FAMILIES, TIMED_FAMILIES

from . import frequency
from .area_report import area_table, comparison_table
from .baselines import progress_bar, refuse_other_options, rewrite, steps
from .files import check_output, write_file
from .groups import command
from .options import config_options, refuse_given
from .report import print_table
from .values import NameList, NumberList

if TYPE_CHECKING:
    from fgpu.tools.area import ModuleArea

__all__ = ["synth"]


@command(short_help="Area of a core, by module, beside the reference design; frequency.")
@click.option("--family", type=click.Choice([*FAMILIES]), default="xc7", show_default=True, help="FPGA family: "
              f"{', '.join(family.title for family in FAMILIES.values())}.")
@click.option("--cus", type=NumberList(), default=(1,), metavar="N[,M...]", help="Compute units to try. Default 1.")
@click.option("--depth", type=click.IntRange(1), default=3, show_default=True,
              help="Levels of the hierarchy to show.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the whole hierarchy to FILE; that of each configuration if there are several.")
@click.option("--timing", type=NameList(), metavar="UNIT[,UNIT...]",
              help=f"For {' and '.join(TIMED_FAMILIES)}: the units that nextpnr places and routes by themselves, to "
                   "tell their frequency and slowest path; core is the whole. Default for "
                   f"{frequency.UNASKED}, if nextpnr is installed: {frequency.DEFAULT}.")
@click.option("--no-timing", is_flag=True, help="Leave that out: a compute unit takes a quarter of an hour or more.")
@click.option("--placed", is_flag=True, help="Only place, which is quicker: MHz with the delays that nextpnr expects "
              "then, and the slowest path into each module.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Place with N seeds, several at a time, route what nextpnr expects the most of, and tell what it "
              "expected of each.")
@click.option("--refine", is_flag=True, help="Between placing and routing move cells of the slowest paths to where "
              "these become shorter; for ecp5.")
@click.option("--write-baseline", is_flag=True,
              help="Instead, measure anew what benchmarks/area.json says; goes with no other option.")
@click.option("--write-timing", is_flag=True,
              help="Instead, measure anew what benchmarks/timing.json says; goes with --timing, --seeds and --refine "
              "alone.")
@config_options(omit=("compute_units",))
def synth(family: str, cus: tuple[int, ...], depth: int, json_file: Path | None, timing: tuple[str, ...] | None,
          no_timing: bool, placed: bool, seeds: int, refine: bool, write_baseline: bool, write_timing: bool,
          config: Config) -> None:
    """Synthesize a core with Yosys and show what each module takes; with nextpnr also how fast it can be.

    Modules are synthesized one by one, alike ones once, and kept; the first time that takes some minutes. So are
    frequencies, of a core of the first number of compute units.
    """
    from fgpu.tools.area import synthesize

    if write_baseline:
        _write_baseline()
        return
    if write_timing:
        _write_timing(timing, seeds, refine)
        return
    if json_file is not None:
        check_output(json_file)
    timed = frequency.chosen(family, timing, no_timing)
    if refine:
        frequency.check_refine(family, placed)
    if not timed:
        refuse_given("frequencies, of which none are asked for: give --timing UNIT", "placed", "seeds", "refine")
    if placed:
        refuse_given("routing the best of several placements; --placed routes none", "seeds")
    variants = {units: config.replace(compute_units=units) for units in cus}     # wrong ones are told first
    trees = {}
    for units, variant in variants.items():
        with progress_bar(f"synthesizing modules, {units} CU(s)") as update:
            trees[units] = synthesize(variant, family, progress=update)
    console = Console(highlight=False)
    for units, tree in trees.items():
        print_table(console, area_table(tree, depth, f"{units} CU(s)"))
        console.print()
    if family == "xc7" and not config.float_ops and not config.atomics:      # as the reference was synthesized
        print_table(console, comparison_table(trees))
    timings = {}
    for name in timed:
        timings[name] = frequency.measure(name, config.replace(compute_units=cus[0]), family, route=not placed,
                                          seeds=seeds, refine=refine)
        console.print(frequency.report(name, timings[name], family, route=not placed))
    if family == frequency.UNASKED and not timed and not no_timing:
        console.print("No frequency: nextpnr is not installed (pip install 'fgpu\\[timing]').")
    if json_file is not None:
        found = [{"compute_units": units, **_as_dict(tree)} for units, tree in trees.items()]
        if timings:
            found[0]["timing"] = [frequency.as_dict(*each, route=not placed) for each in timings.items()]
        write_file(json_file, json.dumps(found[0] if len(found) == 1 else found, indent=1) + "\n")


def _write_baseline() -> None:
    from fgpu.benchmarks import area

    refuse_other_options()
    rewrite(area, "areas", "synthesizing units")


def _write_timing(names: tuple[str, ...] | None, seeds: int, refine: bool) -> None:
    from fgpu.benchmarks import timing

    refuse_other_options("write_timing", "timing", "seeds", "refine")
    for name in names or ():
        if name not in timing.MEASURED:
            raise click.UsageError(f"--timing takes {', '.join(timing.MEASURED)} here, not {name!r}")
    before = timing.load()
    with steps("measuring") as step:
        found = before | timing.measure(names or tuple(timing.MEASURED), seeds, refine, step)
    timing.save({name: found[name] for name in timing.MEASURED if name in found})
    for line in timing.differences(before, found):
        click.echo(line)
    click.echo(f"{len(names or timing.MEASURED)} of {len(found)} frequencies in {timing.BASELINE} are new")


def _as_dict(module: "ModuleArea") -> dict[str, object]:
    return {"name": module.name, **asdict(module.area), "children": [_as_dict(child) for child in module.children]}
