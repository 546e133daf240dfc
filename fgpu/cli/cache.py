"""``fgpu cache``: what is kept between runs."""

import click
from rich.console import Console
from rich.table import Table

from fgpu.files import cache_directory
from fgpu.store import clear, kinds

from .groups import command

__all__ = ["cache"]


@command(short_help="What is kept between runs, where, and how much it takes.")
@click.option("--clear", "is_cleared", is_flag=True, help="Remove all of it; it is made again when it is needed.")
def cache(is_cleared: bool) -> None:
    """Show the cache folder and what is in it: simulators, compiled programs and library, areas, frequencies.

    The environment variable FGPU_CACHE_DIR names another folder. What nobody has used for two months is removed.
    """
    if is_cleared:
        clear()
    click.echo(cache_directory())
    table = Table("kind", box=None, pad_edge=False)
    for title in ("entries", "MB"):
        table.add_column(title, justify="right")
    for kind in kinds():
        table.add_row(kind.name, f"{kind.entries:,}", f"{kind.size / 1e6:,.1f}")
    if table.row_count:
        Console(highlight=False).print(table)
