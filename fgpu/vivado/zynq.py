"""Boards with a Zynq-7000, and what the block design makes of them: names, addresses, connections."""

from dataclasses import dataclass
from typing import Final

from fgpu.axi.signatures import ID_BITS
from fgpu.config import Config
from fgpu.errors import ConfigError

__all__ = [
    "AXI3_BEATS", "CELL", "CLOCK_MHZ", "CONTROL_ADDRESS", "IP_NAME", "MEMORY_BYTES", "PROCESSORS", "VLNV",
    "ZYNQ_BOARDS", "ZynqBoard", "check_for_zynq", "zynq_board",
]

IP_NAME: Final = "fgpu"
VLNV: Final = ("fgpu", "user", IP_NAME, "1.0")
"""Vendor, library, name and version of the IP: what Vivado and PYNQ know it by."""
CELL: Final = "fgpu_0"
PROCESSORS: Final = "processing_system7_0"
CONTROL_ADDRESS: Final = 0x43C0_0000
"""Of the control interface, as the processors see it."""
MEMORY_BYTES: Final = 0x2000_0000
"""Of DDR on all of these boards, from address 0 on."""
CLOCK_MHZ: Final = 50
AXI3_BEATS: Final = 16
"""Of a burst, at most, at the ports of a Zynq-7000."""
_AXI3_ID_BITS: Final = 6
_MEMORY_PORTS: Final = 4


@dataclass(frozen=True)
class ZynqBoard:
    """A board that Vivado builds for; ``board_part`` is the name of its board files."""

    name: str
    title: str
    part: str
    board_part: str


ZYNQ_BOARDS: Final = {each.name: each for each in (
    ZynqBoard("arty_z7_20", "Digilent Arty Z7-20", "xc7z020clg400-1", "digilentinc.com:arty-z7-20:part0:*"),
    ZynqBoard("pynq_z1", "Digilent PYNQ-Z1", "xc7z020clg400-1", "www.digilentinc.com:pynq-z1:part0:*"),
)}


def zynq_board(name: str) -> ZynqBoard:
    """The board of a name. Raises :class:`~fgpu.errors.ConfigError` if there is none."""
    if name not in ZYNQ_BOARDS:
        raise ConfigError(f"there is no board {name!r} for Vivado; choose from {', '.join(ZYNQ_BOARDS)}")
    return ZYNQ_BOARDS[name]


def check_for_zynq(config: Config) -> None:
    """Raise :class:`~fgpu.errors.ConfigError` for a core whose bursts the AXI3 ports of a Zynq-7000 do not take."""
    if config.burst_beats > AXI3_BEATS:
        raise ConfigError(
            f"a cache line of {config.cache_line} bytes is a burst of {config.burst_beats} beats on "
            f"{config.axi_data_width} bits, and the AXI3 ports of a Zynq-7000 take {AXI3_BEATS}: use "
            "axi_data_width=64 or cache_line=64")
    assert ID_BITS <= _AXI3_ID_BITS
    assert config.axi_ports <= _MEMORY_PORTS
