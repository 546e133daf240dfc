/* 6.12.2: logarithms, and what is made of them. */
#include "fixed.h"

LOGARITHMS(, log2_of)

float ROUTINE log1p(float x)
{
    if (SELDOM(!(x > -1.0f) || isinf(x) || x == 0.0f))
        return x == -1.0f ? -INFINITY : x < -1.0f ? NAN : x;
    return packed(logarithm_of_one_plus(wide_of(x)));
}
LANES1(float, log1p, float)

/* Inverse hyperbolic functions. */
float ROUTINE asinh(float x)
{
    float y = fabs(x);
    if (y == 0.0f || isinf(x) || isnan(x))
        return x;
    wide result;
    if (y > 0x1p13f) {
        result = wide_of(y);
        result.exponent += 1;
        result = natural_logarithm(result);
    } else {
        float square = y * y;
        result = logarithm_of_one_plus(wide_of(y + square / (1.0f + sqrt(1.0f + square))));
    }
    result.sign = as_uint(x) & SIGN;
    return packed(result);
}
LANES1(float, asinh, float)

float ROUTINE acosh(float x)
{
    if (!(x > 1.0f) || isinf(x))
        return x == 1.0f ? 0.0f : x < 1.0f ? NAN : x;
    if (x > 0x1p13f) {
        wide twice = wide_of(x);
        twice.exponent += 1;
        return packed(natural_logarithm(twice));
    }
    float t = x - 1.0f;
    return packed(logarithm_of_one_plus(wide_of(t + sqrt(t * (x + 1.0f)))));
}
LANES1(float, acosh, float)

float ROUTINE atanh(float x)
{
    float y = fabs(x);
    if (!(y < 1.0f) || y == 0.0f)
        return y == 1.0f ? copysign(INFINITY, x) : y > 1.0f ? NAN : x;
    wide result = logarithm_of_one_plus(wide_of(2.0f * y / (1.0f - y)));
    result.exponent -= 1;
    result.sign = as_uint(x) & SIGN;
    return packed(result);
}
LANES1(float, atanh, float)
