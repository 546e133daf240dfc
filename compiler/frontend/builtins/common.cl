/* 6.12.4: common functions, and the simplest ones of 6.12.2. */
#include "common.h"

FOR_WIDTHS(COMMON, float)
FOR_WIDTHS(COMPUTED, float)
FOR_VECTORS(WITH_SCALARS, float)

/* Zero, infinite or one in magnitude, with the sign of x; 0 for a NaN. */
float OVERLOAD sign(float x) { return x != x ? 0.0f : x == 0.0f ? x : as_float((as_uint(x) & SIGN) | 0x3f800000); }
LANES1(float, sign, float)
