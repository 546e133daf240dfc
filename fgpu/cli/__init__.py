"""The command line: ``fgpu COMMAND``."""

import click

from .bench import bench
from .board import build_, load
from .build import asm, compile_, disasm, verilog
from .cache import cache
from .demo import demo
from .groups import ErrorGroup
from .opencl import opencl
from .plot import plot
from .run import run
from .synth import synth
from .trace import trace

__all__ = ["main"]


@click.group(cls=ErrorGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fgpu")
def main() -> None:
    """A soft GPU for FPGAs: compile OpenCL C for it, simulate it cycle by cycle, write its Verilog.

    Start with `fgpu demo`.
    """


for command in (demo, compile_, run, trace, bench, plot, asm, disasm, verilog, synth, build_, load, opencl, cache):
    main.add_command(command)
