/* Angles in quarter turns. */
#ifndef FGPU_ANGLE_H
#define FGPU_ANGLE_H

#include "fixed.h"

/* An angle in quarter turns: the nearest whole number of them, and what is left, at most half of one, with its magnitude
   in fixed point with 32 bits below the point. */
typedef struct {
    uint quarters;
    wide rest;
    uint fixed;
} angle;

/* From a fraction of a quarter turn, 64 bits. */
INLINE angle nearest(uint quarters, ulong fraction)
{
    uint sign = high_word(fraction) & SIGN;
    ulong magnitude = sign ? 0 - fraction : fraction;
    angle result = {quarters + (sign != 0), normalized_long(magnitude, -1, sign), high_word(magnitude)};
    return result;
}

/* Word `at` of 2 / pi, after two words of zeros; for numbers beyond 2^25 from the third word on. */
INLINE uint word_of_constant(uint at)
{
    uint word = TWO_OVER_PI_6;
    word = at == 7 ? TWO_OVER_PI_5 : word;
    word = at == 6 ? TWO_OVER_PI_4 : word;
    word = at == 5 ? TWO_OVER_PI_3 : word;
    word = at == 4 ? TWO_OVER_PI_2 : word;
    word = at == 3 ? TWO_OVER_PI_1 : word;
    return at == 2 ? TWO_OVER_PI_0 : word;
}

/* The product of the number and 2 / pi, without what makes whole turns (Payne and Hanek): 24 bits times those 96 of the
   constant that begin 25 places above the number's last bit. */
INLINE angle reduced(wide x)
{
    if (x.exponent < -1) {
        wide two_over_pi = {TWO_OVER_PI_0, -1, 0};
        wide rest = product(x, two_over_pi);
        angle result = {0, rest, fixed_of(rest, 32)};
        return result;
    }
    uint start = (uint)x.exponent + 39, places = start & 31;
    uint a = 0, b = TWO_OVER_PI_0, c = TWO_OVER_PI_1, d = TWO_OVER_PI_2;
    if (SELDOM(start >= 64)) {
        uint at = start >> 5;
        a = word_of_constant(at);
        b = word_of_constant(at + 1);
        c = word_of_constant(at + 2);
        d = word_of_constant(at + 3);
    }
    a = a << places | b >> 1 >> (31 - places);
    b = b << places | c >> 1 >> (31 - places);
    c = c << places | d >> 1 >> (31 - places);
    uint m = x.significand >> 8;
    ulong low = (ulong)m * c, middle = (ulong)m * b + high_word(low);
    uint top = m * a + high_word(middle);
    ulong fraction = (ulong)(top << 2 | (uint)middle >> 30) << 32 | ((uint)middle << 2 | (uint)low >> 30);
    angle result = nearest(top >> 30, fraction);
    result.rest.sign ^= x.sign;
    result.quarters = x.sign ? 0 - result.quarters : result.quarters;
    return result;
}

/* Twice the number: an angle that is given in half turns. */
INLINE angle half_turns(wide x)
{
    int n = x.exponent + 1;
    ulong bits = (ulong)x.significand << 32;
    ulong fraction = n < 0 ? (n < -63 ? 0 : bits >> (-n - 1 & 63)) : n > 24 ? 0 : bits << 1 << n;
    if (n < -1) {
        wide rest = x;
        rest.exponent += 1;
        angle result = {0, rest, fixed_of(rest, 32)};
        return result;
    }
    uint whole = n < 0 || n > 24 ? 0 : (uint)(bits >> (63 - n));
    angle result = nearest(whole, fraction);
    result.rest.sign ^= x.sign;
    result.quarters = x.sign ? 0 - result.quarters : result.quarters;
    return result;
}

#endif
