/* 6.12.2: what is near zero of exponential functions and logarithms of doubles, and hyperbolic functions. */
#include "polynomials.h"

double __attribute__((overloadable)) exp(double x);
double __attribute__((overloadable)) log(double x);

/* Numbers below a quarter by a polynomial; of others one is taken from the power. */
double ROUTINE expm1(double x)
{
    double size = fabs(x);
    if (!(size < 800.0))
        return isnan(x) ? as_double(NAN_OF_DOUBLE) : x < 0.0 ? -1.0 : HUGE_VAL;
    if (size < 0x1p-54)
        return x;
    wide_long w = wide_of(x);
    if (size < 0.25) {
        wide_long slope = normalized(expm1_series(fixed_of(w, 64), 0 - (ulong)w.sign), 0, 0);
        return packed(product(w, slope));
    }
    power p = power_of_e((ulong)rint(size * 0x1p53), w.sign);
    ulong e = exp2_of_fraction(p.fraction);
    if (w.sign)
        return -(double)((1ul << 62) - (p.whole < -63 ? 0 : e >> (-p.whole & 63))) * 0x1p-62;
    return ldexp((double)(e - (p.whole > 62 ? 0 : 1ul << (62 - p.whole & 63))), p.whole - 62);
}
LANES1(double, expm1, double)

double ROUTINE log1p(double x)
{
    if (!(x > -1.0 && x < HUGE_VAL))
        return x == -1.0 ? -HUGE_VAL : x == HUGE_VAL ? x : as_double(NAN_OF_DOUBLE);
    if (fabs(x) < 0x1p-54)
        return x;
    wide_long w = wide_of(x);
    if (x > -0.2928 && x < 0.4142) {
        ulong slope = log_slope(fixed_of(w, 64), w.sign);
        return packed(product(w, normalized(slope, 1, 0)));
    }
    wide_long sum;
    if (w.sign)
        sum = normalized(0 - fixed_of(w, 64), -1, 0);
    else if (w.exponent < 0)
        sum = normalized((1ul << 62) + fixed_of(w, 62), 1, 0);
    else
        sum = normalized((w.significand >> 1) + (w.exponent > 62 ? 0 : 1ul << (62 - w.exponent & 63)), w.exponent + 1, 0);
    return packed(logarithm(sum));
}
LANES1(double, log1p, double)

/* Of a magnitude of one at least, the power and its reciprocal. */
double ROUTINE sinh(double x)
{
    double size = fabs(x);
    if (!(size < 800.0))
        return isnan(x) ? as_double(NAN_OF_DOUBLE) : copysign(HUGE_VAL, x);
    if (size < 0x1p-30)
        return x;
    if (size < 1.0) {
        wide_long w = wide_of(x);
        ulong fixed = fixed_of(w, 64);
        return packed(product(w, normalized(sinh_series(high_product(fixed, fixed)), 1, 0)));
    }
    power up = power_of_e((ulong)rint(size * 0x1p53), 0), down = power_of_e((ulong)rint(size * 0x1p53), 1);
    int places = up.whole - down.whole;
    ulong less = places > 63 ? 0 : exp2_of_fraction(down.fraction) >> (places & 63);
    return copysign(ldexp((double)(exp2_of_fraction(up.fraction) - less), up.whole - 63), x);
}
LANES1(double, sinh, double)

double ROUTINE cosh(double x)
{
    double size = fabs(x);
    if (!(size < 800.0))
        return isnan(x) ? as_double(NAN_OF_DOUBLE) : HUGE_VAL;
    power up = power_of_e((ulong)rint(size * 0x1p53), 0), down = power_of_e((ulong)rint(size * 0x1p53), 1);
    int places = up.whole - down.whole;
    ulong more = places > 63 ? 0 : exp2_of_fraction(down.fraction) >> (places & 63);
    return ldexp((double)(exp2_of_fraction(up.fraction) + more), up.whole - 63);
}
LANES1(double, cosh, double)

double ROUTINE tanh(double x)
{
    double size = fabs(x);
    if (size < 1.0) {
        double s = sinh(x);
        return s / sqrt(fma(s, s, 1.0));
    }
    return isnan(x) ? as_double(NAN_OF_DOUBLE) : copysign(1.0 - 2.0 / (exp(fmin(size, 30.0) * 2.0) + 1.0), x);
}
LANES1(double, tanh, double)

#define LOG_OF_TWO 0.69314718055994530942

double ROUTINE asinh(double x)
{
    double size = fabs(x), square = size * size;
    double result = size > 0x1p30 ? log(size) + LOG_OF_TWO : log1p(size + square / (1.0 + sqrt(1.0 + square)));
    return copysign(result, x);
}
LANES1(double, asinh, double)

double ROUTINE acosh(double x)
{
    double more = x - 1.0;
    if (!(x >= 1.0))
        return as_double(NAN_OF_DOUBLE);
    return x > 0x1p30 ? log(x) + LOG_OF_TWO : log1p(more + sqrt(more * (more + 2.0)));
}
LANES1(double, acosh, double)

double ROUTINE atanh(double x)
{
    double size = fabs(x);
    return copysign(0.5 * log1p((size + size) / (1.0 - size)), x);
}
LANES1(double, atanh, double)
