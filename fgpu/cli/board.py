"""``fgpu build``, ``fgpu load`` and what ``fgpu demo`` does on a board."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from fgpu.config import Config
from fgpu.errors import SimulationError
from fgpu.extras import demand

from .common import config_options, write_file
from .groups import command
from .package import package_ip
from .report import print_table

if TYPE_CHECKING:
    from fgpu.sim import Device

__all__ = ["build_", "demonstrate", "load", "run_benchmark_on"]

_SIZE = 64


@command("build", short_help="A bitstream for a board, or an IP for Vivado.")
@click.option("--board", "name", metavar="NAME", help="The board; ? lists those that there are.")
@click.option("--ip", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Write the core as an IP for Vivado, with a script that makes the design of a Zynq-7000 board.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT",
              help="Bitstream to write. Default NAME.bit.")
@click.option("--clock", type=click.FloatRange(10, 100), metavar="MHZ",
              help="Of core and memory. Default: the board's.")
@click.option("--seed", type=click.IntRange(min=1), default=1, show_default=True,
              help="Of placing: another one may give a faster design.")
@config_options()
def build_(name: str | None, folder: Path | None, output: Path | None, clock: float | None, seed: int,
           config: Config) -> None:
    """Build the bitstream of a board: core, memory controller and the host's bridge.

    Yosys takes minutes, nextpnr an hour or so for a compute unit; the result is kept. With --ip, write what Vivado
    builds from.

    \b
    Examples:
      fgpu build --board ?
      fgpu build --board ulx3s_85f -o fgpu.bit
      fgpu build --ip fgpu-ip --board pynq_z1
    """
    from fgpu.board.boards import BOARDS, board
    from fgpu.vivado.zynq import ZYNQ_BOARDS

    if folder is not None:
        if output is not None:
            raise click.UsageError("-o is for bitstreams; --ip writes to its own folder")
        package_ip(folder, name, config)
        return
    if name is None:
        raise click.UsageError("choose a --board (? lists them), or write an --ip")
    console = Console(highlight=False)
    if name == "?":
        table = Table("board", "", "FPGA", box=None, pad_edge=False)
        for title in ("MB of memory", "MHz"):
            table.add_column(title, justify="right")
        for each in BOARDS.values():
            table.add_row(each.name, each.title, each.device, str(each.chip.megabytes), f"{each.clock / 1e6:g}")
        for zynq in ZYNQ_BOARDS.values():
            table.add_row(zynq.name, f"{zynq.title} (by Vivado: --ip)", zynq.part)
        print_table(console, table)
        return
    if name in ZYNQ_BOARDS:
        raise click.UsageError(f"Vivado builds for {name}: write an IP for it, as --ip fgpu-ip --board {name}")
    chosen = board(name)
    demand("fgpu build", "board", "timing")
    from fgpu.board.bitstream import build_bitstream
    from fgpu.board.system import SystemParameters

    given = SystemParameters(clock=round(clock * 1e6) if clock else chosen.clock, memory_bytes=chosen.chip.size,
                             config=config)
    made = build_bitstream(chosen, given, seed=seed, progress=lambda text: click.echo(f"{name}: {text}", err=True))
    path = output or Path(f"{name}.bit")
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


def demonstrate(name: str, port: str | None, config: Config, max_cycles: int) -> None:
    """Run kernels of chapter 6 on a board at ``port``, or on a simulated one, and compare with NumPy."""
    demand("fgpu demo --board", "board", "sim", "opencl")
    from fgpu.benchmarks import BENCHMARKS
    from fgpu.board.boards import board
    from fgpu.sim import Device

    console = Console(highlight=False)
    chosen = board(name)
    with ExitStack() as after:
        link: Any = port
        if port is None:
            from fgpu.sim.board.simulated import SimulatedBoard

            simulated = after.enter_context(SimulatedBoard(
                chosen, config, progress=lambda text: click.echo(f"simulated {name}: {text}", err=True)))
            console.print(f"{name}, simulated, is at {simulated.port}")
            link = simulated.link()
        device = after.enter_context(Device(engine="board", port=link))
        table = Table("kernel", box=None, pad_edge=False)
        for title in ("elements", "cycles", "bytes sent", "repeated"):
            table.add_column(title, justify="right")
        for benchmark in BENCHMARKS:
            cycles, sent, failures = run_benchmark_on(device, benchmark, _SIZE, max_cycles)
            table.add_row(benchmark, str(_SIZE), f"{cycles:,}", f"{sent:,}", str(failures))
        print_table(console, table)
        console.print("[green]All results are what NumPy computes.[/]")


def run_benchmark_on(device: "Device", name: str, size: int, max_cycles: int) -> tuple[int, int, int]:
    """Run a benchmark; cycles, bytes sent and repeated frames. Raises :class:`~fgpu.errors.SimulationError` for
    results that are wrong."""
    from fgpu.benchmarks import EVERY
    from fgpu.benchmarks.record import difference

    benchmark = EVERY[name]
    problem = benchmark.problem(size, group_size=64, seed=0)
    image = benchmark.image(device.config)
    buffers = {array: device.buffer(content) for array, content in problem.arrays.items()}
    cycles = sent = failures = 0
    for index, step in enumerate(problem.steps):
        run = device.launch(
            image, step.kernel or benchmark.kernel, global_size=step.global_size, local_size=step.local_size,
            global_offset=step.global_offset, initialize=index == 0, clean=index == len(problem.steps) - 1,
            args=[buffers[arg] if isinstance(arg, str) else arg for arg in step.args], max_cycles=max_cycles)
        cycles += run.cycles or 0
        sent += run.stats.get("line.bytes_sent", 0)
        failures = run.stats.get("line.failures", 0)
    for array, expected in problem.expected.items():
        wrong = difference(array, buffers[array].read(), expected)
        if wrong is not None:
            raise SimulationError(f"{name}: {wrong}")
    for buffer in buffers.values():
        buffer.free()
    return cycles, sent, failures
