// Yosys cells in a form that Verilog writes without implicit extension or truncation, for linters' sake.

(* techmap_celltype = "$logic_not" *)
module plain_logic_not (A, Y);
  parameter A_SIGNED = 0; parameter A_WIDTH = 1; parameter Y_WIDTH = 1;
  input [A_WIDTH-1:0] A; output [Y_WIDTH-1:0] Y;
  wire _TECHMAP_FAIL_ = A_WIDTH == 1 || Y_WIDTH != 1;
  wire any = |A;
  assign Y = ~any;
endmodule

`define COMPARISON(NAME, TYPE, OPERATOR) \
(* techmap_celltype = TYPE *) \
module NAME (A, B, Y); \
  parameter A_SIGNED = 0; parameter B_SIGNED = 0; parameter A_WIDTH = 1; parameter B_WIDTH = 1; parameter Y_WIDTH = 1; \
  localparam W = A_WIDTH > B_WIDTH ? A_WIDTH : B_WIDTH; \
  input [A_WIDTH-1:0] A; input [B_WIDTH-1:0] B; output [Y_WIDTH-1:0] Y; \
  wire _TECHMAP_FAIL_ = A_WIDTH == B_WIDTH || A_WIDTH == 0 || B_WIDTH == 0; \
  wire a_sign = A_SIGNED && B_SIGNED ? A[A_WIDTH-1] : 1'b0; \
  wire b_sign = A_SIGNED && B_SIGNED ? B[B_WIDTH-1] : 1'b0; \
  wire [W-1:0] a = {{(W-A_WIDTH){a_sign}}, A}; \
  wire [W-1:0] b = {{(W-B_WIDTH){b_sign}}, B}; \
  assign Y = A_SIGNED && B_SIGNED ? $signed(a) OPERATOR $signed(b) : a OPERATOR b; \
endmodule

`COMPARISON(plain_eq, "$eq", ==)
`COMPARISON(plain_ne, "$ne", !=)
`COMPARISON(plain_lt, "$lt", <)
`COMPARISON(plain_le, "$le", <=)
`COMPARISON(plain_gt, "$gt", >)
`COMPARISON(plain_ge, "$ge", >=)

`define SUM(NAME, TYPE, OPERATOR) \
(* techmap_celltype = TYPE *) \
module NAME (A, B, Y); \
  parameter A_SIGNED = 0; parameter B_SIGNED = 0; parameter A_WIDTH = 1; parameter B_WIDTH = 1; parameter Y_WIDTH = 1; \
  input [A_WIDTH-1:0] A; input [B_WIDTH-1:0] B; output [Y_WIDTH-1:0] Y; \
  wire _TECHMAP_FAIL_ = A_WIDTH == Y_WIDTH && B_WIDTH == Y_WIDTH; \
  localparam A_MORE = Y_WIDTH > A_WIDTH ? Y_WIDTH - A_WIDTH : 0; \
  localparam B_MORE = Y_WIDTH > B_WIDTH ? Y_WIDTH - B_WIDTH : 0; \
  wire a_sign = A_SIGNED && B_SIGNED ? A[A_WIDTH-1] : 1'b0; \
  wire b_sign = A_SIGNED && B_SIGNED ? B[B_WIDTH-1] : 1'b0; \
  wire [A_WIDTH+A_MORE-1:0] a = {{A_MORE{a_sign}}, A}; \
  wire [B_WIDTH+B_MORE-1:0] b = {{B_MORE{b_sign}}, B}; \
  assign Y = a[Y_WIDTH-1:0] OPERATOR b[Y_WIDTH-1:0]; \
endmodule

`SUM(plain_add, "$add", +)
`SUM(plain_sub, "$sub", -)

`define SHIFT(NAME, TYPE, OPERATOR) \
(* techmap_celltype = TYPE *) \
module NAME (A, B, Y); \
  parameter A_SIGNED = 0; parameter B_SIGNED = 0; parameter A_WIDTH = 1; parameter B_WIDTH = 1; parameter Y_WIDTH = 1; \
  localparam W = A_WIDTH > Y_WIDTH ? A_WIDTH : Y_WIDTH; \
  input [A_WIDTH-1:0] A; input [B_WIDTH-1:0] B; output [Y_WIDTH-1:0] Y; \
  wire _TECHMAP_FAIL_ = A_WIDTH == Y_WIDTH || A_SIGNED || B_SIGNED; \
  wire [W-1:0] a = {{(W-A_WIDTH){1'b0}}, A}; \
  wire [W-1:0] shifted = a OPERATOR B; \
  assign Y = shifted[Y_WIDTH-1:0]; \
endmodule

`SHIFT(plain_shl, "$shl", <<)
`SHIFT(plain_shr, "$shr", >>)
`SHIFT(plain_shift, "$shift", >>)
`SHIFT(plain_shiftx, "$shiftx", >>)
