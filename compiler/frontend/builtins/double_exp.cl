/* 6.12.2: exponential functions, logarithms and powers of doubles. Polynomials are computed in 64-bit fixed point, where a product
   takes sixty instructions instead of the 160 of a double, and what a sum takes is nothing beside that. */
#include "builtins.h"

int __attribute__((overloadable)) exponent_of(double x);
double __attribute__((overloadable)) fraction_of(double x);

ulong __attribute__((overloadable)) high_product(ulong a, ulong b);
ulong __attribute__((overloadable)) log_series(ulong z);
ulong __attribute__((overloadable)) exp2_of_fraction(ulong f);

/* 2^(n + f / 2^64) */
static inline __attribute__((always_inline)) double power_of_two(int n, ulong f)
{ return ldexp((double)exp2_of_fraction(f), n - 62); }

/* 2^(x * (whole + part / 2^64)); beyond `limit` on either side there is nothing but zero and infinity. */
double ROUTINE exponential(double x, uint whole, ulong part, double limit)
{
    if (isnan(x))
        return as_double(0x7ff8000000000000ul);
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
    return f - s * (f - (double)high_product(z, log_series(z)) * 0x1p-62);
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

/* A positive number to the power of y * 2^(y_exponent - 63), or of less than zero. The number's logarithm is wanted to 60
   bits of its own: it is f * g with f exact and g in fixed point, and the exponent is added where there is one. */
double ROUTINE power(double x, ulong y, int y_exponent, uint is_negative)
{
    double e, m = near_one(x, &e), f = m - 1.0;
    /* 1 / (1 + m) by a step of Newton's iteration. */
    ulong inverse = (ulong)(0x1p64 / (m + 1.0));
    long error = (long)((1ul << 62) - high_product((ulong)(m * 0x1p62) + (1ul << 62), inverse));
    inverse += (ulong)(error * (long)(inverse >> 32) >> 30);
    ulong size = (ulong)(fabs(f) * 0x1p64), s = high_product(size, inverse), z = high_product(s, s);
    ulong g = high_product(high_product(inverse, (1ul << 63) + high_product(z, log_series(z))), 0xb8aa3b295c17f0bcul);
    ulong logarithm;            /* times 2^exponent */
    int exponent;
    if (e == 0.0) {
        if (f == 0.0)
            return 1.0;
        int zeros = (int)clz(size);
        logarithm = high_product(size << zeros, g);
        exponent = -61 - zeros;
        is_negative ^= f < 0.0;
    } else {
        ulong whole = (ulong)fabs(e), part = high_product(size, g);
        int places = (int)clz(whole) - 1;
        part = places >= 61 ? part << (places - 61) : part >> (61 - places);
        /* Below 1024 it must stay there: the largest number's first power is no infinity. */
        logarithm = (whole << places) + ((e < 0.0) == (f < 0.0) ? part : -part - (f != 0.0));
        exponent = -places;
        is_negative ^= e < 0.0;
    }
    int zeros = (int)clz(logarithm);
    ulong product = high_product(logarithm << zeros, y);
    int places = -(exponent - zeros + y_exponent + 1) - 52;
    if (places < 0)
        return is_negative ? 0.0 : HUGE_VAL;
    int n = places + 52 > 63 ? 0 : (int)(product >> (places + 52));
    ulong part = places <= 12 ? product << (12 - places) : places - 12 > 63 ? 0 : product >> (places - 12);
    n = is_negative ? -n - (part != 0) : n;
    return power_of_two(n, is_negative ? -part : part);
}

/* 2 for even integers, 1 for odd ones, 0 for other numbers. */
static inline __attribute__((always_inline)) uint parity(double y)
{ return y != trunc(y) ? 0 : trunc(y * 0.5) * 2.0 != y ? 1 : 2; }

/* Zeros and infinities to the power of something with the sign of `is_negative`. */
static inline __attribute__((always_inline)) double extreme(double x, uint is_negative, uint is_odd)
{
    double result = (x == 0.0) == (is_negative != 0) ? HUGE_VAL : 0.0;
    return is_odd ? copysign(result, x) : result;
}

double ROUTINE pow(double x, double y)
{
    uint kind = parity(y);
    if (SELDOM(x == 0.0 || isinf(x) || isnan(x) || y == 0.0 || isinf(y) || isnan(y) || x == 1.0)) {
        if (x == 1.0 || y == 0.0)
            return 1.0;
        if (isnan(x) || isnan(y))
            return x + y;
        if (isinf(y))
            return fabs(x) == 1.0 ? 1.0 : (fabs(x) > 1.0) == (y > 0.0) ? HUGE_VAL : 0.0;
        return extreme(x, y < 0.0, kind == 1);
    }
    if (x < 0.0 && kind == 0)
        return as_double(0x7ff8000000000000ul);
    double part = fraction_of(fabs(y));
    ulong significand = (as_ulong(part) << 11) | 0x8000000000000000ul;
    double result = power(fabs(x), significand, exponent_of(y) - 1, y < 0.0);
    return x < 0.0 && kind == 1 ? -result : result;
}
LANES2(double, pow, double, double)

double ROUTINE powr(double x, double y)
{
    if (isnan(x) || isnan(y) || x < 0.0 || ((x == 0.0 || isinf(x)) && y == 0.0) || (x == 1.0 && isinf(y)))
        return as_double(0x7ff8000000000000ul);
    return pow(fabs(x), y);
}
LANES2(double, powr, double, double)

double OVERLOAD pown(double x, int n) { return pow(x, (double)n); }
LANES2(double, pown, double, int)

double ROUTINE rootn(double x, int n)
{
    if (isnan(x) || n == 0 || (x < 0.0 && !(n & 1)))
        return as_double(0x7ff8000000000000ul);
    if (x == 0.0 || isinf(x))
        return extreme(x, n < 0, n & 1);
    uint size = n < 0 ? 0u - (uint)n : (uint)n;
    return copysign(power(fabs(x), 0x8000000000000000ul / size, 0, n < 0), x);
}
LANES2(double, rootn, double, int)

double ROUTINE cbrt(double x)
{
    if (isnan(x) || isinf(x) || x == 0.0)
        return isnan(x) ? as_double(0x7ff8000000000000ul) : x;
    return copysign(power(fabs(x), 0xaaaaaaaaaaaaaaabul, -2, 0), x);
}
LANES1(double, cbrt, double)
