"""``fgpu synth``: the area of a core, module by module."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fgpu.config import Config

from .common import config_options, write_file

if TYPE_CHECKING:
    from fgpu.synth import ModuleArea

__all__ = ["synth"]

_REFERENCE = {
    # Vivado, routed; for one compute unit Yosys on the reference's source: shared/spec/reference.md.
    1: ("Yosys", 32208, 1346, 36128, 50.0, 32),
    2: ("Vivado", 42754, None, 56191, 82.5, 64),
    4: ("Vivado", 64990, None, 111878, 188.5, 128),
    8: ("Vivado", 119371, None, 214323, 436.5, 256),
}


@click.command(short_help="Area of a core, by module, beside the reference design.")
@click.option("--family", type=click.Choice(["xc7", "ecp5"]), default="xc7", show_default=True,
              help="FPGA family: Xilinx 7 series or Lattice ECP5.")
@click.option("--depth", type=click.IntRange(1), default=3, show_default=True,
              help="Levels of the hierarchy to show.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the whole hierarchy to FILE.")
@click.option("--timing", is_flag=True,
              help="Instead, place and route one compute unit by itself and name its slowest path (ecp5 only).")
@config_options()
def synth(family: str, depth: int, json_file: Path | None, timing: bool, config: Config) -> None:
    """Synthesize a core with Yosys and show what each module takes.

    Modules are synthesized one by one, alike ones once; that takes some minutes.
    """
    from fgpu.synth import synthesize

    if timing:
        if family != "ecp5":
            raise click.UsageError("--timing needs --family ecp5")
        _timing(config)
        return
    console = Console(stderr=True)
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                  console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("synthesizing modules", total=None)
        tree = synthesize(config, family,
                          progress=lambda done, total: progress.update(task, completed=done, total=total))
    if json_file is not None:
        write_file(json_file, json.dumps(_as_dict(tree), indent=1) + "\n")
    Console(highlight=False).print(_table(tree, depth, config.compute_units if family == "xc7" else None))


def _timing(config: Config) -> None:
    from fgpu.cu.compute_unit import ComputeUnit
    from fgpu.timing import component_timing

    console = Console(stderr=True)
    with console.status("placing and routing a compute unit, for some minutes"):
        timing = component_timing(ComputeUnit(config))
    click.echo(f"One compute unit by itself on an ECP5 of speed grade 6: {timing.frequency:.1f} MHz. "
               f"The slowest path takes {timing.delay:.1f} ns:")
    for cell in timing.cells:
        click.echo(f"  {cell}")


def _as_dict(module: "ModuleArea") -> dict[str, object]:
    area = module.area
    return {
        "name": module.name, "luts": area.luts, "lut_memories": area.lut_memories, "ffs": area.ffs,
        "block_rams": area.block_rams, "dsps": area.dsps, "children": [_as_dict(child) for child in module.children],
    }


def _table(tree: "ModuleArea", depth: int, reference: int | None) -> Table:
    table = Table("module", box=None, pad_edge=False)
    for title in ("LUTs", "LUT memory", "FFs", "block RAMs", "DSPs"):
        table.add_column(title, justify="right")

    def add(module: "ModuleArea", level: int) -> None:
        area = module.area
        table.add_row("  " * level + module.name, f"{area.luts:,}", f"{area.lut_memories:,}", f"{area.ffs:,}",
                      f"{area.block_rams:g}", str(area.dsps))
        if level + 1 < depth:
            for child in sorted(module.children, key=lambda child: -child.area.luts):
                add(child, level + 1)

    add(tree, 0)
    if reference is not None:
        tool, luts, memories, ffs, block_rams, dsps = _REFERENCE[reference]
        table.add_section()
        table.add_row(f"reference, {tool}", f"{luts:,}", "" if memories is None else f"{memories:,}", f"{ffs:,}",
                      f"{block_rams:g}", str(dsps), style="dim")
    return table
