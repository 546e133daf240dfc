"""``fgpu build`` and ``fgpu load``: bitstreams of boards."""

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from fgpu.config import Config
from fgpu.extras import demand

from .baselines import progress_bar
from .files import check_output, write_file
from .groups import command
from .options import config_options, hardware_options, refuse_given
from .package import package_ip
from .report import print_table
from .values import FloatRange

__all__ = ["build_", "load"]


@command("build", short_help="A bitstream for a board, or an IP for Vivado.")
@click.option("--board", "name", metavar="NAME", help="The board; ? lists those that there are.")
@click.option("--ip", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Write the core as an IP for Vivado, with a script that makes the design of a Zynq-7000 board.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT",
              help="Bitstream to write. Default NAME.bit.")
@click.option("--clock", type=FloatRange(10, 100), metavar="MHZ",
              help="Of core and memory. Default: that of this core in the list of --board ?, or else the board's.")
@click.option("--seed", type=click.IntRange(min=1), default=1, show_default=True,
              help="Of placing: another one may give a faster design.")
@click.option("--write-table", is_flag=True, help="Note LUTs and MHz in the table that --board ? shows; with ? "
              "count anew what cores take.")
@config_options()
def build_(name: str | None, folder: Path | None, output: Path | None, clock: float | None, seed: int,
           write_table: bool, config: Config) -> None:
    """Build the bitstream of a board: core, memory controller and the host's bridge.

    Yosys takes minutes, nextpnr half an hour or so for a compute unit, and less where it is installed (nextpnr-ecp5
    on the PATH). Between placing and routing, cells of slow paths are moved. Netlist and bitstream are kept. With
    --ip, write what Vivado builds from.

    \b
    Examples:
      fgpu build --board ?
      fgpu build --board ulx3s_85f -o fgpu.bit
      fgpu build --ip fgpu-ip --board pynq_z1
    """
    from fgpu.board.boards import board
    from fgpu.vivado.zynq import ZYNQ_BOARDS

    if folder is not None:
        if output is not None:
            raise click.UsageError("-o is for bitstreams; --ip writes to its own folder")
        refuse_given("bitstreams; Vivado's script has the clock as an argument", "clock", "seed", "write_table")
        package_ip(folder, name, config)
        return
    if name is None:
        raise click.UsageError("choose a --board (? lists them), or write an --ip")
    console = Console(highlight=False)
    if name == "?":
        refuse_given("bitstreams; --board ? writes none", "output", "clock", "seed", *hardware_options())
        if write_table:
            from fgpu.board.figures import count

            with progress_bar("counting cells of cores") as update:
                count(update)
        _list_boards(console)
        return
    if name in ZYNQ_BOARDS:
        raise click.UsageError(f"Vivado builds for {name}: write an IP for it, as --ip fgpu-ip --board {name}")
    chosen = board(name)
    path = output or Path(f"{name}.bit")
    check_output(path)      # before what takes half an hour
    from fgpu.tools.yowasp import nextpnr_packages

    demand("fgpu build", "board", "timing", but=nextpnr_packages(but="nextpnr_ecp5"))
    from fgpu.board.bitstream import build_bitstream
    from fgpu.board.figures import clock_of
    from fgpu.board.system import SystemParameters

    given = SystemParameters(clock=round(clock * 1e6) if clock else clock_of(chosen, config),
                             memory_bytes=chosen.chip.size, config=config)
    made = build_bitstream(chosen, given, seed=seed, progress=lambda text: click.echo(f"{name}: {text}", err=True))
    write_file(path, made.content)
    table = Table("", box=None, pad_edge=False)
    for title in ("used", "of", "%"):
        table.add_column(title, justify="right")
    for kind, (used, there) in made.used.items():
        table.add_row(kind, f"{used:,}", f"{there:,}", f"{100 * used / there:.0f}")
    print_table(console, table)
    wanted = given.clock / 1e6
    console.print(f"wrote {path}: {made.frequency:.1f} MHz at best, runs at {wanted:g}; "
                  f"built in {made.seconds:.0f} s", soft_wrap=True)
    if made.frequency < wanted:
        raise click.ClickException(f"the design is too slow for {wanted:g} MHz; try --clock "
                                   f"{5 * int(made.frequency / 5)} or another --seed")
    if write_table:
        from fgpu.board.figures import record

        record(name, given, made, seed=seed)


def _list_boards(console: Console) -> None:
    """Boards, cores that were built for them, and what fits by a count of cells."""
    from fgpu.board.boards import BOARDS, NOT_OFFERED
    from fgpu.board.figures import fits, told
    from fgpu.board.figures import load as load_figures
    from fgpu.vivado.zynq import ZYNQ_BOARDS

    table = Table("board", "", "FPGA", box=None, pad_edge=False)
    for title in ("memory", "MHz"):
        table.add_column(title, justify="right")
    for each in BOARDS.values():
        table.add_row(each.name, each.title, each.device, f"{each.chip.megabytes} MB", f"{each.clock / 1e6:g}")
    for zynq in ZYNQ_BOARDS.values():
        table.add_row(zynq.name, f"{zynq.title} (by Vivado: --ip)", zynq.part)
    for other in NOT_OFFERED.values():
        table.add_row(other.name, f"{other.title} (not offered)", other.device)
    print_table(console, table)
    for other in NOT_OFFERED.values():
        console.print(f"{other.name}: {other.why}.", soft_wrap=True)
    rows = load_figures()
    if rows:
        table = Table("built", "core", box=None, pad_edge=False)
        for title in ("MHz", "routed", *rows[0].used):
            table.add_column(title, justify="right")
        for row in rows:
            table.add_row(row.board, row.core, f"{row.clock:g}", f"{row.routed:.1f}", *told(row.used))
        console.print()
        print_table(console, table)
    known = fits()
    if known:
        table = Table("what fits", "core", box=None, pad_edge=False)
        for title in known[0].used:
            table.add_column(title, justify="right")
        table.add_column("")
        for fit in known:
            table.add_row(fit.board.name, fit.core, *told(fit.used), fit.verdict)
        console.print()
        print_table(console, table)


@command(short_help="Load a bitstream into a board.")
@click.option("--board", "name", required=True, metavar="NAME", help="The board; fgpu build --board ? lists them.")
@click.option("--flash", is_flag=True, help="Write it to the board's flash, from where it starts when switched on.")
@click.argument("bitstream", type=click.Path(path_type=Path), required=False)
def load(name: str, flash: bool, bitstream: Path | None) -> None:
    """Load BITSTREAM, by default NAME.bit, into a board's FPGA with openFPGALoader.

    \b
    Examples:
      fgpu load --board ulx3s_85f
      fgpu load --board ulx3s_85f fgpu.bit --flash
    """
    from fgpu.board.boards import board
    from fgpu.board.load import load_bitstream

    chosen = board(name)
    path = bitstream or Path(f"{name}.bit")
    load_bitstream(chosen, path, flash=flash)
    click.echo(f"loaded {path}")
