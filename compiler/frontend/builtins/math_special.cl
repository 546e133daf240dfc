/* 6.12.2: error and gamma functions. */
#include "fixed.h"

/* erf of a magnitude below one. */
INLINE wide small_erf(wide x)
{
    uint fixed = fixed_of(x, 32);
    int z = (int)(times(fixed, fixed) >> 1);        /* 31 bits below the point, so that it is positive */
    int p = ERF_8;
    p = ERF_7 + (times_signed(p, z) << 1);
    p = ERF_6 + (times_signed(p, z) << 1);
    p = ERF_5 + (times_signed(p, z) << 1);
    p = ERF_4 + (times_signed(p, z) << 1);
    p = ERF_3 + (times_signed(p, z) << 1);
    p = ERF_2 + (times_signed(p, z) << 1);
    p = ERF_1 + (times_signed(p, z) << 1);
    p = ERF_0 + (times_signed(p, z) << 1);
    return product(x, normalized((uint)p, 1, 0));
}

/* erfc of a positive number of at least 7/8: a power of e times a polynomial in t = 4 / (4 + x). */
INLINE wide large_erfc(wide x)
{
    wide four = {SIGN, 2, 0};
    wide sum = normalized((1u << 29) + (x.exponent > 4 ? 0 : x.significand >> (4 - x.exponent)), 4, 0);
    wide quotient_t = quotient(four, sum);
    int t = (int)fixed_of(quotient_t, 31);
    int p = ERFC_10;
    p = ERFC_9 + (times_signed(p, t) << 1);
    p = ERFC_8 + (times_signed(p, t) << 1);
    p = ERFC_7 + (times_signed(p, t) << 1);
    p = ERFC_6 + (times_signed(p, t) << 1);
    p = ERFC_5 + (times_signed(p, t) << 1);
    p = ERFC_4 + (times_signed(p, t) << 1);
    p = ERFC_3 + (times_signed(p, t) << 1);
    p = ERFC_2 + (times_signed(p, t) << 1);
    p = ERFC_1 + (times_signed(p, t) << 1);
    p = ERFC_0 + (times_signed(p, t) << 1);
    wide square = product(x, x);
    square.sign = SIGN;
    return product(product(exponential(square), quotient_t), normalized((uint)p, 4, 0));
}

float ROUTINE erfc(float x)
{
    if (isnan(x) || x == 0.0f)
        return isnan(x) ? x : 1.0f;
    if (fabs(x) > 11.0f)
        return x < 0.0f ? 2.0f : 0.0f;
    wide argument = wide_of(x), size = argument;
    size.sign = 0;
    if (fabs(x) < 0.9f) {
        wide error = small_erf(size);
        int places = -error.exponent;
        ulong part = places > 62 ? 0 : (ulong)error.significand << 31 >> (places & 63);
        return packed(normalized_long(argument.sign ? (1ul << 62) + part : (1ul << 62) - part, 1, 0));
    }
    wide result = large_erfc(size);
    if (argument.sign) {
        int places = -result.exponent;
        ulong part = places > 62 ? 0 : (ulong)result.significand << 31 >> (places & 63);
        result = normalized_long((1ul << 63) - part, 1, 0);
    }
    return packed(result);
}
LANES1(float, erfc, float)

float ROUTINE erf(float x)
{
    if (isnan(x) || x == 0.0f)
        return x;
    if (fabs(x) > 4.0f)
        return copysign(1.0f, x);
    wide argument = wide_of(x), size = argument;
    size.sign = 0;
    wide result;
    if (fabs(x) < 0.9f) {
        result = small_erf(size);
    } else {
        wide rest = large_erfc(size);
        int places = -rest.exponent;
        ulong part = places > 62 ? 0 : (ulong)rest.significand << 31 >> (places & 63);
        result = normalized_long((1ul << 62) - part, 1, 0);
    }
    result.sign = argument.sign;
    return packed(result);
}
LANES1(float, erf, float)

