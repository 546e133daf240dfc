/* The functions of chapter 6.12 for double, but for those of exp.cl and the like. Numbers like 1.5 are of type double
   here. */
#include "async_copy.h"
#include "common.h"
#include "geometric.h"
#include "math_basic.h"
#include "relational.h"
#include "vector_data.h"

#define SIGN_OF_LONG 0x8000000000000000ul
#define FRACTION 0x000ffffffffffffful
#define INFINITE 0x7ff0000000000000ul
#define NAN_OF_DOUBLE 0x7ff8000000000000ul

/* 6.12.2: what is exact or a single operation. */
EXACT_FUNCTIONS(double)
FOR_WIDTHS(SINGLE, double)

double OVERLOAD nan(ulong code) { return as_double(NAN_OF_DOUBLE | (code & (FRACTION >> 1))); }
LANES1(double, nan, ulong)

MAGNITUDES(double)

double OVERLOAD nextafter(double x, double y)
{
    long a = as_long(x);
    int up = (x < y) == (a >= 0);
    long next = a + (up ? 1 : -1);
    next = x == 0.0 ? (as_long(y) & (long)SIGN_OF_LONG) | 1 : next;
    double result = x == y ? y : as_double(next);
    return isnan(x) || isnan(y) ? x + y : result;
}
LANES2(double, nextafter, double, double)

/* Fraction of at least one half, and exponent. Subnormal numbers are scaled up first. */
#define TWICE(x) (as_ulong(x) << 1)
#define IS_SMALL(x) (TWICE(x) < 0x0020000000000000ul)
#define HAS_NO_PARTS(x) (TWICE(x) == 0 || TWICE(x) >= INFINITE << 1)
double OVERLOAD fraction_of(double x)
{
    double scaled = IS_SMALL(x) ? x * 0x1p54 : x;
    double part = as_double((as_ulong(scaled) & (SIGN_OF_LONG | FRACTION)) | 0x3fe0000000000000ul);
    part = HAS_NO_PARTS(x) ? x : part;
    return isnan(x) ? as_double(NAN_OF_DOUBLE) : part;
}
int OVERLOAD exponent_of(double x)
{
    double scaled = IS_SMALL(x) ? x * 0x1p54 : x;
    int result = (int)(TWICE(scaled) >> 53) - (IS_SMALL(x) ? 1022 + 54 : 1022);
    return HAS_NO_PARTS(x) ? 0 : result;
}

int OVERLOAD ilogb(double x)
{
    int result = TWICE(x) == INFINITE << 1 ? INT_MAX : exponent_of(x) - 1;
    return TWICE(x) == 0 || TWICE(x) > INFINITE << 1 ? FP_ILOGB0 : result;
}
LANES1(int, ilogb, double)

double OVERLOAD logb(double x)
{
    double result = (double)ilogb(x);
    result = isinf(x) ? HUGE_VAL : result;
    return isnan(x) ? as_double(NAN_OF_DOUBLE) : x == 0.0 ? -HUGE_VAL : result;
}
LANES1(double, logb, double)

/* x * 2^n, rounded once: what is subnormal comes from its last product. */
double ROUTINE ldexp(double x, int n)
{
    n = clamp(n, -3000, 3000);
    int exponent = (int)(TWICE(x) >> 53);
    if (SELDOM(exponent == 0)) {
        x *= 0x1p54;
        n -= 54;
        exponent = (int)(TWICE(x) >> 53);
        if (exponent == 0)
            return x;
    }
    int sum = exponent + n;
    if (SELDOM(sum <= 0 || sum >= 2047 || exponent == 2047)) {
        if (exponent == 2047)
            return isnan(x) ? as_double(NAN_OF_DOUBLE) : x;
        if (sum >= 2047)
            return copysign(HUGE_VAL, x);
        sum = max(sum, -60);
        return as_double((as_ulong(x) & (SIGN_OF_LONG | FRACTION)) | (ulong)(sum + 64) << 52) * 0x1p-64;
    }
    return as_double((as_ulong(x) & (SIGN_OF_LONG | FRACTION)) | (ulong)sum << 52);
}
LANES2(double, ldexp, double, int)
FOR_VECTORS(LDEXP_SCALAR, double)

