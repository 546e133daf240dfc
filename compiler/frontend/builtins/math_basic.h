/* Parts of 6.12.2 for a type: what is exact or a single operation. */
#ifndef FGPU_MATH_BASIC_H
#define FGPU_MATH_BASIC_H

#include "builtins.h"

#define EXACT(n, type) \
    type##n OVERLOAD fabs(type##n x) { return __builtin_elementwise_abs(x); } \
    type##n OVERLOAD sqrt(type##n x) { return __builtin_elementwise_sqrt(x); } \
    type##n OVERLOAD mad(type##n a, type##n b, type##n c) { return a * b + c; } \
    type##n OVERLOAD trunc(type##n x) { return __builtin_elementwise_trunc(x); } \
    type##n OVERLOAD floor(type##n x) { return __builtin_elementwise_floor(x); } \
    type##n OVERLOAD ceil(type##n x) { return __builtin_elementwise_ceil(x); } \
    type##n OVERLOAD round(type##n x) { return __builtin_elementwise_round(x); } \
    type##n OVERLOAD rint(type##n x) { return __builtin_elementwise_rint(x); } \
    type##n OVERLOAD copysign(type##n x, type##n y) { return __builtin_elementwise_copysign(x, y); } \
    type##n OVERLOAD fmin(type##n a, type##n b) { return __builtin_elementwise_minimumnum(a, b); } \
    type##n OVERLOAD fmax(type##n a, type##n b) { return __builtin_elementwise_maximumnum(a, b); }
#define WITH_SCALAR(n, type) \
    type##n OVERLOAD fmin(type##n a, type b) { return fmin(a, (type##n)b); } \
    type##n OVERLOAD fmax(type##n a, type b) { return fmax(a, (type##n)b); }
#define EXACT_FUNCTIONS(type) FOR_WIDTHS(EXACT, type) FOR_VECTORS(WITH_SCALAR, type)

/* What is one operation, or few, of the type itself. */
#define SINGLE(n, type) \
    type##n OVERLOAD fma(type##n a, type##n b, type##n c) { return __builtin_elementwise_fma(a, b, c); } \
    type##n OVERLOAD fdim(type##n x, type##n y) \
    { type##n difference = x - y; return x <= y ? (type##n)0 : difference; } \
    type##n OVERLOAD rsqrt(type##n x) { return (type##n)1 / sqrt(x); }

#define MAGNITUDES(type) \
    type OVERLOAD maxmag(type x, type y) \
    { return fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y); } \
    type OVERLOAD minmag(type x, type y) \
    { return fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y); } \
    LANES2(type, maxmag, type, type) \
    LANES2(type, minmag, type, type)

#define LDEXP_SCALAR(n, type) type##n OVERLOAD ldexp(type##n x, int k) { return ldexp(x, (int##n)k); }

/* Parts of numbers; the pointer may be to any address space. */
#define PARTS(space, type) FOR_WIDTHS(PARTS_OF, space, type)
#define PARTS_OF(n, space, type) \
    type##n OVERLOAD frexp(type##n x, space int##n *exponent) { *exponent = exponent_of(x); return fraction_of(x); } \
    type##n OVERLOAD modf(type##n x, space type##n *whole) { *whole = trunc(x); return part_below_one(x); } \
    type##n OVERLOAD fract(type##n x, space type##n *whole) { *whole = floor(x); return fract_of(x); }

#endif
