/* 6.12.2: error and gamma functions of doubles. */
#include "polynomials.h"

double __attribute__((overloadable)) log(double x);
double __attribute__((overloadable)) sinpi(double x);

/* erf of a magnitude below one. */
INLINE wide_long small_erf(wide_long x)
{
    ulong fixed = fixed_of(x, 64);
    return product(x, normalized(erf_series(high_product(fixed, fixed)), 1, 0));
}

/* erfc of a positive number of at least 0.9: a power of e times a polynomial in t = 4 / (4 + x). */
INLINE wide_long large_erfc(wide_long x)
{
    wide_long four = {TOP, 2, 0};
    wide_long t = quotient(four, normalized((1ul << 61) + fixed_of(x, 59), 4, 0));
    wide_long slope = normalized(erfc_series(fixed_of(t, 64)), 0, 0);
    /* The square has 53 bits below the point. */
    power p = power_of_e(fixed_of(product(x, x), 53), 1);
    wide_long e = {exp2_of_fraction(p.fraction) << 1, p.whole, 0};
    return product(product(e, t), slope);
}

/* One, or two, without a number below one. */
INLINE wide_long rest_of(ulong whole, wide_long x) { return normalized(whole - fixed_of(x, 62), 1, 0); }

double ROUTINE erfc(double x)
{
    double size = fabs(x);
    if (!(size < 27.5))
        return isnan(x) ? as_double(NAN_OF_DOUBLE) : x < 0.0 ? 2.0 : 0.0;
    if (size < 0x1p-60)
        return 1.0;
    wide_long argument = wide_of(size);
    wide_long result;
    if (size < 0.9) {
        result = small_erf(argument);
        result = x < 0.0 ? normalized((1ul << 62) + fixed_of(result, 62), 1, 0) : rest_of(1ul << 62, result);
    } else {
        result = large_erfc(argument);
        result = x < 0.0 ? rest_of(1ul << 63, result) : result;
    }
    return packed(result);
}
LANES1(double, erfc, double)

double ROUTINE erf(double x)
{
    double size = fabs(x);
    if (!(size < 6.0))
        return isnan(x) ? as_double(NAN_OF_DOUBLE) : copysign(1.0, x);
    if (x == 0.0)
        return x;
    wide_long argument = wide_of(size);
    return copysign(packed(size < 0.9 ? small_erf(argument) : rest_of(1ul << 62, large_erfc(argument))), x);
}
LANES1(double, erf, double)

INLINE uint is_pole(double x) { return x == 0.0 || (x < 0.0 && floor(x) == x); }

/* gamma(x), -190 < x < 180: with x = n + v, v from two to three, gamma(v) from a polynomial, times what is between v and x,
   or divided by it. */
INLINE wide_long gamma_of(double x)
{
    wide_long one = {TOP, 0, 0};
    long fixed = (long)(x * 0x1p55), step = 1l << 55;               /* 55 bits below the point */
    wide_long bottom = normalized(gamma_series((ulong)fixed << 9), 0, 0);
    if (x < 2.0) {
        /* Near zero the number itself. */
        if (fixed < step)
            bottom = product(bottom, wide_of(x));
        long factor = fixed < step ? fixed + step : fixed;
        for (; factor < 2 * step; factor += step)
            bottom = product(bottom, normalized((ulong)(factor < 0 ? -factor : factor), 8, factor < 0));
        return quotient(one, bottom);
    }
    wide_long top = one;
    for (long factor = fixed - step; factor >= 2 * step; factor -= step)
        top = product(top, normalized((ulong)factor, 8, 0));
    return quotient(top, bottom);
}

double ROUTINE tgamma(double x)
{
    if (isnan(x) || x > 172.0)
        return isnan(x) ? as_double(NAN_OF_DOUBLE) : HUGE_VAL;
    if (is_pole(x))
        return x == 0.0 ? copysign(HUGE_VAL, x) : as_double(NAN_OF_DOUBLE);
    if (x < -186.0)
        return trunc(floor(x) * 0.5) * 2.0 == floor(x) ? 0.0 : -0.0;
    return packed(gamma_of(x));
}
LANES1(double, tgamma, double)

/* Stirling's series. */
double ROUTINE log_of_large_gamma(double x)
{
    double square = 1.0 / (x * x);
    double p = 0x1.5555555555555p-4
        - square * (0x1.6c16c16c16c17p-9 - square * (0x1.a01a01a01a01ap-11 - square * 0x1.3813813813814p-11));
    return (x - 0.5) * (log(x) - 1.0) + (0.41893853320467274178 + p / x);
}

double ROUTINE lgamma(double x)
{
    if (isnan(x) || isinf(x))
        return isnan(x) ? as_double(NAN_OF_DOUBLE) : HUGE_VAL;
    if (is_pole(x))
        return HUGE_VAL;
    if (x > 100.0)
        return log_of_large_gamma(x);
    if (x < -100.0)
        return log(3.14159265358979323846 / fabs(x * sinpi(x))) - log_of_large_gamma(-x);
    if (x == 1.0 || x == 2.0)
        return 0.0;
    wide_long size = gamma_of(x);
    size.sign = 0;
    size = logarithm(size);
    return size.significand == 0 ? 0.0 : packed(size);
}
LANES1(double, lgamma, double)

int OVERLOAD sign_of_gamma(double x)
{ return is_pole(x) || !isfinite(x) ? (x == 0.0 ? as_long(x) < 0 ? -1 : 1 : 0)
         : x < 0.0 && trunc(floor(x) * 0.5) * 2.0 != floor(x) ? -1 : 1; }
LANES1(int, sign_of_gamma, double)
#define LGAMMA_R(space, unused) FOR_WIDTHS(LGAMMA_R_OF, space)
#define LGAMMA_R_OF(n, space) \
    double##n OVERLOAD lgamma_r(double##n x, space int##n *sign) { *sign = sign_of_gamma(x); return lgamma(x); }
FOR_ADDRESS_SPACES(LGAMMA_R, 0)
