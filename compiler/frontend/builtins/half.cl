/* The functions of chapter 6.12 for half: those for float, whose results are rounded to halves. */
#include "async_copy.h"
#include "common.h"
#include "math_basic.h"
#include "relational.h"
#include "vector_data.h"

#define DECLARED __attribute__((overloadable))
#define WIDE_AND_NARROW(n, unused) \
    float##n OVERLOAD wide(half##n x) { return __builtin_convertvector(x, float##n); } \
    half##n OVERLOAD narrow(float##n x) { return __builtin_convertvector(x, half##n); }
FOR_VECTORS(WIDE_AND_NARROW, 0)
float OVERLOAD wide(half x) { return (float)x; }
half OVERLOAD narrow(float x) { return (half)x; }

/* 6.12.2 */
#define UNARY(n, name) \
    float##n DECLARED name(float##n x); \
    half##n OVERLOAD name(half##n x) { return narrow(name(wide(x))); }
#define BINARY(n, name) \
    float##n DECLARED name(float##n x, float##n y); \
    half##n OVERLOAD name(half##n x, half##n y) { return narrow(name(wide(x), wide(y))); }
#define WITH_INTEGER(n, name) \
    float##n DECLARED name(float##n x, int##n k); \
    half##n OVERLOAD name(half##n x, int##n k) { return narrow(name(wide(x), k)); }
#define ALL(name) FOR_WIDTHS(UNARY, name)
ALL(acos) ALL(acosh) ALL(acospi) ALL(asin) ALL(asinh) ALL(asinpi) ALL(atan) ALL(atanh) ALL(atanpi) ALL(cbrt) ALL(cos)
ALL(cosh) ALL(cospi) ALL(erf) ALL(erfc) ALL(exp) ALL(exp2) ALL(exp10) ALL(expm1) ALL(lgamma) ALL(log) ALL(log2)
ALL(log10) ALL(log1p) ALL(logb) ALL(rsqrt) ALL(sin) ALL(sinh) ALL(sinpi) ALL(tan) ALL(tanh) ALL(tanpi) ALL(tgamma)
ALL(degrees) ALL(radians) ALL(sign)
FOR_WIDTHS(BINARY, atan2) FOR_WIDTHS(BINARY, atan2pi) FOR_WIDTHS(BINARY, fdim) FOR_WIDTHS(BINARY, fmod)
FOR_WIDTHS(BINARY, hypot) FOR_WIDTHS(BINARY, pow) FOR_WIDTHS(BINARY, powr) FOR_WIDTHS(BINARY, remainder)
FOR_WIDTHS(BINARY, maxmag) FOR_WIDTHS(BINARY, minmag)
FOR_WIDTHS(WITH_INTEGER, pown) FOR_WIDTHS(WITH_INTEGER, rootn) FOR_WIDTHS(WITH_INTEGER, ldexp)
FOR_VECTORS(LDEXP_SCALAR, half)

EXACT_FUNCTIONS(half)

/* The product is exact in float, and the sum is rounded to odd there: it is then rounded once. */
half OVERLOAD fma(half x, half y, half z)
{
    float product = (float)x * (float)y, addend = (float)z, sum = product + addend;
    float part = sum - product, lost = (product - (sum - part)) + (addend - part);
    uint word = as_uint(sum);
    uint odd = (lost > 0.0f) == (sum > 0.0f) ? word + 1 : word - 1;
    return (half)as_float(lost != 0.0f && lost == lost && !(word & 1) ? odd : word);
}
LANES3(half, fma, half, half, half)

half OVERLOAD nan(ushort code) { return as_half((ushort)(0x7e00 | (code & 0x1ff))); }
LANES1(half, nan, ushort)

half OVERLOAD nextafter(half x, half y)
{
    short a = as_short(x);
    int up = (x < y) == (a >= 0);
    short next = a + (up ? 1 : -1);
    next = x == 0.0h ? (as_short(y) & (short)0x8000) | 1 : next;
    half result = x == y ? y : as_half(next);
    return x != x || y != y ? x + y : result;
}
LANES2(half, nextafter, half, half)

