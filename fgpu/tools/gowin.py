"""What Yosys lacks for Gowin's GW5A: it makes multipliers of LUTs there, and calls for no DSP block."""

from typing import Final

__all__ = ["MULTIPLIERS"]

MULTIPLIERS: Final = r"""
module \$__MUL27X36 (input [26:0] A, input [35:0] B, output [62:0] Y);
    parameter A_SIGNED = 0;
    parameter B_SIGNED = 0;
    parameter A_WIDTH = 27;
    parameter B_WIDTH = 36;
    parameter Y_WIDTH = 63;
    MULT27X36 _TECHMAP_REPLACE_ (
        .A(A), .B(B), .D(26'b0), .CLK(2'b0), .CE(2'b0), .RESET(2'b0), .PSEL(1'b0), .PADDSUB(1'b0), .DOUT(Y));
endmodule
"""
"""What ``techmap`` makes of the multipliers that Yosys' ``mul2dsp.v`` leaves: a DSP block without registers."""
