/* 6.12.2: half_ and native_ functions, of which the first need 11 bits: a polynomial less. */
#include "fixed.h"

#define SAME_AS(name) \
    float OVERLOAD half_##name(float x) { return name(x); } \
    float OVERLOAD native_##name(float x) { return name(x); } \
    LANES1(float, half_##name, float) LANES1(float, native_##name, float)
SAME_AS(cos) SAME_AS(exp) SAME_AS(exp2) SAME_AS(exp10) SAME_AS(log) SAME_AS(log2) SAME_AS(log10) SAME_AS(sin)
SAME_AS(tan)
float OVERLOAD half_powr(float x, float y) { return powr(x, y); }
float OVERLOAD native_powr(float x, float y) { return powr(x, y); }
LANES2(float, half_powr, float, float)
LANES2(float, native_powr, float, float)