/* gamma(1 + u); u below one, with 32 bits below the point. */
INLINE wide gamma_near_one(uint u)
{
    int t = (int)(u >> 1);
    int p = GAMMA_11;
    p = GAMMA_10 + (times_signed(p, t) << 1);
    p = GAMMA_9 + (times_signed(p, t) << 1);
    p = GAMMA_8 + (times_signed(p, t) << 1);
    p = GAMMA_7 + (times_signed(p, t) << 1);
    p = GAMMA_6 + (times_signed(p, t) << 1);
    p = GAMMA_5 + (times_signed(p, t) << 1);
    p = GAMMA_4 + (times_signed(p, t) << 1);
    p = GAMMA_3 + (times_signed(p, t) << 1);
    p = GAMMA_2 + (times_signed(p, t) << 1);
    p = GAMMA_1 + (times_signed(p, t) << 1);
    p = GAMMA_0 + (times_signed(p, t) << 1);
    return normalized((uint)p, 3, 0);
}

/* gamma(x), 1 <= x < 64: a product, a factor for each one that x is too large. */
INLINE wide large_gamma(float x)
{
    uint fixed = (uint)(x * 0x1p26f);           /* 26 bits below the point */
    wide result = gamma_near_one((fixed & 0x3ffffff) << 6);
    for (uint factor = fixed - (1u << 26); factor >= 1u << 26; factor -= 1u << 26)
        result = product(result, normalized(factor, 5, 0));
    return result;
}

/* gamma(x), -50 < x < 1, no whole number below one: gamma between one and two, divided by what x passes on its way up. */
INLINE wide small_gamma(float x)
{
    long fixed = (long)(x * 0x1p32f);
    wide divisor = wide_of(x);
    for (long factor = fixed + (1l << 32); factor < 1l << 32; factor += 1l << 32) {
        ulong magnitude = (ulong)(factor < 0 ? -factor : factor);
        divisor = product(divisor, normalized_long(magnitude, 31, factor < 0 ? SIGN : 0));
    }
    return quotient(gamma_near_one((uint)fixed), divisor);
}

INLINE uint is_pole(float x) { return x == 0.0f || (x < 0.0f && floor(x) == x); }

float ROUTINE tgamma(float x)
{
    if (isnan(x) || x > 36.0f)
        return isnan(x) ? x : INFINITY;
    if (is_pole(x))
        return x == 0.0f ? copysign(INFINITY, x) : NAN;
    if (x < -50.0f)
        return fmod(floor(x), 2.0f) == 0.0f ? 0.0f : isinf(x) ? NAN : -0.0f;
    return packed(x < 1.0f ? small_gamma(x) : large_gamma(x));
}
LANES1(float, tgamma, float)

/* Its logarithm: Stirling's series for large numbers. */
float ROUTINE log_of_large_gamma(float x)
{ return (x - 0.5f) * (log(x) - 1.0f) + 0.41893853f + 1.0f / (12.0f * x); }

float ROUTINE lgamma(float x)
{
    if (isnan(x) || isinf(x))
        return isnan(x) ? x : INFINITY;
    if (is_pole(x))
        return INFINITY;
    if (x > 30.0f)
        return log_of_large_gamma(x);
    if (x < -30.0f)
        return log(M_PI_F / fabs(x * sinpi(x))) - log_of_large_gamma(-x);
    wide result = x < 1.0f ? small_gamma(x) : large_gamma(x);
    result.sign = 0;
    return packed(natural_logarithm(result));
}
LANES1(float, lgamma, float)

int OVERLOAD sign_of_gamma(float x)
{ return is_pole(x) || !isfinite(x) ? (x == 0.0f ? as_int(x) < 0 ? -1 : 1 : 0)
         : x < 0.0f && fmod(floor(x), 2.0f) != 0.0f ? -1 : 1; }
LANES1(int, sign_of_gamma, float)
#define LGAMMA_R(space, unused) FOR_WIDTHS(LGAMMA_R_OF, space)
#define LGAMMA_R_OF(n, space) \
    float##n OVERLOAD lgamma_r(float##n x, space int##n *sign) { *sign = sign_of_gamma(x); return lgamma(x); }
FOR_ADDRESS_SPACES(LGAMMA_R, 0)
