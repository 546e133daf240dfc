"""AXI forbids combinational paths from inputs to outputs: none is in the netlist of the core."""

from graphlib import TopologicalSorter

import pytest

from fgpu.config import ATOMICS, Config
from fgpu.tools.verilog import to_verilog

from .netlist import Netlist


def is_axi(port: str) -> bool:
    return "_axi_" in port


@pytest.mark.ci
@pytest.mark.parametrize("config", [
    Config.preset("tiny"), pytest.param(Config(compute_units=2, axi_ports=4), marks=pytest.mark.long)],
    ids=["tiny", "4 ports"])
def test_no_answer_is_combinational(config: Config) -> None:
    netlist = Netlist(to_verilog(config), "fgpu")
    # Every input, the reset too: an output that follows any of them glitches with it.
    paths = netlist.paths(lambda name: name != "clk", is_axi)
    assert not paths, "\n".join(f"{start} to {end}: {' > '.join(names)}" for (start, end), names in paths.items())


DESIGN = """
module inner(input clk, input [3:0] x, input go, output [3:0] y, output reg [3:0] z);
    reg [3:0] memory [0:15];
    always @(posedge clk) begin z <= x; if (go) memory[x] <= x + 1; end
    assign y = memory[x];
endmodule
module top(input clk, input [3:0] a_axi_a, input b_axi_b, input c, output [3:0] d_axi_d, output reg e_axi_e,
           output f_axi_f, output g_axi_g, output [1:0] h_axi_h, output i);
    wire [3:0] z, y;
    reg r;
    inner inner(.clk(clk), .x(a_axi_a), .go(b_axi_b), .y(y), .z(z));
    assign d_axi_d = c ? z + 1 : {z[3:1], r};
    always @* begin e_axi_e = 0; if (b_axi_b) e_axi_e = r; end
    always @(posedge clk) r <= ^a_axi_a & b_axi_b;
    assign f_axi_f = |y;
    assign g_axi_g = r;
    assign h_axi_h = {a_axi_a[0], r};
    assign i = b_axi_b;
endmodule
"""


def test_the_walk_finds_paths() -> None:
    """Through units, conditions, arithmetic and a memory; not through registers, nor from the bit beside."""
    netlist = Netlist(DESIGN, "top")
    paths = netlist.paths(is_axi, is_axi)
    assert set(paths) == {("a_axi_a", "f_axi_f"), ("a_axi_a", "h_axi_h"), ("b_axi_b", "e_axi_e")}
    assert paths["b_axi_b", "e_axi_e"] == ["b_axi_b", "e_axi_e"]
    assert set(netlist.paths(lambda name: name == "c", is_axi)) == {("c", "d_axi_d")}


@pytest.mark.ci
def test_no_path_goes_round_between_core_and_compute_units() -> None:
    """Models in parts (sim/testbench/split.h) copy ports between both until nothing changes: that has to end."""
    text = to_verilog(Config.preset("tiny").replace(compute_units=2, local_memory=8, atomics=ATOMICS), apart=True)
    follows: dict[str, set[str]] = {}
    for start, end in Netlist(text, "fgpu").paths(is_unit, is_unit):
        follows.setdefault(end, set()).add(start)
    for start, end in Netlist(text, "fgpu.cu").paths(lambda name: name not in ("clk", "rst"), lambda name: True):
        for unit in ("cu0", "cu1"):
            follows.setdefault(f"{unit}_{end}", set()).add(f"{unit}_{start}")
    assert follows
    TopologicalSorter(follows).prepare()    # CycleError names the ports


def is_unit(port: str) -> bool:
    return port.startswith("cu")
