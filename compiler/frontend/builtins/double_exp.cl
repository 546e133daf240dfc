/* 6.12.2: exponential functions and logarithms of doubles. Polynomials are computed in 64-bit fixed point, where a product
   takes sixty instructions instead of the 160 of a double, and what a sum takes is nothing beside that. */
#include "builtins.h"

int __attribute__((overloadable)) exponent_of(double x);
double __attribute__((overloadable)) fraction_of(double x);

ulong ROUTINE high_product(ulong a, ulong b) { return mul_hi(a, b); }

/* 2^(n + f / 2^64): of the quarters a constant, of the rest Taylor's series. */
static inline __attribute__((always_inline)) double power_of_two(int n, ulong f)
{
    ulong x = high_product(f << 2 >> 2, 0xb17217f7d1cf79acul);
    ulong p = 0x000000005849184ful;
    p = 0x000000047bb63bfeul + high_product(x, p);
    p = 0x00000035cc8acfebul + high_product(x, p);
    p = 0x0000024fc9f6ef14ul + high_product(x, p);
    p = 0x0000171de3a556c7ul + high_product(x, p);
    p = 0x0000d00d00d00d01ul + high_product(x, p);
    p = 0x0006806806806807ul + high_product(x, p);
    p = 0x002d82d82d82d82eul + high_product(x, p);
    p = 0x0111111111111111ul + high_product(x, p);
    p = 0x0555555555555555ul + high_product(x, p);
    p = 0x1555555555555555ul + high_product(x, p);
    p = 0x4000000000000000ul + high_product(x, p);
    p = 0x8000000000000000ul + high_product(x, p);
    p = 0x8000000000000000ul + high_product(x, p);
    ulong low = f >> 62 & 1 ? 0x9837f0518db8a96ful : 0x8000000000000000ul, upper = f >> 62 & 1 ? 0xd744fccad69d6af4ul : 0xb504f333f9de6484ul;
    return ldexp((double)high_product(p, f >> 63 ? upper : low), n - 62);
}

/* 2^(x * (whole + part / 2^64)); beyond `limit` on either side there is nothing but zero and infinity. */
double ROUTINE exponential(double x, uint whole, ulong part, double limit)
{
    if (isnan(x))
        return x;
    if (fabs(x) > limit)
        return x < 0.0 ? 0.0 : HUGE_VAL;
    ulong size = (ulong)rint(fabs(x) * 0x1p53);
    ulong more = high_product(size, part), low = size * part;
    ulong y = size * whole + more, f = y << 11 | low >> 53;
    int n = (int)(y >> 53);
    n = x < 0.0 ? -n - (f != 0) : n;
    f = x < 0.0 ? -f : f;
    return power_of_two(n, f);
}
double OVERLOAD exp(double x) { return exponential(x, 1, 0x71547652b82fe177ul, 800.0); }
double OVERLOAD exp2(double x) { return exponential(x, 1, 0, 1100.0); }
double OVERLOAD exp10(double x) { return exponential(x, 3, 0x5269e12f346e2bf9ul, 400.0); }
LANES1(double, exp, double)
LANES1(double, exp2, double)
LANES1(double, exp10, double)

/* The logarithm of a number between the roots of one half and two: with s = f / (2 + f) that of 1 + f is
   f - s * (f - r), where r is the rest of the series of the area tangent, 2 * s^2 / 3 + 2 * s^4 / 5 and so on. */
double ROUTINE log_near_one(double x)
{
    double f = x - 1.0, s = f / (f + 2.0);
    ulong z = (ulong)(s * s * 0x1p64);
    ulong p = 0x051eb851eb851eb8ul;
    p = 0x0590b21642c8590bul + high_product(z, p);
    p = 0x0618618618618618ul + high_product(z, p);
    p = 0x06bca1af286bca1bul + high_product(z, p);
    p = 0x0787878787878788ul + high_product(z, p);
    p = 0x0888888888888889ul + high_product(z, p);
    p = 0x09d89d89d89d89d9ul + high_product(z, p);
    p = 0x0ba2e8ba2e8ba2e9ul + high_product(z, p);
    p = 0x0e38e38e38e38e39ul + high_product(z, p);
    p = 0x1249249249249249ul + high_product(z, p);
    p = 0x199999999999999aul + high_product(z, p);
    p = 0x2aaaaaaaaaaaaaabul + high_product(z, p);
    return f - s * (f - (double)high_product(z, p) * 0x1p-62);
}

/* The exponent of the power of two that brings a positive number there, and that number. */
static inline __attribute__((always_inline)) double near_one(double x, double *exponent)
{
    int n = exponent_of(x);
    double part = fraction_of(x);
    int is_less = part < 0.70710678118654752440;
    *exponent = (double)(n - is_less);
    return is_less ? part + part : part;
}

#define LOGARITHM(name, result) \
    double ROUTINE name(double x) \
    { \
        if (x == 0.0) \
            return -HUGE_VAL; \
        if (!(x > 0.0) || isinf(x)) \
            return x > 0.0 ? x : as_double(0x7ff8000000000000ul); \
        double e, r = log_near_one(near_one(x, &e)); \
        return result; \
    } \
    LANES1(double, name, double)
LOGARITHM(log, e * 0x1.62e42fee00000p-1 + (r + e * 0x1.a39ef35793c76p-33))
LOGARITHM(log2, e + r * 0x1.71547652b82fep+0)
LOGARITHM(log10, e * 0x1.3441350800000p-2 + (r * 0x1.bcb7b1526e50ep-2 + e * 0x1.f79fef311f12bp-34))
