/* 6.12.2: the inverse trigonometric functions. */
#include "fixed.h"

/* The angle of (x, y), both positive: atan(y / x), from 0 to pi / 2. Of both the smaller one is divided by the larger one,
   or their difference by their sum, so that the quotient is at most sqrt(2) - 1. */
INLINE wide angle_of(wide y, wide x)
{
    uint swap = y.exponent > x.exponent || (y.exponent == x.exponent && y.significand > x.significand);
    wide large = swap ? y : x, small = swap ? x : y;
    int distance = large.exponent - small.exponent;
    /* Three bits are free at the bottom of a float's significand. */
    uint aligned = small.significand >> min(distance, 31);
    uint is_steep = distance < 3 && aligned > times(large.significand, 0x6a09e668u);
    wide numerator = small, denominator = large;
    if (is_steep) {
        numerator = normalized(large.significand - aligned, large.exponent, SIGN);
        denominator = normalized((large.significand >> 1) + (aligned >> 1), large.exponent + 1, 0);
    }
    wide t = quotient(numerator, denominator);
    t.exponent = numerator.significand == 0 ? -200 : t.exponent;
    uint fixed = fixed_of(t, 32);
    uint z = times(fixed, fixed);
    uint p = ATAN_6;
    p = 0 - (uint)ATAN_5 - times(p, z);
    p = ATAN_4 - times(p, z);
    p = 0 - (uint)ATAN_3 - times(p, z);
    p = ATAN_2 - times(p, z);
    p = 0 - (uint)ATAN_1 - times(p, z);
    p = ATAN_0 - times(p, z);
    wide factor = {(uint)0 - times(p, z), -1, 0};
    factor = factor.significand == 0 ? one_of() : factor;
    wide result = product(t, factor);
    if (!is_steep && !swap)
        return result;
    /* pi / 4 or pi / 2, and more or less than it. */
    ulong base = (ulong)QUARTER_PI << (is_steep ? 0 : 1);
    uint places = (uint)(3 - result.exponent);
    ulong part = places > 63 || numerator.significand == 0 ? 0 : (ulong)result.significand << 32 >> places;
    uint less = is_steep ? !swap : 1;
    return normalized_long(less ? base - part : base + part, 3, 0);
}

/* The same in all four quadrants; the sign of y. */
INLINE wide full_angle(float y, float x)
{
    wide result = angle_of(wide_of(fabs(y)), wide_of(fabs(x)));
    if (as_uint(x) & SIGN) {
        uint places = (uint)(3 - result.exponent);
        ulong part = places > 63 ? 0 : (ulong)result.significand << 32 >> places;
        result = normalized_long(((ulong)QUARTER_PI << 2) - part, 3, 0);
    }
    result.sign = as_uint(y) & SIGN;
    return result;
}

INLINE wide over_pi(wide x)
{
    wide factor = {ONE_OVER_PI, -2, 0};
    return product(x, factor);
}

INLINE wide eighths(uint count)
{
    return normalized_long((ulong)QUARTER_PI * count, 3, 0);
}

/* Zeros and infinities give multiples of pi / 4. */
INLINE wide any_angle(float y, float x)
{
    if (SELDOM(y == 0.0f || x == 0.0f || isinf(x) || isinf(y))) {
        uint left = as_uint(x) >> 31;
        uint count = left ? 4 : 0;
        if (y != 0.0f && x == 0.0f)
            count = 2;
        if (isinf(y))
            count = isinf(x) ? (left ? 3 : 1) : 2;
        wide result = eighths(count);
        result.sign = as_uint(y) & SIGN;
        return result;
    }
    return full_angle(y, x);
}

#define INVERSE(name, finish) \
    float ROUTINE name(float x) \
    { \
        if (isnan(x) || x == 0.0f) \
            return x; \
        return packed(finish(any_angle(x, 1.0f))); \
    } \
    LANES1(float, name, float)
#define INVERSE2(name, finish) \
    float ROUTINE name(float y, float x) { return isnan(x) || isnan(y) ? NAN : packed(finish(any_angle(y, x))); } \
    LANES2(float, name, float, float)
#define SAME
INVERSE(atan, SAME)
INVERSE(atanpi, over_pi)
INVERSE2(atan2, SAME)
INVERSE2(atan2pi, over_pi)

/* The other side of a right triangle, whose longest is 1. */
INLINE float other_side(float x) { return sqrt((1.0f - x) * (1.0f + x)); }

#define ARC(sine, cosine, finish) \
    float ROUTINE sine(float x) \
    { \
        if (!(fabs(x) <= 1.0f)) \
            return NAN; \
        return x == 0.0f ? x : packed(finish(any_angle(x, other_side(x)))); \
    } \
    LANES1(float, sine, float) \
    float ROUTINE cosine(float x) \
    { \
        if (!(fabs(x) <= 1.0f)) \
            return NAN; \
        return packed(finish(any_angle(other_side(x), x))); \
    } \
    LANES1(float, cosine, float)
ARC(asin, acos, SAME)
ARC(asinpi, acospi, over_pi)
