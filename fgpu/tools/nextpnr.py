"""How nextpnr places and routes here: by its own choices a core's vector is too crowded for its routers."""

import json
from typing import Final, NamedTuple

from .multiplier_registers import take_multiplier_registers
from .output_registers import take_output_registers
from .spare_sites import leave_sites_free

__all__ = ["FIXED", "FIXED_SETTINGS", "FLOW", "PLACER_AND_ROUTER", "SETTINGS", "Tuned", "tuned"]

FLOW: Final = 17
"""Of what is done between Yosys and nextpnr, and between placing and routing, a number that changes with it: it is in
the keys of what is kept."""
PLACER_AND_ROUTER: Final = ("--placer", "static", "--router", "router2")
FIXED: Final = ("--placer", "heap", "--router", "router2")
"""Where every cell has its place already; see :mod:`.routing`."""
SETTINGS: Final = {
    # How much more a wire that several nets want costs in each iteration: by nextpnr's own 2 it grows so fast that
    # the last hundreds of conflicts are moved about for ever. It takes more iterations, and short ones.
    "router2/currCongWeightMult": "0.5",
}
"""Those that nextpnr has no option for."""
FIXED_SETTINGS: Final = {
    **SETTINGS,
    # Where places are fixed, clock is lost by detours. By nextpnr's own 1.25 the router takes what is left of a way
    # for longer than it is, is sooner done so, and misses the shortest one; and it keeps wires within three tiles of
    # the rectangle around their pins.
    "router2/estimateWeight": "1.0",
    "router2/bbMargin/x": "7",
    "router2/bbMargin/y": "7",
}
"""Those for :data:`FIXED`."""


class Tuned(NamedTuple):
    """A netlist for nextpnr."""

    netlist: str
    """JSON."""
    spare_luts: int
    """Sites that stay free, which nextpnr's report has among the LUTs in use."""


def tuned(netlist: str, die: str) -> Tuned:
    """A netlist of ``synth_ecp5`` (JSON) as nextpnr is to have it for a die (:data:`~.spare_sites.DIES`): with
    registers in block RAM and multipliers, with sites that stay free, and with :data:`SETTINGS`, where nextpnr takes
    them from."""
    design = json.loads(netlist)
    spare = 0
    for module in design["modules"].values():
        take_output_registers(module)
        take_multiplier_registers(module)
        spare += leave_sites_free(module["cells"], die)
        module["settings"] = {**module.get("settings", {}), **SETTINGS}
    return Tuned(json.dumps(design), spare)
