"""``fgpu trace``: a run whose events are shown by a viewer."""

from pathlib import Path

import click

from .groups import command
from .run import run

__all__ = ["trace"]


@command(short_help="Run a kernel and write what happened in each cycle, for a viewer.",
         context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="RUN-ARGUMENTS...")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE",
              help="For Perfetto (.pftrace, https://ui.perfetto.dev), for Konata (.kanata), for GTKWave "
                   "(.fst), a table (.csv), or a picture (.svg, .png).")
@click.option("--window", metavar="FROM:TO", help="Only these cycles of the run, up to but not including TO.")
@click.option("--units", metavar="UNIT[,UNIT...]", help="Only these parts, as cu0, cu0.wavefront3, cache, "
              "cache.slice1, axi0; cu and axi: all of them.")
def trace(arguments: tuple[str, ...], output: Path, window: str | None, units: str | None) -> None:
    """Run a kernel, as `fgpu run RUN-ARGUMENTS...`, and write its events to a file.

    \b
    Example:
      fgpu trace vec_add.cl --global 1024 --arg random:int32:1024 \\
          --arg random:int32:1024 --arg zeros:int32:1024 -o vec_add.pftrace
    """
    chosen = [*(["--record-window", window] if window else []), *(["--record-units", units] if units else [])]
    run.main([*arguments, "--record", str(output), *chosen], prog_name="fgpu trace", standalone_mode=False)
