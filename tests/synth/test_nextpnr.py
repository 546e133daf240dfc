"""What becomes of a netlist before nextpnr reads it."""

import hashlib
import json
from typing import Any

from fgpu.tools.nextpnr import FLOW, tuned


def cell(kind: str, parameters: dict[str, str], **pins: int) -> dict[str, Any]:
    outputs = ("DO", "P", "Q")
    return {"type": kind, "parameters": parameters, "connections": {pin: [net] for pin, net in pins.items()},
            "port_directions": {pin: "output" if pin.startswith(outputs) else "input" for pin in pins}}


def register(before: int, behind: int) -> dict[str, Any]:
    return cell("TRELLIS_FF", {"CEMUX": "1", "SRMODE": "LSR_OVER_CE", "REGSET": "RESET", "CLKMUX": "CLK",
                               "LSRMUX": "LSR"}, CLK=2, LSR=3, DI=before, Q=behind)


NETLIST = json.dumps({"modules": {"top": {
    "ports": {"clk": {"direction": "input", "bits": [2]}, "out": {"direction": "output", "bits": [90]}},
    "cells": {
        "ram": cell("DP16KD", {"DATA_WIDTH_B": "10010"}, CLKA=2, OCEA=8, RSTA=8, DOA0=4),
        "ram_register": register(4, 5),
        "factor_register": register(5, 7),
        "multiplier": cell("MULT18X18D", {}, P0=6, **{f"{side}{bit}": 7 for side in "AB" for bit in range(18)}),
        "product_register": register(6, 90), **{f"l{number}": cell("LUT4", {}) for number in range(8000)},
    }}}})


def test_what_is_kept_is_of_this_flow() -> None:
    """Nobody takes what an earlier one made: who changes what becomes of a netlist also changes ``FLOW``."""
    netlist, spare = tuned(NETLIST, "25k")
    cells = json.loads(netlist)["modules"]["top"]["cells"]
    assert not {"ram_register", "factor_register", "product_register"} & cells.keys()
    assert spare == sum("BEL" in each.get("attributes", {}) for each in cells.values()) > 0
    assert (FLOW, hashlib.sha256(netlist.encode()).hexdigest()[:8]) == (17, "d44f28e9")


def test_registers_that_nothing_resets_go_into_a_multiplier_too() -> None:
    """Yosys writes no SRMODE for them: they are most of those of floating-point units."""
    design = json.loads(NETLIST)
    cells = design["modules"]["top"]["cells"]
    for name in ("factor_register", "product_register"):
        del cells[name]["parameters"]["SRMODE"]
        cells[name]["connections"]["LSR"] = ["0"]
    tuned_cells = json.loads(tuned(json.dumps(design), "25k").netlist)["modules"]["top"]["cells"]
    assert not {"factor_register", "product_register"} & tuned_cells.keys()
    assert tuned_cells["multiplier"]["connections"]["RST0"] == ["0"]
    cells["product_register"]["connections"]["LSR"] = [3]
    tuned_cells = json.loads(tuned(json.dumps(design), "25k").netlist)["modules"]["top"]["cells"]
    assert "product_register" in tuned_cells
    assert "factor_register" not in tuned_cells
