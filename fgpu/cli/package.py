"""``fgpu build --ip``."""

from pathlib import Path

import click

from fgpu.config import Config

__all__ = ["package_ip"]

_DEFAULT = "pynq_z1"


def package_ip(folder: Path, name: str | None, config: Config) -> None:
    """Write the IP of a core, and say what to do with it."""
    from fgpu.vivado.package import write_package
    from fgpu.vivado.zynq import zynq_board

    board = zynq_board(name or _DEFAULT)
    for path in write_package(config, board, folder):
        click.echo(f"wrote {path}")
    click.echo(f"With Vivado: vivado -mode batch -source {folder / 'block_design.tcl'} -tclargs {board.name}")