/* Parts of numbers. */
double OVERLOAD part_below_one(double x) { return isinf(x) ? copysign(0.0, x) : copysign(x - trunc(x), x); }
double OVERLOAD fract_of(double x)
{
    double result = fmin(x - floor(x), 0x1.fffffffffffffp-1);
    result = isinf(x) ? 0.0 : result;
    return isnan(x) ? as_double(NAN_OF_DOUBLE) : copysign(result, x == 0.0 || isinf(x) ? x : 1.0);
}
LANES1(double, fraction_of, double)
LANES1(int, exponent_of, double)
LANES1(double, part_below_one, double)
LANES1(double, fract_of, double)
FOR_ADDRESS_SPACES(PARTS, double)

/* What is left of a when b is taken away as often as it goes, and the last bits of how often: a bit a step. Both finite,
   b not zero. */
typedef struct {
    double rest;
    uint quotient;
} division;

static inline __attribute__((always_inline)) division divided(double x, double y)
{
    ulong n = (as_ulong(fraction_of(x)) & FRACTION) | (FRACTION + 1);
    ulong d = (as_ulong(fraction_of(y)) & FRACTION) | (FRACTION + 1);
    int steps = exponent_of(x) - exponent_of(y);
    division result = {fabs(x), 0};
    if (steps < 0 || x == 0.0)
        return result;
    for (int step = 0; step <= steps; step++) {
        n = step ? n << 1 : n;
        uint fits = n >= d;
        n -= fits ? d : 0;
        result.quotient = result.quotient << 1 | fits;
    }
    result.rest = ldexp((double)n, exponent_of(y) - 53);
    return result;
}

double ROUTINE fmod(double x, double y)
{
    if (!isfinite(x) || isnan(y) || y == 0.0)
        return as_double(NAN_OF_DOUBLE);
    if (isinf(y))
        return x;
    return copysign(divided(x, y).rest, x);
}
LANES2(double, fmod, double, double)

/* The nearest multiple, of two the even one. What is left of the divisor is exact. */
static inline __attribute__((always_inline)) division rounded_division(double x, double y)
{
    division result = {as_double(NAN_OF_DOUBLE), 0};
    if (!isfinite(x) || isnan(y) || y == 0.0)
        return result;
    if (isinf(y)) {
        result.rest = x;
        return result;
    }
    division d = divided(x, y);
    double size = fabs(y), other = size - d.rest;
    uint up = d.rest > other || (d.rest == other && (d.quotient & 1));
    double rest = up ? -other : d.rest;
    uint quotient = (d.quotient + up) & 0x7f, sign = (uint)(as_ulong(x) >> 63);
    result.rest = as_double(as_ulong(rest) ^ (as_ulong(x) & SIGN_OF_LONG));
    result.quotient = sign != as_ulong(y) >> 63 ? -quotient : quotient;
    return result;
}

double ROUTINE remainder(double x, double y) { return rounded_division(x, y).rest; }
LANES2(double, remainder, double, double)
int ROUTINE remainder_quotient(double x, double y) { return (int)rounded_division(x, y).quotient; }
LANES2(int, remainder_quotient, double, double)
#define REMQUO(space, unused) FOR_WIDTHS(REMQUO_OF, space)
#define REMQUO_OF(n, space) \
    double##n OVERLOAD remquo(double##n x, double##n y, space int##n *quotient) \
    { *quotient = remainder_quotient(x, y); return remainder(x, y); }
FOR_ADDRESS_SPACES(REMQUO, 0)

