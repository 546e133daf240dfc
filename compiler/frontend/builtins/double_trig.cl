/* 6.12.2: sines and cosines of doubles, of all that there are: the product with 2 / pi, of which the bits that tell the
   quadrant and what follows them are multiplied, and two series in 64-bit fixed point. */
#include "builtins.h"

ulong __attribute__((overloadable)) high_product(ulong a, ulong b);

/* Two words of zeros for numbers below one, and 2 / pi. */
__constant ulong __fgpu_two_over_pi[22] = {
    0x0000000000000000ul, 0x0000000000000000ul, 0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul,
    0xdb6295993c439041ul, 0xfe5163abdebbc561ul, 0xb7246e3a424dd2e0ul, 0x06492eea09d1921cul,
    0xfe1deb1cb129a73eul, 0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul, 0x3991d639835339f4ul,
    0x9c845f8bbdf9283bul, 0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul,
    0x4f463f669e5fea2dul, 0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul,
    0x56033046fc7b6babul, 0xf0cfbc209af4361dul
};

static inline __attribute__((always_inline)) ulong cosine_series(ulong u)
{
    ulong p = 0x0000000000000004ul;
    p = 0x00000000000005a1ul - high_product(u, p);
    p = 0x000000000006b9fdul - high_product(u, p);
    p = 0x00000000064e5d2aul - high_product(u, p);
    p = 0x000000047bb63bfeul - high_product(u, p);
    p = 0x0000024fc9f6ef14ul - high_product(u, p);
    p = 0x0000d00d00d00d01ul - high_product(u, p);
    p = 0x002d82d82d82d82eul - high_product(u, p);
    p = 0x0555555555555555ul - high_product(u, p);
    p = 0x4000000000000000ul - high_product(u, p);
    p = 0x8000000000000000ul - high_product(u, p);
    return p;
}

static inline __attribute__((always_inline)) ulong sine_series(ulong u)
{
    ulong p = 0x000000000000004cul;
    p = 0x000000000000654bul - high_product(u, p);
    p = 0x00000000006b9fd0ul - high_product(u, p);
    p = 0x000000005849184ful - high_product(u, p);
    p = 0x00000035cc8acfebul - high_product(u, p);
    p = 0x0000171de3a556c7ul - high_product(u, p);
    p = 0x0006806806806807ul - high_product(u, p);
    p = 0x0111111111111111ul - high_product(u, p);
    p = 0x1555555555555555ul - high_product(u, p);
    p = 0x8000000000000000ul - high_product(u, p);
    return p;
}

/* The sine of an angle in quadrants, their number and the fraction, of 128 bits; `negative` is its sign. */
double ROUTINE sine_of_quadrants(uint quadrant, ulong fraction, ulong below, uint negative)
{
    uint is_more = (uint)(fraction >> 63);
    quadrant += is_more;
    fraction = is_more ? ~fraction : fraction;
    below = is_more ? ~below : below;
    /* In radians, with the leading one at the top, and without. */
    uint zeros = fraction == 0 ? 64 : (uint)clz(fraction);
    ulong leading = zeros == 64 ? below : fraction << zeros | below >> 1 >> (63 - zeros);
    ulong radians = high_product(leading, 0xc90fdaa22168c235ul);
    ulong angle = zeros > 62 ? 0 : radians >> zeros;            /* with 63 bits below the point */
    ulong u = high_product(angle << 1, angle << 1);
    negative ^= (quadrant >> 1 & 1) ^ (quadrant & 1 ? 0 : is_more);
    double result = quadrant & 1 ? (double)cosine_series(u) * 0x1p-63
        : ldexp((double)high_product(radians, sine_series(u)), -62 - (int)zeros);
    return negative ? -result : result;
}

/* The sine of x, or, if the lowest bit is set, its cosine, which is the sine a quadrant further. The 192 bits of 2 / pi
   stand for no more than a few turns of the number's lowest bit. */
