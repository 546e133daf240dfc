/* 6.12.2: half_ functions. Eleven bits are enough: a product of fractions is one instruction. */
#include "angle.h"

/* 2^y; y has 16 bits below the point. */
INLINE float fast_power_of_two(int y)
{
    uint f = (uint)y & 0xffff;
    int exponent = y >> 16;
    uint p = FAST_EXP2_2;
    p = FAST_EXP2_1 + (p * f >> 16);
    p = FAST_EXP2_0 + (p * f >> 16);
    uint fraction = p * f >> 9;
    uint result = ((uint)(exponent + 127) << 23) + fraction;
    result = exponent < -126 ? (fraction | 0x800000) >> min(-126 - exponent, 31) : result;
    return as_float(exponent > 127 ? 0x7f800000 : result);
}

/* x times a factor, with 16 bits below the point; the factor has 32 - `bits` of them. Saturates. */
INLINE int fast_scaled(float x, uint factor, int bits)
{
    uint word = as_uint(x);
    int exponent = (int)(word << 1 >> 24) - 127;
    int places = 15 - bits - exponent;
    uint magnitude = places > 31 ? 0 : times(word << 8 | SIGN, factor) >> (places & 31);
    magnitude = exponent > 8 ? 1u << 25 : magnitude;
    return word >> 31 ? -(int)magnitude : (int)magnitude;
}

#define EXPONENTIAL(name, factor, bits) \
    float ROUTINE half_##name(float x) \
    { \
        float result = fast_power_of_two(fast_scaled(x, factor, bits)); \
        return isnan(x) ? x : result; \
    } \
    LANES1(float, half_##name, float)
EXPONENTIAL(exp2, SIGN, 1)
EXPONENTIAL(exp, LOG2_OF_E >> 32, 1)
EXPONENTIAL(exp10, LOG2_OF_10 >> 31, 2)

/* The binary logarithm of a positive number: near one relative to what is missing, else to 24 bits below the point. */
INLINE wide fast_log2(wide x)
{
    uint above = x.significand > 0xb504f333u;
    int exponent = x.exponent + (int)above;
    int t = above ? (int)x.significand : (int)(x.significand << 1);
    int s = t >> 16, q = FAST_LOG2_6;
    q = FAST_LOG2_5 + (q * s >> 16);
    q = FAST_LOG2_4 + (q * s >> 16);
    q = FAST_LOG2_3 + (q * s >> 16);
    q = FAST_LOG2_2 + (q * s >> 16);
    q = FAST_LOG2_1 + (q * s >> 16);
    q = FAST_LOG2_0 + (q * s >> 16);
    int sum = exponent * (1 << 23) + (q * (t >> 15) >> 8);
    return short_logarithm(exponent, t, (uint)q << 17, sum);
}

LOGARITHMS(half_, fast_log2)

/* Sine and cosine: the angle is reduced as exactly as ever, and the polynomials are shorter. */
INLINE wide fast_sine_of(angle a)
{
    uint r = a.fixed >> 16, z = r * r >> 16;
    uint p = FAST_SIN_2;
    p = 0 - (uint)FAST_SIN_1 - (p * z >> 16);
    p = FAST_SIN_0 - (p * z >> 16);
    wide factor = {p << 16, 0, 0};
    uint q = FAST_COS_2;
    q = 0 - (uint)FAST_COS_1 - (q * z >> 16);
    q = FAST_COS_0 - (q * z >> 16);
    wide cosine = normalized(SIGN - q * z, 0, 0), sine = product(a.rest, factor);
    wide result = a.quarters & 1 ? cosine : sine;
    result.sign ^= a.quarters & 2 ? SIGN : 0;
    return result;
}

float ROUTINE half_sin(float x)
{
    float result = packed(fast_sine_of(reduced(wide_of(x))));
    return !isfinite(x) ? NAN : x == 0.0f ? x : result;
}
LANES1(float, half_sin, float)

float ROUTINE half_cos(float x)
{
    angle a = reduced(wide_of(x));
    a.quarters += 1;
    float result = packed(fast_sine_of(a));
    return !isfinite(x) ? NAN : x == 0.0f ? 1.0f : result;
}
LANES1(float, half_cos, float)

float OVERLOAD half_tan(float x) { return tan(x); }
float OVERLOAD half_powr(float x, float y) { return powr(x, y); }
LANES1(float, half_tan, float)
LANES2(float, half_powr, float, float)
