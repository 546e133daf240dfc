"""The default core of a board, all of it, through Yosys."""

import json

import pytest

from fgpu.board.bitstream import synthesize
from fgpu.board.boards import board
from fgpu.board.system import SystemParameters


@pytest.mark.long
def test_the_default_core_is_synthesized() -> None:
    """An assertion of Yosys once failed for the whole, and for no unit of it alone."""
    chosen = board("ulx3s_85f")
    _, netlist, constraints = synthesize(chosen, SystemParameters(clock=chosen.clock, memory_bytes=chosen.chip.size))
    top = json.loads(netlist)["modules"]["fgpu_board"]
    assert any(cell["type"] == "DP16KD" for cell in top["cells"].values())
    assert b'FREQUENCY NET "clock"' in constraints      # a name that the netlist must still have
    assert "clock" in top["netnames"]