#define PARTS_OF_FLOATS(n, unused) \
    int##n DECLARED ilogb(float##n x); \
    float##n DECLARED fraction_of(float##n x); \
    int##n DECLARED exponent_of(float##n x); \
    int##n DECLARED remainder_quotient(float##n x, float##n y); \
    float##n DECLARED part_below_one(float##n x); \
    float##n DECLARED fract_of(float##n x); \
    int##n OVERLOAD ilogb(half##n x) { return ilogb(wide(x)); } \
    half##n OVERLOAD fract_of(half##n x) \
    { half##n part = narrow(fract_of(wide(x))), most = 0x1.ffcp-1h; return part > most ? most : part; }
FOR_WIDTHS(PARTS_OF_FLOATS, 0)
#define WITH_POINTERS(space, unused) FOR_WIDTHS(WITH_POINTER, space)
#define WITH_POINTER(n, space) \
    half##n OVERLOAD frexp(half##n x, space int##n *exponent) \
    { *exponent = exponent_of(wide(x)); return narrow(fraction_of(wide(x))); } \
    half##n OVERLOAD modf(half##n x, space half##n *whole) \
    { *whole = trunc(x); return narrow(part_below_one(wide(x))); } \
    half##n OVERLOAD fract(half##n x, space half##n *whole) { *whole = floor(x); return fract_of(x); } \
    half##n OVERLOAD sincos(half##n x, space half##n *cosine) { *cosine = cos(x); return sin(x); } \
    half##n OVERLOAD remquo(half##n x, half##n y, space int##n *quotient) \
    { *quotient = remainder_quotient(wide(x), wide(y)); return remainder(x, y); } \
    float##n DECLARED lgamma_r(float##n x, __private int##n *sign); \
    half##n OVERLOAD lgamma_r(half##n x, space int##n *sign) \
    { int##n of; half##n result = narrow(lgamma_r(wide(x), &of)); *sign = of; return result; }
FOR_ADDRESS_SPACES(WITH_POINTERS, 0)

/* 6.12.4 */
#define BY_FLOATS(n, unused) \
    float##n DECLARED mix(float##n x, float##n y, float##n a); \
    float##n DECLARED smoothstep(float##n from, float##n to, float##n x); \
    half##n OVERLOAD mix(half##n x, half##n y, half##n a) { return narrow(mix(wide(x), wide(y), wide(a))); } \
    half##n OVERLOAD smoothstep(half##n from, half##n to, half##n x) \
    { return narrow(smoothstep(wide(from), wide(to), wide(x))); }
FOR_WIDTHS(COMMON, half)
FOR_WIDTHS(BY_FLOATS, 0)
FOR_VECTORS(WITH_SCALARS, half)

/* 6.12.5 */
#define GEOMETRIC(n) \
    float DECLARED dot(float##n a, float##n b); \
    float DECLARED length(float##n v); \
    float##n DECLARED normalize(float##n v); \
    half OVERLOAD dot(half##n a, half##n b) { return (half)dot(wide(a), wide(b)); } \
    half OVERLOAD length(half##n v) { return (half)length(wide(v)); } \
    half OVERLOAD distance(half##n a, half##n b) { return (half)length(wide(a) - wide(b)); } \
    half##n OVERLOAD normalize(half##n v) { return narrow(normalize(wide(v))); }
GEOMETRIC() GEOMETRIC(2) GEOMETRIC(3) GEOMETRIC(4)
float3 DECLARED cross(float3 a, float3 b);
half3 OVERLOAD cross(half3 a, half3 b) { return narrow(cross(wide(a), wide(b))); }
half4 OVERLOAD cross(half4 a, half4 b) { return (half4)(cross(a.xyz, b.xyz), 0.0h); }

/* 6.12.6 */
COMPARISONS(half, short)
/* By the number as an integer; `magnitude` has no sign. */
#define TEST(name, condition) \
    int OVERLOAD name(half a) { ushort x = as_ushort(a), magnitude = x & 0x7fff; return condition; } \
    FOR_VECTORS(TEST_OF, name, condition)
#define TEST_OF(n, name, condition) \
    short##n OVERLOAD name(half##n a) \
    { ushort##n x = as_ushort##n(a), magnitude = x & (ushort)0x7fff; return condition; }
TEST(isnan, magnitude > (ushort)0x7c00)
TEST(isinf, magnitude == (ushort)0x7c00)
TEST(isfinite, magnitude < (ushort)0x7c00)
TEST(isnormal, (magnitude >= (ushort)0x400) & (magnitude < (ushort)0x7c00))
TEST(signbit, x >= (ushort)0x8000)
FOR_WIDTHS(BITSELECT, half, ushort)
SELECT(half, short) SELECT(half, ushort)

/* 6.2.3. To integers: as the float that it is. */
#define TO_INTEGER(to, unused, unused_too, bits) \
    MODES(to, convert_##to, rint, ceil, floor) MODES(to, convert_##to##_sat, rint, ceil, floor) \
    CONVERSIONS_OF_LANES(to, , half) CONVERSIONS_OF_LANES(to, _sat, half)
#define MODES(to, name, even, up, down) \
    to OVERLOAD name(half x) { return (to)(float)x; } \
    to OVERLOAD name##_rtz(half x) { return (to)(float)x; } \
    to OVERLOAD name##_rte(half x) { return (to)(float)even(x); } \
    to OVERLOAD name##_rtp(half x) { return (to)(float)up(x); } \
    to OVERLOAD name##_rtn(half x) { return (to)(float)down(x); }
FOR_INTEGERS(TO_INTEGER)

/* From floats and integers: these are floats first, rounded in the same direction. */
ushort DECLARED half_rte(float x);
ushort DECLARED half_rtz(float x);
ushort DECLARED half_rtp(float x);
ushort DECLARED half_rtn(float x);
#define TO_HALF(from, to_even, to_zero, to_above, to_below) \
    half OVERLOAD convert_half(from x) { return (half)x; } \
    half OVERLOAD convert_half_rte(from x) { return (half)x; } \
    half OVERLOAD convert_half_rtz(from x) { return as_half(half_rtz(to_zero(x))); } \
    half OVERLOAD convert_half_rtp(from x) { return as_half(half_rtp(to_above(x))); } \
    half OVERLOAD convert_half_rtn(from x) { return as_half(half_rtn(to_below(x))); } \
    CONVERSIONS_OF_LANES(half, , from)
#define INTEGER_TO_HALF(from, unused, unused_too, bits) \
    float DECLARED convert_float_rtz(from x); \
    float DECLARED convert_float_rtp(from x); \
    float DECLARED convert_float_rtn(from x); \
    TO_HALF(from, (float), convert_float_rtz, convert_float_rtp, convert_float_rtn)
FOR_INTEGERS(INTEGER_TO_HALF)
TO_HALF(float, , , , )
float DECLARED convert_float_rtz(double x);
float DECLARED convert_float_rtp(double x);
float DECLARED convert_float_rtn(double x);
TO_HALF(double, , convert_float_rtz, convert_float_rtp, convert_float_rtn)
#define SAME(to, from) \
    to OVERLOAD convert_##to(from x) { return (to)x; } \
    to OVERLOAD convert_##to##_rte(from x) { return (to)x; } \
    to OVERLOAD convert_##to##_rtz(from x) { return (to)x; } \
    to OVERLOAD convert_##to##_rtp(from x) { return (to)x; } \
    to OVERLOAD convert_##to##_rtn(from x) { return (to)x; } \
    CONVERSIONS_OF_LANES(to, , from)
SAME(half, half) SAME(float, half) SAME(double, half)

/* 6.12.7, 6.12.10, 6.12.12 */
VECTOR_DATA(half)
FOR_WIDTHS(PREFETCH, half)
SHUFFLE(half, ushort)
COPIES_OF(half)
