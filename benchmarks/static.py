"""Instructions and scratchpad words of the benchmark kernels, checked in.

``python -m fgpu.benchmarks.static --write`` measures them anew.
"""

from pathlib import Path
from typing import Final

import click

from fgpu.config import ATOMICS, FLOAT_OPS, Config

from .baseline import Counts, differences
from .checked_in import read_figures, write_figures
from .registry import DIVERGENCE, EVERY

__all__ = ["SOFT", "STATIC", "load", "measure"]

STATIC: Final = Path(__file__).parent / "static.json"
SOFT: Final = Config(atomics=ATOMICS)
_HARD: Final = SOFT.replace(float_ops=FLOAT_OPS)
_LOCAL: Final = 32


def measure() -> Counts:
    """For each kernel of each benchmark its instructions, the program's with all subroutines, and scratchpad words.

    Floating point is in software; kernels for which that makes a difference come with hardware, too.
    """
    counts: Counts = {}
    for name, benchmark in EVERY.items():
        if name in DIVERGENCE:      # measured by issues and cycles
            continue
        size = _LOCAL if benchmark.without else 0
        soft, hard = (benchmark.image(config.replace(local_memory=size)) for config in (SOFT, _HARD))
        for suffix, image in (("", soft), (" hard", hard)):
            if suffix and image.words == soft.words:
                continue
            for kernel in image.kernels.values():
                counts[f"{name} {kernel.name}{suffix}"] = {
                    "instructions": kernel.instructions, "program": len(image.words),
                    "scratchpad": kernel.scratchpad_words}
    return counts


def load() -> Counts:
    """What is checked in."""
    counts: Counts = read_figures(STATIC) if STATIC.exists() else {}
    return counts


@click.command()
@click.option("--write", is_flag=True, help="Make what is found now what is checked in.")
def main(write: bool) -> None:
    """Tell which sizes of the benchmark kernels moved."""
    counts = measure()
    for line in differences(load(), counts):
        click.echo(line)
    if write:
        write_figures(STATIC, counts)


if __name__ == "__main__":
    main()
