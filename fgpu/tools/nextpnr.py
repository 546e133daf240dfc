"""How nextpnr places and routes here: by its own choices a core's vector is too crowded for its routers."""

import json
from typing import Final

from .multiplier_registers import take_multiplier_registers
from .output_registers import take_output_registers
from .spare_sites import leave_sites_free

__all__ = ["PLACER_AND_ROUTER", "SETTINGS", "tuned"]

PLACER_AND_ROUTER: Final = ("--placer", "static", "--router", "router2")
SETTINGS: Final = {
    # How much more a wire that several nets want costs in each iteration: by nextpnr's own 2 it grows so fast that
    # the last hundreds of conflicts are moved about for ever. It takes more iterations, and short ones.
    "router2/currCongWeightMult": "0.5",
}
"""Those that nextpnr has no option for."""


def tuned(netlist: str, die: str) -> str:
    """A netlist of ``synth_ecp5`` (JSON) as nextpnr is to have it for a die (:data:`~.spare_sites.DIES`): with
    registers in block RAM and multipliers, with sites that stay free, and with :data:`SETTINGS`, where nextpnr takes
    them from."""
    design = json.loads(take_multiplier_registers(take_output_registers(netlist)))
    for module in design["modules"].values():
        leave_sites_free(module["cells"], die)
        module["settings"] = {**module.get("settings", {}), **SETTINGS}
    return json.dumps(design)
