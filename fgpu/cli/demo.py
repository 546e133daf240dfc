"""``fgpu demo``: a first kernel from source to cycles."""

from typing import Any

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from fgpu.config import Config
from fgpu.engines import MEMORY_BASE
from fgpu.errors import SimulationError
from fgpu.extras import demand

from .board_demo import demonstrate
from .groups import command
from .options import config_options, engine_options, refuse_given
from .report import run_lines, time_table
from .values import NumberList

__all__ = ["demo"]

_SIZE = 1024
_SHOWN = 4


@command(short_help="From OpenCL C to cycles in one go: start here.")
@click.option("--board", metavar="NAME", help="Run kernels on a board instead: with --port, or with --simulate.")
@click.option("--port", metavar="PORT", help="The board's serial port, as /dev/ttyUSB0.")
@click.option("--simulate", is_flag=True, help="Simulate the board, with its memory chip and its serial line.")
@click.option("--sizes", metavar="N[,M...]", type=NumberList(), default=(),
              help="Elements of the kernels on the board; tells their cycles on the plain memory model, too.")
@engine_options
@config_options()
def demo(board: str | None, port: str | None, simulate: bool, sizes: tuple[int, ...], engine: str, latency: Any,
         max_cycles: int, config: Config) -> None:
    """Compile a vector addition, run it on a simulated FGPU and check the result with NumPy.

    The first run builds the simulator of the chosen hardware, which takes a while; later runs find it.
    """
    if board is not None or port is not None or simulate:
        if board is None or (port is None and not simulate):
            raise click.UsageError("a board needs --board, and --port or --simulate")
        if port is not None and simulate:
            raise click.UsageError(f"either --simulate the board, or use the one at --port {port}")
        refuse_given("the demonstration without a --board", "engine", "latency")
        demonstrate(board, port, sizes, config, max_cycles)
        return
    refuse_given("a --board", "sizes")
    demand("fgpu demo", "sim", "opencl")
    import numpy as np

    from fgpu.benchmarks import BENCHMARKS, reference_cycles
    from fgpu.benchmarks.record import REFERENCE_SPACING
    from fgpu.compiler import disassemble
    from fgpu.sim import Device

    console = Console(highlight=False)
    benchmark = BENCHMARKS["vec_add"]
    image = benchmark.image(config)
    console.rule("[bold]OpenCL C[/]", align="left")
    console.print(Syntax(benchmark.source.read_text(encoding="utf-8").strip(), "c", background_color="default",
                         word_wrap=True))
    console.rule(f"[bold]FGPU code[/]: {len(image.words)} instructions", align="left")
    console.print(disassemble(image).rstrip(), markup=False)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-1000, 1000, _SIZE, dtype=np.int32) for _ in range(2))
    with Device(config, engine=engine, memory_latency=latency) as device:
        # The addresses are those of the reference's measurement, where all three alias in the cache.
        buffers = [device.buffer(array, address=MEMORY_BASE + place * REFERENCE_SPACING)
                   for place, array in enumerate((a, b, np.zeros_like(a)))]
        run = device.launch(image, global_size=_SIZE, args=buffers, max_cycles=max_cycles)
        result = buffers[2].read()
    console.rule(f"[bold]Run[/]: {_SIZE} work-items on {config.compute_units} compute unit(s), {engine} engine",
                 align="left")
    table = Table("work-item", box=None, pad_edge=False)
    for title in ("a", "b", "out"):
        table.add_column(title, justify="right")
    for item in [*range(_SHOWN), *range(_SIZE - _SHOWN, _SIZE)]:
        table.add_row(str(item), str(a[item]), str(b[item]), str(result[item]))
        if item == _SHOWN - 1:
            table.add_row("...")
    console.print(table)
    wrong = int(np.count_nonzero(result != a + b))
    if wrong:
        raise SimulationError(f"{wrong} of {_SIZE} results are not what NumPy computes")
    console.print(f"[green]All {_SIZE} results are what NumPy computes.[/]")
    for line in run_lines(run):
        console.print(line)
    reference = reference_cycles("vec_add", _SIZE, config.compute_units, 64)
    if run.cycles and reference:
        console.print(f"The reference design takes {reference:,} cycles, {reference / run.cycles:.1f} times as many.")
    times = time_table(run.stats)
    if times is not None:
        console.rule("[bold]Where the compute units' time went[/]", align="left")
        console.print(times)
