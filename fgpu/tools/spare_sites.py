"""Sites of an ECP5 that stay free, so that what is placed is not too dense to be routed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["DIES", "Die", "die_of", "leave_sites_free"]

_LUTS: Final = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
"""Sites that a cell takes: those of memory and of the ways to it."""
_LEAST: Final = 0.2
"""Of the die: smaller designs are routed as they are."""
_MOST: Final = 0.65
"""Larger ones need the sites."""
_USED, _FREE = 14, 3
"""Tiles in each row of logic, in turn: a carry chain of 112 bits has room."""


@dataclass(frozen=True)
class Die:
    """Where an ECP5 has logic: in the columns from 2, the rows from 2, but in none of block RAM or DSP."""

    columns: int
    rows: int
    without_logic: range

    @property
    def tiles(self) -> Iterator[tuple[int, int]]:
        """Column and row of each tile of eight LUTs."""
        return ((x, y) for y in range(2, 2 + self.rows) if y not in self.without_logic
                for x in range(2, 2 + self.columns))


DIES: Final = {
    "25k": Die(69, 47, range(13, 49, 12)),
    "45k": Die(87, 68, range(10, 70, 12)),
    "85k": Die(123, 92, range(10, 94, 12)),
}
"""By nextpnr's name."""


def die_of(option: str) -> str:
    """The die of a device, by nextpnr's option for it, such as ``--um5g-85k``. An LFE5U-12 is on an LFE5U-25's."""
    name = option.rpartition("-")[2]
    return "25k" if name == "12k" else name


def leave_sites_free(cells: dict[str, Any], die: str) -> int:
    """Put a LUT without connections, which stays where it is, into each site that is to stay free.

    nextpnr's ``static`` placer fills the sites around a design with spacers until 70 percent are taken: so it does
    not spread, and where it is densest more wires are wanted than there are. ``router2`` then never ends. Fewer sites
    mean fewer spacers. They are bricks of tiles, for whole rows or columns would be in the way. ``cells`` are those
    of a netlist of ``synth_ecp5``. Returns the number of these LUTs.
    """
    geometry = DIES[die]
    tiles = list(geometry.tiles)
    needed = sum(_LUTS.get(cell["type"], 0) for cell in cells.values()) / (8 * len(tiles))
    if not _LEAST <= needed <= _MOST:
        return 0
    period = _USED + _FREE
    spare = {
        f"spare$X{x}Y{y}{letter}{number}": {
            "hide_name": 1, "type": "TRELLIS_COMB",
            "parameters": {"MODE": "LOGIC", "INITVAL": "0000000000000000"},
            "attributes": {"BEL": f"X{x}/Y{y}/SLICE{letter}.K{number}"},
            "port_directions": {}, "connections": {},
        }
        for x, y in tiles if (x + y * period // 3) % period < _FREE for letter in "ABCD" for number in range(2)}
    cells |= spare
    return len(spare)
