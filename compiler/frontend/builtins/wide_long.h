/* Numbers with significands of 64 bits, as fixed.h has them of 32, for the functions of doubles. A product of fractions
   is a subroutine of sixty instructions, where a double's takes 160. */
#ifndef FGPU_WIDE_LONG_H
#define FGPU_WIDE_LONG_H

#include "builtins.h"

#define INLINE static inline __attribute__((always_inline))
#define ROOT_OF_TWO 0xb504f333f9de6484ul     /* 63 bits below the point */
#define LN_2 0xb17217f7d1cf79acul            /* 64 bits below the point */
#define QUARTER_PI 0x3243f6a8885a308dul      /* 62 bits below the point */
#define ONE_OVER_PI 0xa2f9836e4e44152aul     /* 65 bits below the point */
#define NAN_OF_DOUBLE 0x7ff8000000000000ul
#define TOP 0x8000000000000000ul

/* significand * 2^(exponent - 63), the top bit of the significand set, or all clear; a sign of 0 or 1. */
typedef struct {
    ulong significand;
    int exponent;
    uint sign;
} wide_long;

/* The upper half of a product; 2^127 / d and the number's fraction, for d with its top bit set. */
ulong __attribute__((overloadable)) high_product(ulong a, ulong b);
ulong __attribute__((overloadable)) reciprocal(ulong d);
/* (log(1 + f) / f) with 62 bits below the point; f, from 1/sqrt(2) - 1 to sqrt(2) - 1, has 64. */
ulong __attribute__((overloadable)) log_slope(ulong size, uint negative);
/* 2^f with 62 bits below the point; f has 64. */
ulong __attribute__((overloadable)) exp2_of_fraction(ulong f);

INLINE wide_long normalized(ulong significand, int exponent, uint sign)
{
    uint zeros = (uint)clz(significand);
    wide_long result = {significand << (zeros & 63), exponent - (int)zeros, sign};
    return result;
}

/* Not for zero, infinity and NaN. */
INLINE wide_long wide_of(double x)
{
    ulong bits = as_ulong(x), fraction = bits << 12 >> 1;
    int exponent = (int)(bits << 1 >> 53);
    return normalized(exponent ? fraction | TOP : fraction, exponent ? exponent - 1023 : -1022, (uint)(bits >> 63));
}

INLINE wide_long product(wide_long a, wide_long b)
{
    ulong high = high_product(a.significand, b.significand);
    uint one = (uint)(high >> 63);
    wide_long result = {one ? high : high << 1, a.exponent + b.exponent + (int)one, a.sign ^ b.sign};
    return result;
}

INLINE wide_long quotient(wide_long a, wide_long b)
{
    ulong high = high_product(a.significand, reciprocal(b.significand));
    uint one = (uint)(high >> 63);
    wide_long result = {one ? high : high << 1, a.exponent - b.exponent - 1 + (int)one, a.sign ^ b.sign};
    return result;
}

/* The nearest double, but where it is subnormal. */
INLINE double packed(wide_long x)
{
    double size = ldexp((double)x.significand, x.exponent - 63);
    return x.sign ? -size : size;
}

/* A magnitude below 2^(64 - bits) with `bits` bits below the point. */
INLINE ulong fixed_of(wide_long x, int bits)
{
    int places = 63 - bits - x.exponent;
    return places > 63 ? 0 : x.significand >> (places & 63);
}

/* The exponent of two and the fraction of x times the binary logarithm of e; x has 53 bits below the point. */
typedef struct {
    ulong fraction;
    int whole;
} power;

INLINE power power_of_e(ulong size, uint negative)
{
    ulong y = size + high_product(size, 0x71547652b82fe177ul), low = size * 0x71547652b82fe177ul;
    ulong fraction = y << 11 | low >> 53;
    int whole = (int)(y >> 53);
    power up = {fraction, whole}, down = {0 - fraction, -whole - (fraction != 0)};
    return negative ? down : up;
}

/* The natural logarithm. */
INLINE wide_long logarithm(wide_long x)
{
    uint is_less = x.significand > ROOT_OF_TWO;
    int e = x.exponent + (int)is_less;
    ulong size = is_less ? 0 - x.significand : x.significand << 1;
    ulong part = high_product(size, log_slope(size, is_less));      /* 62 bits below the point */
    if (e == 0)
        return normalized(part, 1, is_less);
    uint below = e < 0;
    ulong whole = (ulong)(uint)(below ? -e : e);
    int places = (int)clz(whole);
    part = part << 1 >> ((63 - places) & 63);
    whole = high_product(whole << places, LN_2);
    return normalized(is_less == below ? whole + part : whole - part, 63 - places, below);
}

#endif
