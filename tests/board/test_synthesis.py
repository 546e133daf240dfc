"""A board's design through Yosys: a memory, and all of the default core."""

import json
from collections import Counter

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.board.bitstream import BEFORE_SYNTHESIS, synthesize
from fgpu.board.boards import board
from fgpu.board.system import SystemParameters
from fgpu.gateware.block_ram import BlockRam
from fgpu.tools.yosys import run_yosys


class Memory(wiring.Component):
    """What it reads is not cared for where it is written."""

    address: In(9)
    place: In(9)
    write: In(1)
    given: In(32)
    word: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = BlockRam(unsigned(32), 512)
        read, write = memory.read_port(), memory.write_port()
        m.d.comb += [read.addr.eq(self.address), write.addr.eq(self.place), write.data.eq(self.given),
                     write.en.eq(self.write), self.word.eq(read.data)]
        return m


def test_nothing_is_made_for_collisions() -> None:
    """A board's design goes to Yosys with Amaranth's read ports, which comparators and multiplexers once followed."""
    text = rtlil.convert(Memory(), name="fgpu_board", emit_src=False)
    netlist = run_yosys(["read_rtlil top.il", BEFORE_SYNTHESIS, "synth_ecp5 -top fgpu_board -json design.json"],
                        {"top.il": text}, "design.json")
    cells = json.loads(netlist)["modules"]["fgpu_board"]["cells"]
    assert Counter(cell["type"] for cell in cells.values()) == {"DP16KD": 1}


@pytest.mark.long
def test_the_default_core_is_synthesized() -> None:
    """An assertion of Yosys once failed for the whole, and for no unit of it alone."""
    chosen = board("ulx3s_85f")
    _, netlist, constraints = synthesize(chosen, SystemParameters(clock=chosen.clock, memory_bytes=chosen.chip.size))
    top = json.loads(netlist)["modules"]["fgpu_board"]
    assert any(cell["type"] == "DP16KD" for cell in top["cells"].values())
    assert b'FREQUENCY NET "clock"' in constraints      # a name that the netlist must still have
    assert "clock" in top["netnames"]
