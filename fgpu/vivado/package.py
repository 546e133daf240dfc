"""The folder that Vivado takes: the core's Verilog, its description, and a script that makes a design around it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from amaranth.hdl._ir import PortDirection

from fgpu.config import Config
from fgpu.errors import ToolError
from fgpu.files import write_atomically
from fgpu.memory_map import control_bytes
from fgpu.software.header import library_files
from fgpu.tools.verilog import ports, to_verilog

from .component import CONTROL_BLOCK, Port, component_xml
from .handoff import hardware_handoff
from .zynq import (
    CELL,
    CLOCK_MHZ,
    CONTROL_ADDRESS,
    IP_NAME,
    MEMORY_BYTES,
    PROCESSORS,
    VLNV,
    ZYNQ_BOARDS,
    ZynqBoard,
    check_for_zynq,
)

__all__ = ["core_ports", "package_files", "write_package"]

_VERILOG: Final = f"hdl/{IP_NAME}.v"
_SCRIPT: Final = "block_design.tcl"


def core_ports(config: Config) -> dict[str, Port]:
    """The ports of the core's Verilog module."""
    from fgpu.core import FGPU

    core = FGPU(config)
    core._MustUse__silence = True       # only its ports are asked for
    flat = ports(core)
    return {"clk": Port(True, 1), "rst": Port(True, 1)} | {
        name: Port(direction is PortDirection.Input, len(value)) for name, (value, direction) in flat.items()}


def package_files(config: Config, board: ZynqBoard, *,
                  verilog: Callable[[Config], str] | None = None) -> dict[str, str]:
    """The files by their names in the folder. ``verilog`` makes the core's text; it is another than
    :func:`~fgpu.tools.verilog.to_verilog` only in tests.

    Raises :class:`~fgpu.errors.ConfigError` for a core that the ports of a Zynq-7000 do not take.
    """
    check_for_zynq(config)
    config = config.replace(statistics=False)
    found = core_ports(config)
    return {
        _VERILOG: (verilog or (lambda config: to_verilog(config, name=IP_NAME)))(config),
        "component.xml": component_xml(config, found, _VERILOG),
        "fgpu.hwh": hardware_handoff(config, found, board),
        "core.tcl": _core_tcl(config),
        **{f"software/{name}": text for name, text in library_files().items()},
        _SCRIPT: (Path(__file__).parent / _SCRIPT).read_text(encoding="utf-8"),
    }


def _core_tcl(config: Config) -> str:
    """What the script has to know of the core."""
    values = {
        "vlnv": ":".join(VLNV), "cell": CELL, "processors": PROCESSORS, "clock_mhz": CLOCK_MHZ,
        "data_ports": config.axi_ports, "data_width": config.axi_data_width, "burst_beats": config.burst_beats,
        "control_address": f"0x{CONTROL_ADDRESS:08X}", "control_range": f"{control_bytes(config) >> 10}K",
        "control_block": CONTROL_BLOCK, "memory_range": f"{MEMORY_BYTES >> 20}M",
    }
    boards = " ".join(f"{each.name} {{{each.part} {each.board_part}}}" for each in ZYNQ_BOARDS.values())
    return "\n".join(["# Written by fgpu build --ip.", *(f"set {name} {value}" for name, value in values.items()),
                      f"set boards {{{boards}}}", ""])


def write_package(config: Config, board: ZynqBoard, folder: Path) -> list[Path]:
    """Write :func:`package_files`; their paths. Raises :class:`~fgpu.errors.ToolError` where that cannot be done."""
    written = []
    for name, text in package_files(config, board).items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
        except OSError as error:
            raise ToolError(f"cannot write {path}: {error.strerror or error}") from error
        written.append(path)
    return written