double ROUTINE sine_by(double x, ulong w0, ulong w1, ulong w2)
{
    int exponent = (int)(as_ulong(x) << 1 >> 53) - 1023;
    uint ahead = (uint)w2 & 1;
    if (SELDOM(exponent == 1024))
        return as_double(0x7ff8000000000000ul);
    if (exponent < -27)
        return ahead ? 1.0 : x;
    ulong number = (as_ulong(x) & 0x000ffffffffffffful) | 0x0010000000000000ul;
    ulong low = number * w1, middle = high_product(number, w2), upper = number * w0 + high_product(number, w1);
    low += middle;
    upper += low < middle;
    /* Two bits of the quadrant, then the fraction. */
    return sine_of_quadrants((uint)(upper >> 62) + ahead, upper << 2 | low >> 62, low << 2,
                             ahead ? 0 : (uint)(as_ulong(x) >> 63));
}

/* What reads a table in memory is no subroutine. */
static inline __attribute__((always_inline)) double sine(double x, uint ahead)
{
    int exponent = (int)(as_ulong(x) << 1 >> 53) - 1023;
    uint at = (uint)max(exponent - 54 + 128, 0), first = at >> 6, places = at & 63;
    ulong w0 = __fgpu_two_over_pi[first], w1 = __fgpu_two_over_pi[first + 1], w2 = __fgpu_two_over_pi[first + 2];
    ulong w3 = __fgpu_two_over_pi[first + 3];
    w0 = w0 << places | w1 >> 1 >> (63 - places);
    w1 = w1 << places | w2 >> 1 >> (63 - places);
    w2 = w2 << places | w3 >> 1 >> (63 - places);
    return sine_by(x, w0, w1, (w2 & ~1ul) | ahead);
}
double OVERLOAD sin(double x) { return sine(x, 0); }
double OVERLOAD cos(double x) { return sine(x, 1); }
double OVERLOAD tan(double x) { return sine(x, 0) / sine(x, 1); }
LANES1(double, sin, double)
LANES1(double, cos, double)
LANES1(double, tan, double)
#define SINCOS(space, unused) FOR_WIDTHS(SINCOS_OF, space)
#define SINCOS_OF(n, space) \
    double##n OVERLOAD sincos(double##n x, space double##n *cosine) { *cosine = cos(x); return sin(x); }
FOR_ADDRESS_SPACES(SINCOS, 0)

/* The same of an angle in half turns. Whole results have the signs that C gives them. */
double ROUTINE sine_of_half_turns(double x, uint ahead)
{
    int exponent = (int)(as_ulong(x) << 1 >> 53) - 1023;
    if (SELDOM(exponent == 1024))
        return as_double(0x7ff8000000000000ul);
    if (exponent < -30)
        return ahead ? 1.0 : x * 3.14159265358979323846;
    ulong number = (as_ulong(x) & 0x000ffffffffffffful) | 0x0010000000000000ul;
    int places = 51 - exponent;             /* below the point of twice the number */
    uint quadrant = places > 63 || places < -2 ? 0 : (uint)(places < 0 ? number << -places : number >> places);
    ulong fraction = places <= 0 ? 0 : places < 64 ? number << (64 - places) : number >> (places - 64);
    ulong below = places <= 64 ? 0 : number << (128 - places);
    double result = sine_of_quadrants(quadrant + ahead, fraction, below, ahead ? 0 : (uint)(as_ulong(x) >> 63));
    return result == 0.0 ? ahead ? 0.0 : copysign(0.0, x) : result;
}
double OVERLOAD sinpi(double x) { return sine_of_half_turns(x, 0); }
double OVERLOAD cospi(double x) { return sine_of_half_turns(x, 1); }
double OVERLOAD tanpi(double x) { return sine_of_half_turns(x, 0) / sine_of_half_turns(x, 1); }
LANES1(double, sinpi, double)
LANES1(double, cospi, double)
LANES1(double, tanpi, double)
