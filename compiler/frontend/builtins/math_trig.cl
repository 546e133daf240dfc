/* 6.12.2: sine, cosine and tangent. */
#include "angle.h"

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
