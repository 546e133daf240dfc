"""The boards that there are, and those that there might be."""

import re
from dataclasses import dataclass
from typing import Final

from fgpu.errors import ConfigError
from fgpu.vivado.zynq import ZYNQ_BOARDS

from .litedram import SDRAMChip

__all__ = ["BOARDS", "NOT_OFFERED", "Board", "NotOffered", "board", "capacity"]


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board: an FPGA with its oscillator, SDR SDRAM and serial line."""

    name: str
    title: str
    platform: str
    """Class in :mod:`amaranth_boards`: ``module:class``."""
    device: str
    """Its FPGA, as Lattice calls it."""
    oscillator: int
    """Hz."""
    clock: int
    """Hz: of the design, unless another one is asked for."""
    chip: SDRAMChip
    loader: str
    """What openFPGALoader calls it."""


@dataclass(frozen=True, kw_only=True)
class NotOffered:
    """A board whose FPGA a core may fit, and ``why`` there is no bitstream for it."""

    name: str
    title: str
    device: str
    why: str


_ULX3S_CHIP: Final = SDRAMChip(module="MT48LC16M16", megabytes=32, row_bits=13, bank_bits=2, data_bits=16)

BOARDS: Final = {
    each.name: each for each in (
        Board(name="ulx3s_85f", title="Radiona ULX3S, 85F", platform="ulx3s:ULX3S_85F_Platform",
              device="LFE5U-85F-6BG381C", oscillator=25_000_000, clock=50_000_000, chip=_ULX3S_CHIP,
              loader="ulx3s"),
        Board(name="ulx3s_45f", title="Radiona ULX3S, 45F", platform="ulx3s:ULX3S_45F_Platform",
              device="LFE5U-45F-6BG381C", oscillator=25_000_000, clock=40_000_000, chip=_ULX3S_CHIP,
              loader="ulx3s"),
    )
}


_DDR3: Final = "its memory is DDR3, of whose interface no model can be simulated"

NOT_OFFERED: Final = {
    each.name: each for each in (
        NotOffered(name="ecpix5", title="LambdaConcept ECPIX-5, 85F", device="LFE5UM5G-85F-8BG554", why=_DDR3),
        NotOffered(name="orangecrab", title="OrangeCrab r0.2, 25F", device="LFE5U-25F-8MG285", why=_DDR3),
    )
}

_SIZES: Final = {"25": (24_288, 56, 28), "45": (43_848, 108, 72), "85": (83_640, 208, 156)}
"""Of ECP5: LUTs, and as many flip-flops; block RAMs; multipliers."""


def capacity(device: str) -> dict[str, int]:
    """What an ECP5 has, by its name."""
    found = re.match(r"LFE5UM?5?G?-(\d+)F", device)
    assert found is not None, device
    luts, block_rams, multipliers = _SIZES[found[1]]
    return {"LUTs": luts, "flip-flops": luts, "block RAMs": block_rams, "multipliers": multipliers}


def board(name: str) -> Board:
    """A board by its name. Raises :class:`~fgpu.errors.ConfigError` if there is none of it."""
    if name in NOT_OFFERED:
        raise ConfigError(f"{name} ({NOT_OFFERED[name].title}) is not offered: {NOT_OFFERED[name].why}; "
                          f"there are {', '.join(BOARDS)}")
    if name in ZYNQ_BOARDS:
        raise ConfigError(f"{name} ({ZYNQ_BOARDS[name].title}) is for Vivado and PYNQ (fgpu build --ip, "
                          f"docs/zynq.md); others are {', '.join(BOARDS)}")
    if name not in BOARDS:
        raise ConfigError(f"there is no board {name!r}; there are {', '.join(BOARDS)}")
    return BOARDS[name]
