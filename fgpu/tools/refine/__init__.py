"""Shorter paths for a placed design: cells of the slowest move to where they, or what is beside them, are sooner.

nextpnr's placers make wires short, and paths by the way; its last step moves cells by three tiles at most, and only
where that gains at once. So LUTs are left far off the straight way between what they read and what reads them. Here
cells move by themselves, many at a time (:mod:`.rounds`), and with those that are beside them on a slow path
(:mod:`.paths`).
"""

import itertools
import json
from typing import Any, Final

import numpy as np

from ..delays import Delays
from ..nextpnr import FIXED_SETTINGS
from .paths import Paths
from .placement import Placement
from .rounds import Rounds
from .slacks import Slacks

__all__ = ["refined"]

_GOAL: Final = 0.8
"""Of the slowest path: as long as none has to be longer. Shorter ones are left as they are."""
_WORTH_IT: Final = 0.995
"""Of the slowest path before: for more the search does not begin anew."""
_SECOND: Final = "$CCU2_COMB1"
"""How nextpnr calls the second half of a slice in a carry chain."""
_THROUGH_SECOND: Final = {"FCO": 71.0, "F": 443.0}
"""Picoseconds from the carry into it. In a netlist that nextpnr reads back it takes it for a first half, which is
slower."""


def refined(netlist: str, sdf: str) -> tuple[str, float]:
    """A placed netlist (JSON, as nextpnr writes it) with the places of all cells fixed, after some have moved.

    ``sdf`` are the delays that nextpnr expects, of which those of cells count. Returns, besides, nanoseconds of the
    slowest path, when it is routed.
    """
    design = json.loads(netlist)
    module = next(module for module in design["modules"].values() if module["cells"])
    placement = Placement(module["cells"])
    slacks = Slacks(_read_back(Delays.read(sdf)), placement.tiles)
    slowest = np.inf
    while slacks.slowest < _WORTH_IT * slowest:
        slowest = slacks.slowest
        slacks.period = _GOAL * slowest
        slacks.run()
        Rounds(placement, slacks).run()
        Paths(placement, slacks).run()
    placement.fix()
    _number_loose_ends(module)
    module["settings"] = dict(FIXED_SETTINGS)       # and none of those that nextpnr had
    return json.dumps(design), slacks.slowest / 1000


def _number_loose_ends(module: dict[str, Any]) -> None:
    """Give each bit of a port that leads nowhere a net of its own. nextpnr writes any number there, and when it reads
    that back has no memory for so many nets."""
    nets = {bit for cell in module["cells"].values() for bits in cell["connections"].values() for bit in bits}
    nets |= {bit for name in module["netnames"].values() for bit in name["bits"]}
    unused = itertools.count(max((bit for bit in nets if isinstance(bit, int)), default=0) + 1)
    for port in module["ports"].values():
        port["bits"] = [bit if bit in nets or isinstance(bit, str) else next(unused) for bit in port["bits"]]


def _read_back(delays: Delays) -> Delays:
    """What nextpnr says of the same netlist when it has read it back."""
    for end, starts in delays.before.items():
        cell, _, port = end.rpartition("/")
        if cell.endswith(_SECOND) and port in _THROUGH_SECOND:
            delays.before[end] = [(start, _THROUGH_SECOND[port] if start == f"{cell}/FCI" else delay)
                                  for start, delay in starts]
    return delays
