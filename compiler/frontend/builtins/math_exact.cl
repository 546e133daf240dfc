/* 6.12.2: remainders, which are exact, and lengths. */
#include "fixed.h"

/* What is left of a when b is taken away as often as it goes, and the last bits of how often: a bit a step. Both finite,
   b not zero. */
typedef struct {
    float rest;
    uint quotient;
    uint divisor, remainder;    /* significands with the exponent of b */
} division;

INLINE division divided(float x, float y)
{
    wide a = wide_of(x), b = wide_of(y);
    uint n = a.significand >> 8, d = b.significand >> 8;
    int steps = a.exponent - b.exponent;
    division result = {fabs(x), 0, d, 0};
    if (steps < 0 || x == 0.0f) {
        result.remainder = steps < -1 || x == 0.0f ? 0 : 1;
        return result;
    }
    uint quotient = 0;
    for (int step = 0; step <= steps; step++) {
        n = step ? n << 1 : n;
        uint fits = n >= d;
        n -= fits ? d : 0;
        quotient = quotient << 1 | fits;
    }
    wide rest = normalized(n << 8, b.exponent, 0);
    result.rest = packed(rest);
    result.rest = n == 0 ? 0.0f : result.rest;
    result.quotient = quotient;
    result.remainder = n;
    return result;
}

float ROUTINE fmod(float x, float y)
{
    if (!isfinite(x) || isnan(y) || y == 0.0f)
        return NAN;
    if (isinf(y))
        return x;
    return copysign(divided(x, y).rest, x);
}
LANES2(float, fmod, float, float)

/* The nearest multiple, of two the even one. */
typedef struct {
    float rest;
    int quotient;
} nearest_division;

INLINE nearest_division rounded_division(float x, float y)
{
    nearest_division result = {NAN, 0};
    if (!isfinite(x) || isnan(y) || y == 0.0f)
        return result;
    if (isinf(y)) {
        result.rest = x;
        return result;
    }
    division d = divided(x, y);
    float size = fabs(y), half_size = 0.5f * size;
    /* Half of the smallest numbers is not exact, but twice the rest is. */
    uint is_small = size < 0x1p-100f;
    float twice = d.rest + d.rest;
    uint more = is_small ? twice > size : d.rest > half_size;
    uint same = is_small ? twice == size : d.rest == half_size;
    uint up = more | (same & d.quotient & 1);
    float rest = up ? d.rest - size : d.rest;
    uint quotient = (d.quotient + up) & 0x7f;
    uint sign = as_uint(x) & SIGN;
    result.rest = as_float(as_uint(rest) ^ sign);
    result.quotient = (as_uint(x) ^ as_uint(y)) & SIGN ? -(int)quotient : (int)quotient;
    return result;
}

float ROUTINE remainder(float x, float y) { return rounded_division(x, y).rest; }
LANES2(float, remainder, float, float)
int ROUTINE remainder_quotient(float x, float y) { return rounded_division(x, y).quotient; }
LANES2(int, remainder_quotient, float, float)
#define REMQUO(space, unused) FOR_WIDTHS(REMQUO_OF, space)
#define REMQUO_OF(n, space) \
    float##n OVERLOAD remquo(float##n x, float##n y, space int##n *quotient) \
    { *quotient = remainder_quotient(x, y); return remainder(x, y); }
FOR_ADDRESS_SPACES(REMQUO, 0)

float ROUTINE hypot(float x, float y)
{
    float large = fmax(fabs(x), fabs(y)), small = fmin(fabs(x), fabs(y));
    if (isinf(x) || isinf(y))
        return INFINITY;
    if (isnan(x) || isnan(y))
        return NAN;
    float scale = large > 0x1p60f ? 0x1p-70f : large < 0x1p-40f ? 0x1p100f : 1.0f;
    float back = large > 0x1p60f ? 0x1p70f : large < 0x1p-40f ? 0x1p-100f : 1.0f;
    large *= scale;
    small *= scale;
    return sqrt(fma(large, large, small * small)) * back;
}
LANES2(float, hypot, float, float)
