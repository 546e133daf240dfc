/* 6.12.2: powers and exponentials. */
#include "fixed.h"

/* What `scaled` cannot take: NaN, and zero. */
#define EXPONENTIAL(name, factor, bits) \
    float ROUTINE name(float x) \
    { \
        float result = packed(power_of_two(scaled(wide_of(x), factor, bits))); \
        return isnan(x) ? x : x == 0.0f ? 1.0f : result; \
    } \
    LANES1(float, name, float)
EXPONENTIAL(exp, LOG2_OF_E, 63)
EXPONENTIAL(exp2, 1ul << 63, 63)
EXPONENTIAL(exp10, LOG2_OF_10, 61)

/* sinh of a magnitude below one. */
INLINE wide small_sinh(wide x)
{
    uint fixed = fixed_of(x, 32);
    uint z = times(fixed, fixed);
    uint p = SINH_3;
    p = SINH_2 + times(p, z);
    p = SINH_1 + times(p, z);
    p = SINH_0 + times(p, z);
    wide factor = {SIGN + (times(p, z) >> 1), 0, 0};
    return product(x, factor);
}

/* exp(x) - 1 is 2 sinh(x / 2) exp(x / 2); beyond one half, the difference loses a bit at most. */
float ROUTINE expm1(float x)
{
    if (isnan(x) || x == 0.0f)
        return x;
    wide argument = wide_of(x);
    if (argument.exponent < -1) {
        argument.exponent -= 1;
        wide half_power = exponential(argument), result = product(small_sinh(argument), half_power);
        result.exponent += 1;
        return packed(result);
    }
    wide power = exponential(argument);
    int down = power.exponent < 0 ? -power.exponent : 0, up = power.exponent > 0 ? power.exponent : 0;
    ulong fixed = down > 62 ? 0 : (ulong)power.significand << 31 >> down;
    ulong one = up > 62 ? 0 : 1ul << 62 >> up;
    uint sign = fixed < one ? SIGN : 0;
    wide result = normalized_long(sign ? one - fixed : fixed - one, 1 + up, sign);
    return packed(result);
}
LANES1(float, expm1, float)

/* Hyperbolic functions from both powers, of which the smaller one vanishes soon. */
INLINE wide hyperbolic(wide x, uint is_difference)
{
    x.sign = 0;
    long y = scaled(x, LOG2_OF_E, 63);
    wide large = power_of_two(y), small = power_of_two(-y);
    int places = large.exponent - small.exponent;
    ulong part = places > 62 ? 0 : (ulong)small.significand << 31 >> (places & 63);
    ulong whole = (ulong)large.significand << 31;
    return normalized_long(is_difference ? whole - part : whole + part, large.exponent + 1 - 1, 0);
}

INLINE wide sinh_of(wide x)
{
    wide result = x.exponent < 0 ? small_sinh(x) : hyperbolic(x, 1);
    result.sign = x.sign;
    return result;
}

float ROUTINE sinh(float x)
{
    float result = packed(sinh_of(wide_of(x)));
    return isnan(x) || x == 0.0f ? x : isinf(x) ? x : result;
}
LANES1(float, sinh, float)

float ROUTINE cosh(float x)
{
    float result = packed(hyperbolic(wide_of(x), 0));
    return isnan(x) ? x : x == 0.0f ? 1.0f : result;
}
LANES1(float, cosh, float)

float ROUTINE tanh(float x)
{
    wide argument = wide_of(x);
    float result = packed(quotient(sinh_of(argument), hyperbolic(argument, 0)));
    result = argument.exponent > 3 ? copysign(1.0f, x) : result;
    return isnan(x) || x == 0.0f ? x : result;
}
LANES1(float, tanh, float)

/* |x|^y for finite numbers that are not zero. */
INLINE wide power(float x, wide y)
{
    wide base = wide_of(x);
    base.sign = 0;
    wide logarithm = log2_of(base);
    if (logarithm.significand == 0)
        return one_of();
    wide exponent = product(logarithm, y);
    return power_of_two(scaled(exponent, 1ul << 63, 63));
}

/* 2 for even integers, 1 for odd ones, 0 for other numbers. */
INLINE uint parity(float y)
{
    int exponent = (int)(as_uint(y) << 1 >> 24) - 127;
    uint significand = as_uint(y) << 8 | SIGN;
    uint below = exponent < 0 ? significand : significand << 1 << (exponent & 31);
    uint odd = exponent < 0 ? 0 : significand >> (31 - (exponent & 31)) & 1;
    return exponent >= 24 ? 2 : exponent < 0 || below != 0 ? 0 : 2 - odd;
}

/* Zeros and infinities to the power of something with the sign of `is_negative`. */
INLINE float extreme(float x, uint is_negative, uint is_odd)
{
    uint grows = (x == 0.0f) == (is_negative != 0);
    return as_float((grows ? 0x7f800000 : 0) | (is_odd ? as_uint(x) & SIGN : 0));
}

float ROUTINE pow(float x, float y)
{
    uint kind = parity(y);
    if (SELDOM(x == 0.0f || isinf(x) || isnan(x) || y == 0.0f || isinf(y) || isnan(y) || x == 1.0f)) {
        if (x == 1.0f || y == 0.0f)
            return 1.0f;
        if (isnan(x) || isnan(y))
            return x + y;
        if (isinf(y))
            return fabs(x) == 1.0f ? 1.0f : (fabs(x) > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
        return extreme(x, y < 0.0f, kind == 1);
    }
    wide result = power(x, wide_of(y));
    result.sign = kind == 1 ? as_uint(x) & SIGN : 0;
    return x < 0.0f && kind == 0 ? NAN : packed(result);
}
LANES2(float, pow, float, float)

float ROUTINE powr(float x, float y)
{
    if (isnan(x) || isnan(y) || x < 0.0f)
        return NAN;
    if ((x == 0.0f || isinf(x)) && y == 0.0f)
        return NAN;
    if (x == 1.0f && isinf(y))
        return NAN;
    return pow(fabs(x), y);
}
LANES2(float, powr, float, float)

INLINE wide wide_of_integer(int n)
{
    uint magnitude = n < 0 ? 0u - (uint)n : (uint)n;
    return normalized(magnitude, 31, (uint)n & SIGN);
}

float ROUTINE pown(float x, int n)
{
    if (n == 0)
        return 1.0f;
    if (x == 0.0f || isinf(x))
        return extreme(x, n < 0, n & 1);
    wide result = power(x, wide_of_integer(n));
    result.sign = n & 1 ? as_uint(x) & SIGN : 0;
    return isnan(x) ? x : packed(result);
}
LANES2(float, pown, float, int)

float ROUTINE rootn(float x, int n)
{
    if (isnan(x) || n == 0 || (x < 0.0f && !(n & 1)))
        return NAN;
    if (x == 0.0f || isinf(x))
        return extreme(x, n < 0, n & 1);
    wide result = power(x, quotient(one_of(), wide_of_integer(n)));
    result.sign = as_uint(x) & SIGN;
    return packed(result);
}
LANES2(float, rootn, float, int)

float ROUTINE cbrt(float x)
{
    wide third = {0xaaaaaaabu, -2, 0}, result = power(x, third);
    result.sign = as_uint(x) & SIGN;
    return isnan(x) || isinf(x) || x == 0.0f ? x : packed(result);
}
LANES1(float, cbrt, float)
