"""Builds the generated Verilog for cocotb with Verilator, from Python packages only.

cocotb's own ``runner.build()`` calls Verilator's Perl script, then make. This calls the compiler proper of
the package ``verilator``, then the system's C++ compiler, or zig's where there is none. The result is what
``runner.test()`` expects, so everything after the build is plain cocotb.
"""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cocotb_tools import config as cocotb_files

from fgpu.sim.testbench.build import find_compiler, run_tool
from fgpu.sim.verilator_build import verilator_root

__all__ = ["build"]

_OPTIONS = ["--cc", "--exe", "--vpi", "--make", "json", "--prefix", "Vtop", "--top-module", "fgpu", "--no-timing",
            "-O3", "--x-assign", "fast", "--x-initial", "fast", "--output-split", "10000", "-Mdir", "obj",
            "-Wno-fatal", "-Wno-lint", "-Wno-style"]
# cocotb needs the ports. runner.build() makes every signal public, which forbids most optimizations.
_PORTS = ["clk", "rst", "s_axi_*", "m*_axi_*", "kernel_status", "kernel_fault", "irq"]


def build(verilog: Path, folder: Path, *, waves: bool = False, compiler: str | None = None) -> Path:
    """Make the simulator ``folder/fgpu`` of a core's Verilog; with ``waves``, one that can write ``dump.vcd``."""
    public = [f'public_flat_rw -module "fgpu" -var "{port}"\n' for port in _PORTS]
    (folder / "ports.vlt").write_text("".join(["`verilator_config\n", *public]))
    root = verilator_root()
    run_tool([root / "bin" / "verilator_bin", *_OPTIONS, *(["--trace-vcd"] if waves else []), "ports.vlt", verilog],
             folder, {**os.environ, "VERILATOR_ROOT": str(root)})

    command = find_compiler(compiler).command
    # zig checks for undefined behaviour unless told not to, and Verilator's code shifts negative values.
    flags = ["-std=c++17", "-w", "-fno-sanitize=undefined", "-fno-strict-aliasing",
             "-Iobj", f"-I{root / 'include'}", f"-I{root / 'include' / 'vltstd'}",
             "-DVM_COVERAGE=0", "-DVM_SC=0", f"-DVM_TRACE={int(waves)}"]
    sources = json.loads((folder / "obj" / "Vtop.json").read_text())["sources"]
    main = cocotb_files.share_dir / "lib" / "verilator" / "verilator.cpp"
    run_often = [*sources["classes_fast"], *sources.get("support_fast", []), *sources["global"], main]
    run_once = [*sources["classes_slow"], *sources["support_slow"]]

    def compile_one(source: str) -> str:
        target = f"{Path(source).stem}.o"
        optimize = "-O1" if source in run_often else "-O0"
        run_tool([*command, *flags, optimize, "-c", source, "-o", target], folder)
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, [*run_often, *run_once]))
    libraries = cocotb_files.libs_dir
    run_tool([*command, *objects, "-o", "fgpu", f"-L{libraries}", "-lcocotbvpi_verilator", f"-Wl,-rpath,{libraries}",
              "-lpthread", "-ldl"], folder)
    return folder / "fgpu"
