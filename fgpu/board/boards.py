"""The boards that there are."""

from dataclasses import dataclass
from typing import Final

from fgpu.errors import ConfigError

from .litedram import SDRAMChip

__all__ = ["BOARDS", "Board", "board"]


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


_ULX3S_CHIP: Final = SDRAMChip(module="MT48LC16M16", megabytes=32, row_bits=13, bank_bits=2, data_bits=16)

BOARDS: Final = {
    each.name: each for each in (
        Board(name="ulx3s_85f", title="Radiona ULX3S, 85F", platform="ulx3s:ULX3S_85F_Platform",
              device="LFE5U-85F-6BG381C", oscillator=25_000_000, clock=40_000_000, chip=_ULX3S_CHIP,
              loader="ulx3s"),
        Board(name="ulx3s_45f", title="Radiona ULX3S, 45F", platform="ulx3s:ULX3S_45F_Platform",
              device="LFE5U-45F-6BG381C", oscillator=25_000_000, clock=40_000_000, chip=_ULX3S_CHIP,
              loader="ulx3s"),
    )
}


def board(name: str) -> Board:
    """A board by its name. Raises :class:`~fgpu.errors.ConfigError` if there is none of it."""
    if name not in BOARDS:
        raise ConfigError(f"there is no board {name!r}; there are {', '.join(BOARDS)}")
    return BOARDS[name]
