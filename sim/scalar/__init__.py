"""A scalar soft processor, to compare with: VexRiscv in Verilator, with memory of the FGPU's timing."""

from .processor import CODE_BASE, DATA_BASE, Launches, compile_program, run_program

__all__ = ["CODE_BASE", "DATA_BASE", "Launches", "compile_program", "run_program"]
