/* 6.12.2: sine, cosine and tangent. */
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

INLINE wide sine_of_rest(angle a)
{
    uint z = times(a.fixed, a.fixed);
    uint p = SIN_4;
    p = 0 - (uint)SIN_3 - times(p, z);
    p = SIN_2 - times(p, z);
    p = 0 - (uint)SIN_1 - times(p, z);
    wide factor = {(uint)SIN_0 - times(p, z), 0, 0};
    return product(a.rest, factor);
}

INLINE wide cosine_of_rest(angle a)
{
    uint z = times(a.fixed, a.fixed);
    uint p = COS_4;
    p = 0 - (uint)COS_3 - times(p, z);
    p = COS_2 - times(p, z);
    p = 0 - (uint)COS_1 - times(p, z);
    p = (uint)COS_0 - times(p, z);
    return normalized(SIGN - times(p, z), 0, 0);
}

INLINE wide sine_of(angle a)
{
    wide result = a.quarters & 1 ? cosine_of_rest(a) : sine_of_rest(a);
    result.sign ^= a.quarters & 2 ? SIGN : 0;
    return result;
}

INLINE wide cosine_of(angle a)
{
    a.quarters += 1;
    return sine_of(a);
}

INLINE wide tangent_of(angle a)
{
    wide sine = sine_of_rest(a), cosine = cosine_of_rest(a);
    wide result = a.quarters & 1 ? quotient(cosine, sine) : quotient(sine, cosine);
    result.sign = sine.sign ^ (a.quarters & 1 ? SIGN : 0);
    return result;
}

float ROUTINE sin(float x)
{
    float result = packed(sine_of(reduced(wide_of(x))));
    return !isfinite(x) ? NAN : x == 0.0f ? x : result;
}
float ROUTINE cos(float x)
{
    float result = packed(cosine_of(reduced(wide_of(x))));
    return !isfinite(x) ? NAN : x == 0.0f ? 1.0f : result;
}
float ROUTINE tan(float x)
{
    float result = packed(tangent_of(reduced(wide_of(x))));
    return !isfinite(x) ? NAN : x == 0.0f ? x : result;
}
LANES1(float, sin, float)
LANES1(float, cos, float)
LANES1(float, tan, float)

/* In half turns; whole results have the signs that C gives them. */
float ROUTINE sinpi(float x)
{
    if (!isfinite(x))
        return NAN;
    float result = packed(sine_of(half_turns(wide_of(x))));
    return x == 0.0f ? x : result == 0.0f ? copysign(result, x) : result;
}
float ROUTINE cospi(float x)
{
    if (!isfinite(x))
        return NAN;
    float result = packed(cosine_of(half_turns(wide_of(x))));
    return x == 0.0f ? 1.0f : result == 0.0f ? 0.0f : result;
}
float ROUTINE tanpi(float x)
{
    if (!isfinite(x))
        return NAN;
    angle a = half_turns(wide_of(x));
    uint odd_pole = (a.quarters & 3) == 3;
    float result = packed(tangent_of(a));
    if (SELDOM(a.rest.significand == 0)) {
        /* Even multiples have the sign of x, odd ones the other one; infinities alternate. */
        if (a.quarters & 1)
            return odd_pole ? -INFINITY : INFINITY;
        return copysign(0.0f, a.quarters & 2 ? -x : x);
    }
    return x == 0.0f ? x : result;
}
LANES1(float, sinpi, float)
LANES1(float, cospi, float)
LANES1(float, tanpi, float)

#define SINCOS(space, unused) FOR_WIDTHS(SINCOS_OF, space)
#define SINCOS_OF(n, space) \
    float##n OVERLOAD sincos(float##n x, space float##n *cosine) { *cosine = cos(x); return sin(x); }
FOR_ADDRESS_SPACES(SINCOS, 0)
