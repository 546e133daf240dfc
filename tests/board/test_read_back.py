"""What nextpnr has placed, written and read back is the same circuit in the same places: else a bitstream of what was
refined would be another one's."""

from collections import defaultdict
from pathlib import Path

import pytest

from fgpu.tools import refine
from fgpu.tools.families import FAMILIES
from fgpu.tools.native import find_tool
from fgpu.tools.nextpnr import FIXED, PLACER_AND_ROUTER, tuned
from fgpu.tools.timing import is_installed
from fgpu.tools.yosys import run_yosys

# Of all that has inputs which are constant or lead nowhere: multipliers, block RAM, LUT RAM, carry chains, pins.
DESIGN = """
module top(input clk, input rst, input [8:0] a, input [4:0] b, output reg [13:0] product, output reg [7:0] read,
           output reg [3:0] small, output reg [8:0] sum, output [3:0] high, inout pad);
    reg [7:0] block[0:1023];
    reg [3:0] lutram[0:15];
    reg [9:0] at;
    always @(posedge clk) begin
        if (rst) at <= 0; else at <= at + 1;
        product <= a * b;
        if (b[0]) block[at] <= a[7:0];
        read <= block[{at[3:0], b, 1'b1}];
        if (b[1]) lutram[at[3:0]] <= a[3:0];
        small <= lutram[a[3:0]];
        sum <= a + {b, 4'b1};
    end
    wire [35:0] other;
    MULT18X18D #(.REG_INPUTA_CLK("NONE"), .REG_INPUTB_CLK("NONE"), .REG_OUTPUT_CLK("NONE")) multiplier(
        .CLK0(clk), .CE0(1'b1), .RST0(1'b0), .SIGNEDA(1'b0), .SIGNEDB(1'b0), .SOURCEA(1'b0), .SOURCEB(1'b0),
        .A0(a[0]), .A1(1'b1), .A2(1'b1), .A3(1'b0), .A4(a[1]), .B0(1'b1), .B1(b[0]), .B2(1'b1), .B17(b[4]),
        .P0(other[0]), .P1(other[1]), .P2(other[2]), .P3(other[3]));
    assign high = other[3:0];
    TRELLIS_IO #(.DIR("BIDIR")) pin(.B(pad), .I(at[0]), .T(b[2]));
endmodule
"""


def settings(config: Path) -> dict[str, set[str]]:
    """Of each tile, in any order, what is set there."""
    found: dict[str, set[str]] = defaultdict(set)
    tile = ""
    for line in config.read_text().splitlines():
        if line.startswith("."):
            tile = line
        elif line:
            found[tile].add(line)
    return found


@pytest.mark.ci
@pytest.mark.skipif(not is_installed(), reason="needs nextpnr")
def test_what_is_read_back_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for mover in (refine.Rounds, refine.Paths):
        monkeypatch.setattr(mover, "run", lambda self: None)
    family, nextpnr = FAMILIES["ecp5"], find_tool("nextpnr_ecp5")
    netlist = run_yosys(["read_verilog top.v", *family.commands(options=" -json design.json")],
                        {"top.v": DESIGN, **family.files}, "design.json", run=find_tool("yosys").run)
    (tmp_path / "design.json").write_text(tuned(netlist, "25k").netlist)

    def run(*options: str) -> None:
        done = nextpnr.run(["--25k", "--package", "CABGA381", "--lpf-allow-unconstrained", "--timing-allow-fail",
                            "--no-route", "-q", *options], tmp_path)
        assert done.returncode == 0, done.stderr

    run("--json", "design.json", "--textcfg", "direct.config", "--write", "placed.json", "--sdf", "delays.sdf",
        *PLACER_AND_ROUTER)
    refined, _ = refine.refined((tmp_path / "placed.json").read_text(), (tmp_path / "delays.sdf").read_text())
    (tmp_path / "refined.json").write_text(refined)
    run("--json", "refined.json", "--textcfg", "read_back.config", *FIXED)
    direct = settings(tmp_path / "direct.config")
    assert any("MULT18" in line for lines in direct.values() for line in lines)
    assert settings(tmp_path / "read_back.config") == direct
