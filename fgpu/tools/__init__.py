"""From a configuration to Verilog, area and clock frequency: Amaranth's back end, Yosys, nextpnr."""
