"""What calls of the OpenCL platform cost a program in C: ``python -m fgpu.benchmarks.opencl_calls``."""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from fgpu.opencl.install import install
from fgpu.opencl.library import LIBRARY
from fgpu.opencl.library.build import compiler, zig

__all__ = ["TARGETS", "measure"]

TARGETS: Final = {
    "platform": 1000, "first_device": 100_000, "processor_time_then": None, "first_buffer": None,
    "first_program": None, "first_launch": 600_000, "processor_time_till_then": None,
    "clRetainContext_clReleaseContext": 10, "clCreateBuffer_clReleaseMemObject": 10,
    "blocking_read_of_64_bytes": 50, "blocking_write_of_64_bytes": 50, "empty_kernel_and_clFinish": 300,
}
"""Microseconds that calls shall not exceed; 5 for all others. Five are since the library was opened; the
processor times are those of the process, to which other work on the machine adds less."""
_SOURCE = Path(__file__).with_suffix(".c")


def measure() -> dict[str, float]:
    """Microseconds by name, on the first device and after the first program is in the cache."""
    with tempfile.TemporaryDirectory() as folder:
        install(Path(folder))
        program = Path(folder) / "calls"
        subprocess.run([*(compiler() or zig()), "-O2", "-o", program, _SOURCE, "-ldl"], check=True)
        for _ in range(2):      # the first time fills caches
            done = subprocess.run([program, Path(folder) / LIBRARY], check=True, capture_output=True, text=True,
                                  env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    return {name: float(time) for name, time in (line.split() for line in done.stdout.splitlines())}


def main() -> None:
    """Print a table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    table = Table("call", box=None, pad_edge=False)
    table.add_column("us", justify="right")
    table.add_column("at most", justify="right")
    for name, microseconds in measure().items():
        target = TARGETS.get(name, 5)
        table.add_row(name.replace("_", " "), f"{microseconds:,.2f}", "" if target is None else f"{target:,}")
    Console(highlight=False).print(table)


if __name__ == "__main__":
    main()