double ROUTINE hypot(double x, double y)
{
    double large = fmax(fabs(x), fabs(y)), small = fmin(fabs(x), fabs(y));
    if (isinf(x) || isinf(y))
        return HUGE_VAL;
    if (isnan(x) || isnan(y))
        return as_double(NAN_OF_DOUBLE);
    int is_large = large > 0x1p500, is_small = large < 0x1p-400;
    double scale = is_large ? 0x1p-600 : is_small ? 0x1p700 : 1.0, back = is_large ? 0x1p600 : is_small ? 0x1p-700 : 1.0;
    large *= scale;
    small *= scale;
    return sqrt(fma(large, large, small * small)) * back;
}
LANES2(double, hypot, double, double)

/* 6.12.4 */
FOR_WIDTHS(COMMON, double)
FOR_WIDTHS(COMPUTED, double)
FOR_VECTORS(WITH_SCALARS, double)
double OVERLOAD sign(double x) { return x != x ? 0.0 : x == 0.0 ? x : copysign(1.0, x); }
LANES1(double, sign, double)

/* 6.12.5 */
PRODUCTS(double)
double OVERLOAD scale_for(double magnitude)
{
    double scale = magnitude > 0x1p760 ? 0x1p-540 : magnitude > 0x1p500 ? 0x1p-280 : 1.0;
    return magnitude < 0x1p-400 ? 0x1p600 : scale;
}
LENGTHS(double, HUGE_VAL)

/* 6.12.6 */
COMPARISONS(double, long)
/* By the number as an integer; `twice` has no sign any more. */
#define TEST(name, condition) \
    int OVERLOAD name(double a) { ulong x = as_ulong(a), twice = x << 1; return condition; } \
    FOR_VECTORS(TEST_OF, name, condition)
#define TEST_OF(n, name, condition) \
    long##n OVERLOAD name(double##n a) { ulong##n x = as_ulong##n(a), twice = x << 1; return condition; }
TEST(isnan, twice > INFINITE << 1)
TEST(isinf, twice == INFINITE << 1)
TEST(isfinite, twice < INFINITE << 1)
TEST(isnormal, twice - 0x0020000000000000ul < 0xffc0000000000000ul)
TEST(signbit, x >= SIGN_OF_LONG)
FOR_WIDTHS(BITSELECT, double, ulong)
SELECT(double, long) SELECT(double, ulong)

/* 6.2.3. To integers: rounded first; casts give the nearest integer there is. */
#define TO_INTEGER(to, unused, unused_too, bits) \
    to OVERLOAD convert_##to(double x) { return (to)x; } \
    to OVERLOAD convert_##to##_rtz(double x) { return (to)x; } \
    to OVERLOAD convert_##to##_rte(double x) { return (to)rint(x); } \
    to OVERLOAD convert_##to##_rtp(double x) { return (to)ceil(x); } \
    to OVERLOAD convert_##to##_rtn(double x) { return (to)floor(x); } \
    to OVERLOAD convert_##to##_sat(double x) { return (to)x; } \
    to OVERLOAD convert_##to##_sat_rtz(double x) { return (to)x; } \
    to OVERLOAD convert_##to##_sat_rte(double x) { return (to)rint(x); } \
    to OVERLOAD convert_##to##_sat_rtp(double x) { return (to)ceil(x); } \
    to OVERLOAD convert_##to##_sat_rtn(double x) { return (to)floor(x); } \
    CONVERSIONS_OF_LANES(to, , double) CONVERSIONS_OF_LANES(to, _sat, double)
FOR_INTEGERS(TO_INTEGER)

