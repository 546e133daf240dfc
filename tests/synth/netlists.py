"""Netlists of ``synth_ecp5`` as text, and what is asked of them."""

import json
from collections.abc import Callable
from typing import Any

from amaranth.back import rtlil
from amaranth.lib import wiring

from fgpu.tools.verilog import verilog_text
from fgpu.tools.yosys import run_yosys


def synthesized(dut: wiring.Component) -> str:
    text = verilog_text(rtlil.convert(dut, name="top", emit_src=False))
    return run_yosys(["read_verilog top.v", "synth_ecp5 -top top -json design.json"], {"top.v": text}, "design.json")


def changed(text: str, change: Callable[[Any], None]) -> str:
    """The netlist after a change to each of its modules."""
    design = json.loads(text)
    for module in design["modules"].values():
        change(module)
    return json.dumps(design)


def cells(text: str) -> list:
    return list(json.loads(text)["modules"]["top"]["cells"].values())


def registers(text: str) -> int:
    return sum(cell["type"] == "TRELLIS_FF" for cell in cells(text))
