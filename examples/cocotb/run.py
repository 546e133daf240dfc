"""Runs the bench on the tiny FGPU: ``python run.py``, in this folder.

WAVES=1 writes build/dump.vcd. SIM=icarus takes another simulator of cocotb's than Verilator.
"""

import os
import sys

from fgpu import Config
from fgpu.cocotb import run
from fgpu.errors import FgpuError

if __name__ == "__main__":
    try:
        tests, failed = run("vec_add_bench", Config.preset("tiny"), os.environ.get("SIM", "verilator"),
                            waves=bool(os.environ.get("WAVES")))
    except FgpuError as error:
        sys.exit(f"Error: {error}")
    sys.exit(tests == 0 or failed > 0)
