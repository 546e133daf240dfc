// What LiteDRAM has of the FPGA's own cells, as far as it uses them.

module FD1S3BX (input CK, input D, input PD, output reg Q);
    always @(posedge CK or posedge PD)
        if (PD) Q <= 1'b1;
        else Q <= D;
endmodule

module OFS1P3BX (input D, input SP, input SCLK, input PD, output reg Q);
    always @(posedge SCLK)
        if (SP) Q <= D;
endmodule

module IFS1P3BX (input D, input SP, input SCLK, input PD, output reg Q);
    always @(posedge SCLK)
        if (SP) Q <= D;
endmodule

module TRELLIS_IO #(parameter DIR = "INPUT") (inout B, input I, input T, output O);
    assign B = T ? 1'bz : I;
    assign O = B;
endmodule
