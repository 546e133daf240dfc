/* 6.12.2: what is exact or a single operation. */
#include "math_basic.h"

#define NATIVE(n, type) \
    type##n OVERLOAD native_sqrt(type##n x) { return __builtin_elementwise_sqrt(x); } \
    type##n OVERLOAD half_sqrt(type##n x) { return __builtin_elementwise_sqrt(x); } \
    type##n OVERLOAD native_divide(type##n x, type##n y) { return x / y; } \
    type##n OVERLOAD half_divide(type##n x, type##n y) { return x / y; } \
    type##n OVERLOAD native_recip(type##n x) { return (type##n)1.0f / x; } \
    type##n OVERLOAD half_recip(type##n x) { return (type##n)1.0f / x; } \
    type##n OVERLOAD native_rsqrt(type##n x) { return (type##n)1.0f / sqrt(x); } \
    type##n OVERLOAD half_rsqrt(type##n x) { return (type##n)1.0f / sqrt(x); }
EXACT_FUNCTIONS(float)
FOR_WIDTHS(SINGLE, float)
FOR_WIDTHS(NATIVE, float)

float OVERLOAD nan(uint code) { return as_float(CANONICAL_NAN | (code & 0x3fffff)); }
LANES1(float, nan, uint)

MAGNITUDES(float)

/* The next number in the order of the words, from below zero through both zeros. */
float OVERLOAD nextafter(float x, float y)
{
    int a = as_int(x), up = (x < y) == (a >= 0);
    int next = a + (up ? 1 : -1);
    next = x == 0.0f ? (as_int(y) & (int)SIGN) | 1 : next;
    float result = x == y ? y : as_float(next);
    return isnan(x) || isnan(y) ? x + y : result;
}
LANES2(float, nextafter, float, float)

/* Fraction of at least one half, and exponent. Subnormal numbers are scaled up first. */
float OVERLOAD fraction_of(float x)
{
    uint twice = as_uint(x) << 1;
    float scaled = twice < 0x01000000 ? x * 0x1p24f : x;
    float part = as_float((as_uint(scaled) & 0x807fffff) | 0x3f000000);
    return twice == 0 || twice >= 0xff000000 ? x : part;
}
int OVERLOAD exponent_of(float x)
{
    uint twice = as_uint(x) << 1;
    float scaled = twice < 0x01000000 ? x * 0x1p24f : x;
    int result = (int)(as_uint(scaled) << 1 >> 24) - (twice < 0x01000000 ? 150 : 126);
    return twice == 0 || twice >= 0xff000000 ? 0 : result;
}

int OVERLOAD ilogb(float x)
{
    uint twice = as_uint(x) << 1;
    int result = twice == 0xff000000 ? INT_MAX : exponent_of(x) - 1;
    return twice == 0 || twice > 0xff000000 ? FP_ILOGB0 : result;
}
LANES1(int, ilogb, float)

float OVERLOAD logb(float x)
{
    float result = (float)ilogb(x);
    result = isinf(x) ? INFINITY : result;
    return isnan(x) ? x : x == 0.0f ? -INFINITY : result;
}
LANES1(float, logb, float)

/* x * 2^n, rounded once: what is subnormal comes from its last product. */
float ROUTINE ldexp(float x, int n)
{
    n = clamp(n, -400, 400);
    uint exponent = as_uint(x) << 1 >> 24;
    if (SELDOM(exponent == 0)) {
        x *= 0x1p24f;
        n -= 24;
        exponent = as_uint(x) << 1 >> 24;
    }
    int sum = (int)exponent + n;
    float normal = as_float((as_uint(x) & 0x807fffff) | (uint)sum << 23);
    if (SELDOM(sum <= 0 || sum >= 255 || exponent == 255 || exponent == 0)) {
        if (exponent == 255 || exponent == 0)
            return x;
        if (sum >= 255)
            return copysign(INFINITY, x);
        sum = max(sum, -30);
        return as_float((as_uint(x) & 0x807fffff) | (uint)(sum + 64) << 23) * 0x1p-64f;
    }
    return normal;
}
LANES2(float, ldexp, float, int)
FOR_VECTORS(LDEXP_SCALAR, float)

/* Parts of numbers. */
float OVERLOAD part_below_one(float x) { return isinf(x) ? copysign(0.0f, x) : copysign(x - trunc(x), x); }
float OVERLOAD fract_of(float x)
{
    float result = fmin(x - floor(x), 0x1.fffffep-1f);
    result = isinf(x) ? 0.0f : result;
    return isnan(x) ? x : copysign(result, x == 0.0f || isinf(x) ? x : 1.0f);
}
LANES1(float, fraction_of, float)
LANES1(int, exponent_of, float)
LANES1(float, part_below_one, float)
LANES1(float, fract_of, float)
FOR_ADDRESS_SPACES(PARTS, float)