float __attribute__((overloadable)) nextafter(float x, float y);
/* To a number that `x` may lie beside: one unit to the other side where the nearest one is beyond it. */
#define DIRECTED(to, from, beyond, below) \
    to OVERLOAD convert_##to(from x) { return (to)x; } \
    to OVERLOAD convert_##to##_rte(from x) { return (to)x; } \
    to OVERLOAD convert_##to##_rtn(from x) { to r = (to)x; return beyond ? nextafter(r, (to)-HUGE_VAL) : r; } \
    to OVERLOAD convert_##to##_rtp(from x) { to r = (to)x; return below ? nextafter(r, (to)HUGE_VAL) : r; } \
    to OVERLOAD convert_##to##_rtz(from x) { return x < 0 ? convert_##to##_rtp(x) : convert_##to##_rtn(x); } \
    CONVERSIONS_OF_LANES(to, , from)
#define EXACTLY(to, from) DIRECTED(to, from, 0, 0)
EXACTLY(double, char) EXACTLY(double, uchar) EXACTLY(double, short) EXACTLY(double, ushort) EXACTLY(double, int)
EXACTLY(double, uint) EXACTLY(double, double) EXACTLY(double, float)
DIRECTED(double, long, r >= 0x1p63 || (long)r > x, r < 0x1p63 && (long)r < x)
DIRECTED(double, ulong, r >= 0x1p64 || (ulong)r > x, r < 0x1p64 && (ulong)r < x)
DIRECTED(float, double, (double)r > x, (double)r < x)

/* 6.12.7: doubles as halves in memory. By a float that is rounded in the same direction, or to odd, so that it is
   rounded once. */
float OVERLOAD odd_float(double x)
{
    float nearest = (float)x, cut = convert_float_rtz(x);
    return isnan(nearest) || (double)nearest == x ? nearest : as_float(as_uint(cut) | 1);
}
LANES1(float, odd_float, double)
#define HALF(n, mode) ushort##n __attribute__((overloadable)) half_##mode(float##n x);
FOR_WIDTHS(HALF, rte) FOR_WIDTHS(HALF, rtz) FOR_WIDTHS(HALF, rtp) FOR_WIDTHS(HALF, rtn)
#define STORE_HALF(space, suffix, mode, rounded) \
    void OVERLOAD vstore_half##suffix(double x, size_t n, space half *p) \
    { ((space ushort *)p)[n] = half_##mode(rounded(x)); } \
    FOR_VECTORS(STORE_HALF_VECTOR, space, suffix, mode, rounded) \
    void OVERLOAD vstorea_half3##suffix(double3 x, size_t n, space half *p) \
    { vstore3(half_##mode(rounded(x)), 0, (space ushort *)p + n * 4); }
#define STORE_HALF_VECTOR(n, space, suffix, mode, rounded) \
    void OVERLOAD vstore_half##n##suffix(double##n x, size_t at, space half *p) \
    { vstore##n(half_##mode(rounded(x)), at, (space ushort *)p); } \
    STORE_ALIGNED_##n(n, space, suffix)
#define STORE_ALIGNED(n, space, suffix) \
    void OVERLOAD vstorea_half##n##suffix(double##n x, size_t at, space half *p) { vstore_half##n##suffix(x, at, p); }
#define STORE_ALIGNED_2 STORE_ALIGNED
#define STORE_ALIGNED_3(n, space, suffix)
#define STORE_ALIGNED_4 STORE_ALIGNED
#define STORE_ALIGNED_8 STORE_ALIGNED
#define STORE_ALIGNED_16 STORE_ALIGNED
#define STORE_HALF_MODES(space, unused) \
    STORE_HALF(space, , rte, odd_float) STORE_HALF(space, _rte, rte, odd_float) \
    STORE_HALF(space, _rtz, rtz, convert_float_rtz) STORE_HALF(space, _rtp, rtp, convert_float_rtp) \
    STORE_HALF(space, _rtn, rtn, convert_float_rtn)
FOR_ADDRESS_SPACES(STORE_HALF_MODES, 0)

/* 6.12.7, 6.12.10, 6.12.12 */
VECTOR_DATA(double)
FOR_WIDTHS(PREFETCH, double)
SHUFFLE(double, ulong)
COPIES_OF(double)
