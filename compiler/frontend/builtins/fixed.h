/* Arithmetic for the functions of 6.12.2: fixed point, and numbers with significands of 32 bits.

   Soft floating point takes some fifty instructions an operation; a 32-bit fraction takes ten for a product, and its
   eight bits more than a float has leave little but the last rounding to go wrong. Where a function needs a number to
   be as exact near zero as elsewhere, it is a `wide`. */
#ifndef FGPU_FIXED_H
#define FGPU_FIXED_H

#include "builtins.h"
#include "coefficients.h"

#define INLINE static inline __attribute__((always_inline))

/* significand * 2^(exponent - 31), bit 31 of the significand set (or all clear); a sign of 0 or SIGN. */
typedef struct {
    uint significand;
    int exponent;
    uint sign;
} wide;

INLINE uint high_word(ulong x) { return (uint)(x >> 32); }
INLINE uint times(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
/* a * b / 2^32, b signed. */
INLINE int times_signed(int a, int b) { return (int)((long)a * b >> 32); }
INLINE uint zeros_above(uint x) { return (uint)__builtin_clzg(x, 32); }

/* The number as it is; subnormal numbers too. Not for zero, infinity and NaN. */
INLINE wide wide_of(float x)
{
    uint word = as_uint(x);
    uint exponent = word << 1 >> 24, fraction = word << 9 >> 1;
    wide result = {fraction | SIGN, (int)exponent - 127, word & SIGN};
    if (SELDOM(exponent == 0)) {
        uint zeros = zeros_above(fraction);
        result.significand = fraction << zeros;
        result.exponent = -126 - (int)zeros;
    }
    return result;
}

INLINE wide normalized(uint significand, int exponent, uint sign)
{
    uint zeros = zeros_above(significand);
    wide result = {significand << (zeros & 31), exponent - (int)zeros, sign};
    return result;
}

/* From 64 bits, of which the top one counts 2^exponent. */
INLINE wide normalized_long(ulong significand, int exponent, uint sign)
{
    uint zeros = high_word(significand) ? zeros_above(high_word(significand)) : 32 + zeros_above((uint)significand);
    wide result = {high_word(significand << (zeros & 63)), exponent - (int)zeros, sign};
    return result;
}

INLINE wide product(wide a, wide b)
{
    uint high = times(a.significand, b.significand), one = high >> 31;
    wide result = {one ? high : high << 1, a.exponent + b.exponent + (int)one, a.sign ^ b.sign};
    return result;
}

/* 2^63 / d for d with bit 31 set: Newton's iteration, from a line and in 16 bits first. */
INLINE uint reciprocal(uint d)
{
    uint upper = (d >> 16) + 1;
    uint r = 92450 - upper + (upper >> 4);
    r = r * (-(upper * r) >> 16) >> 15;
    r = r * (-(upper * r) >> 16) >> 15;
    uint result = r >= 65535 ? 0xffff0000u : r << 16;
    result = result - (uint)((long)(int)(times(result, d) - (1u << 31)) * (long)(ulong)result >> 31);
    int error = (int)(times(result, d) - (1u << 31));
    long less = (long)error * (long)(ulong)result >> 31;
    ulong better = (ulong)result - (ulong)less;
    return better >> 32 ? 0xffffffffu : (uint)better;
}

INLINE wide quotient(wide a, wide b)
{
    uint high = times(a.significand, reciprocal(b.significand)), one = high >> 31;
    wide result = {one ? high : high << 1, a.exponent - b.exponent - 1 + (int)one, a.sign ^ b.sign};
    return result;
}

/* The nearest float. */
INLINE float packed(wide x)
{
    uint magnitude = ((uint)(x.exponent + 126) << 23) + (x.significand >> 8) + (x.significand >> 7 & 1);
    if (SELDOM(x.exponent < -126 || x.exponent > 127)) {
        int places = 8 - 127 - x.exponent;
        magnitude = places > 31 ? 0 : ((x.significand >> places) + 1) >> 1;
        if (x.exponent > 127)
            magnitude = 0x7f800000;
    }
    magnitude = x.significand == 0 ? 0 : magnitude;
    return as_float(magnitude | x.sign);
}

/* A magnitude below 2^31 with `bits` bits below the point, which a wide of a smaller magnitude becomes. */
INLINE uint fixed_of(wide x, int bits)
{
    int places = 31 - bits - x.exponent;
    return places > 31 ? 0 : x.significand >> places;
}

INLINE wide one_of(void) { wide one = {SIGN, 0, 0}; return one; }

/* 2^y; y has 32 bits below the point. */
INLINE wide power_of_two(long y)
{
    uint f = (uint)y;
    uint p = EXP2_6;
    p = EXP2_5 + times(p, f);
    p = EXP2_4 + times(p, f);
    p = EXP2_3 + times(p, f);
    p = EXP2_2 + times(p, f);
    p = EXP2_1 + times(p, f);
    p = EXP2_0 + times(p, f);
    wide result = {SIGN + (times(p, f) >> 1), (int)(y >> 32), 0};
    return result;
}

/* x times a positive number of 64 bits, `bits` of them below its point, with 32 bits below the point; of what is 2^10
   and more, so much. */
INLINE long scaled(wide x, ulong factor, int bits)
{
    ulong magnitude = (ulong)x.significand * high_word(factor) + times(x.significand, (uint)factor);
    /* The point is at 31 - exponent + bits - 32. */
    int places = 31 - x.exponent + bits - 32 - 32;
    magnitude = places > 63 ? 0 : magnitude >> (places & 63);
    magnitude = x.exponent >= 10 ? 1ul << 42 : magnitude;
    return x.sign ? -(long)magnitude : (long)magnitude;
}

INLINE wide exponential(wide x) { return power_of_two(scaled(x, LOG2_OF_E, 63)); }

/* log2(1 + t) / t with 30 bits below the point; t, from 1/sqrt(2) - 1 to sqrt(2) - 1, has 32. */
INLINE uint log2_slope(int t)
{
    int q = LOG2_11;
    q = LOG2_10 + times_signed(q, t);
    q = LOG2_9 + times_signed(q, t);
    q = LOG2_8 + times_signed(q, t);
    q = LOG2_7 + times_signed(q, t);
    q = LOG2_6 + times_signed(q, t);
    q = LOG2_5 + times_signed(q, t);
    q = LOG2_4 + times_signed(q, t);
    q = LOG2_3 + times_signed(q, t);
    q = LOG2_2 + times_signed(q, t);
    q = LOG2_1 + times_signed(q, t);
    q = LOG2_0 + times_signed(q, t);
    return (uint)q;
}

/* The binary logarithm of a positive number, as exact near zero as elsewhere. */
INLINE wide log2_of(wide x)
{
    /* The significand between the root of one half and of two. */
    uint above = x.significand > 0xb504f333u;
    int exponent = x.exponent + (int)above;
    int t = above ? (int)x.significand : (int)(x.significand << 1);
    long fraction = (long)t * (long)(ulong)log2_slope(t);
    /* 62 bits below the point; 54 leave room for the exponent. */
    long sum = ((long)exponent << 54) + (fraction >> 8);
    sum = exponent == 0 ? fraction : sum;
    ulong magnitude = (ulong)(sum < 0 ? -sum : sum);
    return normalized_long(magnitude, exponent == 0 ? 1 : 9, sum < 0 ? SIGN : 0);
}

/* A binary logarithm in short: that of 1 + t, from t with 32 bits below the point and the slope, if the exponent is 0, or else
   the sum of both with 23 bits below the point. */
INLINE wide short_logarithm(int exponent, int t, uint slope, int sum)
{
    uint near = exponent == 0;
    int chosen = near ? t : sum;
    wide result = normalized((uint)(chosen < 0 ? -chosen : chosen), near ? -1 : 8, chosen < 0 ? SIGN : 0);
    wide factor = {slope, 0, 0};
    wide product_near = product(result, factor);
    return near ? product_near : result;
}

/* Three logarithms by one of base two; their names begin with `prefix`. */
#define LOGARITHMS(prefix, binary) \
    LOGARITHM(prefix##log, binary, LN_2, -1) \
    LOGARITHM(prefix##log2, binary, SIGN, 0) \
    LOGARITHM(prefix##log10, binary, LOG10_2, -2)
#define LOGARITHM(name, binary, factor, exponent) \
    float ROUTINE name(float x) \
    { \
        wide unit = {factor, exponent, 0}; \
        if (SELDOM(!(x > 0.0f) || isinf(x))) \
            return x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x; \
        return packed(product(binary(wide_of(x)), unit)); \
    } \
    LANES1(float, name, float)

INLINE wide natural_logarithm(wide x)
{
    wide ln_2 = {LN_2, -1, 0};
    return product(log2_of(x), ln_2);
}

/* log(1 + x), x > -1. */
INLINE wide logarithm_of_one_plus(wide x)
{
    wide ln_2 = {LN_2, -1, 0};
    if (x.exponent < -2) {
        int t = (int)fixed_of(x, 32);
        wide slope = {log2_slope(x.sign ? -t : t) << 1, 0, 0};
        return product(product(x, ln_2), slope);
    }
    /* 1 + x, or what is left of 1. */
    ulong fixed = x.exponent > 30 ? 0 : 1ul << (62 - (x.exponent > 0 ? x.exponent : 0));
    ulong part = (ulong)x.significand << 31 >> (x.exponent < 0 ? -x.exponent : 0);
    wide sum = normalized_long(x.sign ? fixed - part : fixed + part, 1 + (x.exponent > 0 ? x.exponent : 0), 0);
    return product(log2_of(sum), ln_2);
}

#endif
