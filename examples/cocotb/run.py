"""Builds the tiny FGPU and runs the bench: ``python examples/cocotb/run.py``. WAVES=1 writes build/dump.vcd."""

import os
import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner
from verilate import build

from fgpu.config import Config

if __name__ == "__main__":
    folder = Path("build").resolve()
    folder.mkdir(exist_ok=True)
    build(Config.preset("tiny"), folder, waves=bool(os.environ.get("WAVES")))
    results = get_runner("verilator").test("vec_add_bench", "fgpu", hdl_toplevel_lang="verilog", build_dir=folder)
    tests, failed = get_results(results)
    sys.exit(tests == 0 or failed > 0)
