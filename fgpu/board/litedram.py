"""The SDRAM controller: LiteDRAM's, as Verilog, for SDR SDRAM on an ECP5."""

import hashlib
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fgpu.errors import ToolError
from fgpu.extras import demand
from fgpu.store import kept_files

__all__ = ["MODULE", "LiteDRAM", "SDRAMChip", "litedram"]

MODULE = "litedram_core"
_VERILOG, _REGISTERS = "litedram_core.v", "csr.json"


@dataclass(frozen=True)
class SDRAMChip:
    """SDR SDRAM on a board."""

    module: str
    """LiteDRAM's name of it."""
    megabytes: int
    row_bits: int
    bank_bits: int
    data_bits: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.megabytes << 20


@dataclass(frozen=True)
class LiteDRAM:
    """A controller."""

    verilog: str
    """Text of the module ``MODULE``."""
    registers: dict[str, int]
    """Byte addresses of its registers, on a Wishbone."""


def litedram(chip: SDRAMChip, device: str, *, clock: int, data_width: int, id_bits: int) -> LiteDRAM:
    """The controller of a chip for a clock in Hz, with one AXI4 port; generated once and kept.

    Raises :class:`~fgpu.errors.MissingExtraError` without LiteDRAM (``fgpu[board]``),
    :class:`~fgpu.errors.ToolError` when it fails.
    """
    demand("the SDRAM controller", "board")
    wanted = {
        "cpu": "None", "speedgrade": 6, "memtype": "SDR", "device": device, "uart": "serial",
        "sdram_module": chip.module, "sdram_module_nb": chip.data_bits // 8, "sdram_rank_nb": 1,
        "sdram_phy": "GENSDRPHY", "sys_clk_freq": clock, "input_clk_freq": clock, "cmd_buffer_depth": 8,
        "csr_data_width": 32, "csr_alignment": 32,
        "user_ports": {"axi": {"type": "axi", "id_width": id_bits, "data_width": data_width}},
    }
    parts = [json.dumps(wanted), json.dumps(asdict(chip)), Path(__file__).read_text(),
             *(version(package) for package in ("litedram", "litex", "migen"))]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def build(work: Path) -> dict[str, Any]:
        (work / "core.yml").write_text(json.dumps(wanted))      # which is YAML, too
        done = subprocess.run([sys.executable, "-m", "litedram.gen", "core.yml", "--no-compile-gateware",
                               "--output-dir", "out", "--name", MODULE],
                              cwd=work, capture_output=True, text=True, check=False)
        made = work / "out" / "gateware" / _VERILOG
        if done.returncode or not made.exists():
            raise ToolError(f"LiteDRAM failed with status {done.returncode}: {done.stderr[-1000:].strip()}")
        # Data pins go both ways; the generator says so only where they are a design's own.
        text = made.read_text().replace("input  wire   [15:0] sdram_dq", "inout  wire   [15:0] sdram_dq")
        (work / _VERILOG).write_text(text)
        registers = json.loads((work / "out" / _REGISTERS).read_text())["csr_registers"]
        return {name: register["addr"] for name, register in registers.items()}

    entry, registers = kept_files("litedram", key, build, (_VERILOG,))
    return LiteDRAM((entry / _VERILOG).read_text(), registers)
