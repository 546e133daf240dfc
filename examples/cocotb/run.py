"""Builds the tiny FGPU and runs the bench: ``python examples/cocotb/run.py``.

WAVES=1 writes build/dump.vcd. SIM=icarus takes another simulator of cocotb's than Verilator.
"""

import os
import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

from fgpu.cocotb.verilate import build
from fgpu.config import Config
from fgpu.tools.verilog import write_verilog

TINY = Config.preset("tiny")

if __name__ == "__main__":
    folder = Path("build").resolve()
    folder.mkdir(exist_ok=True)
    simulator = os.environ.get("SIM", "verilator")
    runner = get_runner(simulator)
    if simulator == "verilator":
        build(TINY, folder, waves=bool(os.environ.get("WAVES")))
    else:
        runner.build(sources=[write_verilog(TINY, folder / "fgpu.v")], hdl_toplevel="fgpu", build_dir=folder,
                     timescale=("1ns", "1ps"), always=True)
    results = runner.test("vec_add_bench", "fgpu", hdl_toplevel_lang="verilog", build_dir=folder)
    tests, failed = get_results(results)
    sys.exit(tests == 0 or failed > 0)
