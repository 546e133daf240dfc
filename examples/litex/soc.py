"""A LiteX SoC with a RISC-V processor and FGPU, simulated: its program runs a kernel and says whether it was right.

    pip install 'fgpu[litex]'
    python examples/litex/soc.py

Nothing but Python packages is needed: zig compiles the program and, if there is no other C++ compiler, the simulator.
"""

import logging
import subprocess
import sys
from pathlib import Path

from fgpu.extras import demand

demand("examples/litex", "litex", "sim", "opencl")

# ruff: noqa: E402
from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform
from litex.gen import ClockDomain, ClockSignal, LiteXModule
from litex.soc.integration.export import get_csr_header, get_mem_header
from litex.soc.integration.soc_core import SoCCore
from migen import Signal

from fgpu import compile_opencl
from fgpu.config import Config
from fgpu.litex import add_fgpu
from fgpu.sim.testbench.build import find_compiler, run_tool
from fgpu.sim.verilate import SAFE, runtime_object, verilate, verilator_flags
from fgpu.software.header import library_files

HERE = Path(__file__).resolve().parent
KERNEL = "kernel void square(global int *a, int n) { size_t i = get_global_id(0); a[i] = a[i] * a[i] + n; }"
IO = [("sys_clk", 0, Pins(1)), ("serial", 0, *(Subsignal(name, Pins(bits)) for name, bits in (
    ("source_valid", 1), ("source_ready", 1), ("source_data", 8),
    ("sink_valid", 1), ("sink_ready", 1), ("sink_data", 8))))]
TARGET = ["-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m", "-O1", "-ffreestanding", "-nostdlib",
          "-fno-sanitize=all", "-static", "-w", "-g0"]


class Clock(LiteXModule):
    """Clock and power-on reset from outside."""

    def __init__(self, platform: SimPlatform) -> None:
        self.cd_sys = ClockDomain(reset_less=False)
        self.cd_por = ClockDomain(reset_less=True)
        delay = Signal(max=16)
        self.comb += [self.cd_sys.clk.eq(platform.request("sys_clk")), self.cd_por.clk.eq(ClockSignal("sys"))]
        self.comb += self.cd_sys.rst.eq(delay != 15)
        self.sync.por += delay.eq(delay + (delay != 15))


class SoC(SoCCore):
    """VexRiscv, 16 KiB of ROM with the program, SRAM, 64 KiB of memory that FGPU shares, and FGPU."""

    def __init__(self, folder: Path, config: Config) -> None:
        platform = SimPlatform("SIM", IO)
        self.crg = Clock(platform)
        super().__init__(platform, int(50e6), cpu_type="vexriscv", cpu_variant="lite", ident="", uart_name="sim",
                         integrated_rom_size=0x4000, integrated_sram_size=0x1000,
                         integrated_main_ram_size=0x10000)
        add_fgpu(self, config, verilog=folder / "fgpu.v")


def write_gateware(folder: Path, soc: SoC) -> list[Path]:
    """The SoC's Verilog, and the contents of its memories beside it; all its Verilog files."""
    made = soc.platform.get_verilog(soc, name="sim")
    (folder / "sim.v").write_text(made.main_source)
    for name, content in made.data_files.items():
        (folder / name).write_text(content)
    return [folder / "sim.v", *(Path(str(source[0])) for source in soc.platform.sources)]


def compile_program(folder: Path, soc: SoC, config: Config) -> list[int]:
    """The words of the program; what it knows of the SoC, LiteX tells, what of FGPU, its address map."""
    generated = folder / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    (generated / "mem.h").write_text(get_mem_header(soc.mem_regions))
    # All of the regions: what LiteX writes into the header is relative to the first one.
    (generated / "csr.h").write_text(
        get_csr_header(soc.csr_regions, soc.constants, csr_base=soc.mem_regions["csr"].origin))
    access = ("static inline unsigned long csr_read_simple(unsigned long at) { return *(volatile unsigned *)at; }\n"
              "static inline void csr_write_simple(unsigned long word, unsigned long at)\n"
              "{ *(volatile unsigned *)at = word; }\n")
    (folder / "hw").mkdir(exist_ok=True)
    (folder / "hw" / "common.h").write_text(f"#include <stdint.h>\n{access}")
    for name in ("generated/soc.h", "system.h"):    # of which csr.h needs nothing
        (folder / name).write_text("")
    image = compile_opencl(KERNEL, config=config)
    words = ", ".join(f"0x{word:08X}u" for word in image.words)
    (folder / "kernel.h").write_text(f"enum {{ kernel_entry = {image.kernels['square'].entry} }};\n"
                                     f"static const uint32_t kernel_words[] = {{{words}}};\n")
    for name, text in library_files().items():
        (folder / name).write_text(text)
    places = {f"ORIGIN_{name.upper()}": soc.mem_regions[name].origin for name in ("rom", "sram")}
    script = (HERE / "program.ld").read_text()
    for name, origin in places.items():
        script = script.replace(name, hex(origin))
    (folder / "program.ld").write_text(script)
    zig = [sys.executable, "-m", "ziglang"]
    run_tool([*zig, "cc", *TARGET, "-I.", "-T", "program.ld", str(HERE / "program.c"), "libfgpu.c", "-o",
              "program.elf"], folder)
    run_tool([*zig, "objcopy", "-O", "binary", "-j", ".text", "program.elf", "program.bin"], folder)
    content = (folder / "program.bin").read_bytes()
    content += bytes(-len(content) % 4)
    return [int.from_bytes(content[at:at + 4], "little") for at in range(0, len(content), 4)]


def simulate(folder: Path, verilog: list[Path]) -> str:
    """What the program prints, and cycles."""
    model = verilate(folder, verilog, "sim", "--exe", "--output-split", "10000")
    chosen = find_compiler()
    chosen.compile(model.sources(HERE / "main.cpp", fast=["-O1", *SAFE]), folder / "soc",
                   flags=[f"-I{model.folder}", *verilator_flags()], objects=[runtime_object(chosen, model)])
    return subprocess.run(["./soc"], cwd=folder, text=True, capture_output=True, check=False).stdout


def main(folder: Path, config: Config) -> str:
    """Build all of it, and run it."""
    folder.mkdir(parents=True, exist_ok=True)
    soc = SoC(folder, config)
    soc.finalize()
    soc.init_rom("rom", contents=compile_program(folder, soc, config), auto_size=False)
    return simulate(folder, write_gateware(folder, soc))


if __name__ == "__main__":
    logging.disable(logging.INFO)       # LiteX says much
    printed = main(Path("build/litex").resolve(), Config.preset("tiny", axi_data_width=32, cache_line=64))
    print(printed, end="")
    sys.exit(not printed.startswith("FGPU in LiteX: right"))
