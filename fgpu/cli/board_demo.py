"""What ``fgpu demo`` does on a board."""

import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from fgpu.config import Config
from fgpu.errors import SimulationError
from fgpu.extras import demand

from .report import print_table

if TYPE_CHECKING:
    from fgpu.board.link import Link
    from fgpu.sim import Device

__all__ = ["demonstrate"]

_SIZE = 64
_LINE_BYTES = 8192


def demonstrate(name: str, port: str | None, sizes: tuple[int, ...], config: Config, max_cycles: int) -> None:
    """Run kernels of chapter 6 on a board at ``port``, or on a simulated one, and compare with NumPy; with ``sizes``
    also with the cycles that they take behind the plain memory model. A board at a port has its core already: only
    one that is not the default must be it."""
    demand("fgpu demo --board", "board", "sim", "opencl")
    from fgpu.benchmarks import BENCHMARKS
    from fgpu.board.boards import board
    from fgpu.board.link import Link
    from fgpu.board.protocol import DEFAULT_BAUD
    from fgpu.sim import Device

    console = Console(highlight=False)
    chosen = board(name)
    for benchmark in BENCHMARKS.values():
        for size in sizes:
            benchmark.check(size)       # before a simulator is built
    with ExitStack() as after:
        if port is None:
            from fgpu.sim.board.simulated import SimulatedBoard

            simulated = after.enter_context(SimulatedBoard(
                chosen, config, progress=lambda text: click.echo(f"simulated {name}: {text}", err=True)))
            console.print(f"{name}, simulated, is at {simulated.port}")
            open_link: Callable[..., Link] = simulated.link
        else:
            open_link = partial(Link, port)
        link = open_link()

        def seconds() -> float:
            return time.monotonic() if port is not None else simulated.state.cycles / link.clock

        wanted = config if port is not None and config != Config() else None
        device = after.enter_context(Device(wanted, engine="board", port=link))
        print_table(console, _results(device, sizes, max_cycles))
        console.print(_line_rates(link, seconds))
        if sizes:       # at the rate that the line begins with, too
            device.close()
            link = open_link(baud=DEFAULT_BAUD)
            after.callback(link.close)
            console.print(_line_rates(link, seconds, _LINE_BYTES // 8))
        console.print("[green]All results are what NumPy computes.[/]")


def _results(device: "Device", sizes: tuple[int, ...], max_cycles: int) -> Table:
    """Run every kernel, with ``sizes`` on the plain memory model, too.

    Raises :class:`~fgpu.errors.SimulationError` for a wrong result.
    """
    from fgpu.benchmarks import BENCHMARKS
    from fgpu.benchmarks.record import run_benchmark

    table = Table("kernel", box=None, pad_edge=False)
    plain_titles = ["on the memory model", "times"] if sizes else []
    for title in ("elements", "cycles", *plain_titles, "bytes sent", "repeated"):
        table.add_column(title, justify="right")
    for kernel in BENCHMARKS:
        for size in sizes or [_SIZE]:
            record = run_benchmark(kernel, size, device=device, max_cycles=max_cycles)
            plain = run_benchmark(kernel, size, config=device.config) if sizes else record
            for each in (record, plain):
                if not each.passed:
                    raise SimulationError(f"{kernel} of {size}: {each.failure}")
            beside = [f"{plain.cycles:,}", f"{(record.cycles or 0) / (plain.cycles or 1):.2f}"] if sizes else []
            table.add_row(kernel, f"{size:,}", f"{record.cycles:,}", *beside,
                          f"{record.stats['line.bytes_sent']:,}", str(record.stats["line.failures"]))
    return table


def _line_rates(link: "Link", seconds: Callable[[], float], length: int = _LINE_BYTES) -> str:
    """What the line carries to the board's memory and back, of so many bytes; they must come back as they went."""
    from fgpu.board.protocol import MEMORY_BASE

    content = random.Random(1).randbytes(length)
    begin = seconds()
    link.write(MEMORY_BASE, content)
    middle = seconds()
    found = link.read(MEMORY_BASE, length)
    end = seconds()
    if found != content:
        raise SimulationError("the board's memory has other bytes than were written")
    to, back = (length / (after - before) / 1e3 for before, after in ((begin, middle), (middle, end)))
    return f"The line has {link.baud:,} baud: {to:.1f} kB/s to the board, {back:.1f} back."
