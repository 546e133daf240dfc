/* Binary64 numbers to and from integers and other floats, and rounding to integers. */

#include "double.h"

/* Conversions from integers. */
ulong fgpu_double_from_uint(uint x)
{
    uint zeros = x == 0 ? 0 : (uint)__builtin_clz(x);
    uint significand = x << zeros;
    ulong result = together((1022 + 31 - zeros) << 20, 0) + ((ulong)significand << 21);
    return x == 0 ? 0 : result;
}

ulong fgpu_double_from_int(uint x)
{
    uint sign = (uint)((int)x >> 31);
    return fgpu_double_from_uint((x ^ sign) - sign) | (ulong)(sign << 31) << 32;
}

ulong fgpu_double_from_ulong(ulong x)
{
    uint zeros = zeros_above(x);
    ulong significand = x << (zeros & 63);
    ulong result = rounded(significand >> 1 | (significand & 1), 1022 + 63 - (int)zeros);
    return x == 0 ? 0 : result;
}

ulong fgpu_double_from_long(ulong x)
{
    ulong sign = (ulong)((long)x >> 63);
    return fgpu_double_from_ulong((x ^ sign) - sign) | (sign & SIGN);
}

/* To integers: out of range the nearest that there is; of a NaN zero. */
INLINE ulong whole_part(ulong x)
{
    uint places = (uint)(1023 + 63 - exponent_of(x));
    ulong significand = x << 11 | SIGN;
    return places > 63 ? 0 : significand >> places;
}

ulong fgpu_double_to_ulong(ulong x)
{
    ulong result = exponent_of(x) >= 1023 + 64 ? ~0ul : whole_part(x);
    return ((long)x < 0) | is_nan(x) ? 0 : result;
}

ulong fgpu_double_to_long(ulong x)
{
    ulong sign = (ulong)((long)x >> 63);
    ulong result = exponent_of(x) >= 1023 + 63 ? (SIGN - 1) - sign : whole_part(x);
    return is_nan(x) ? 0 : (result ^ sign) - sign;
}

uint fgpu_double_to_uint(ulong x)
{
    uint places = (uint)(1023 + 31 - exponent_of(x));
    uint significand = (uint)(x >> 21) | 0x80000000u;
    uint result = places > 31 ? 0 : significand >> places;
    result = exponent_of(x) >= 1023 + 32 ? ~0u : result;
    return ((long)x < 0) | is_nan(x) ? 0 : result;
}

uint fgpu_double_to_int(ulong x)
{
    uint places = (uint)(1023 + 31 - exponent_of(x)), sign = (uint)((int)high(x) >> 31);
    uint significand = (uint)(x >> 21) | 0x80000000u;
    uint result = places > 31 ? 0 : significand >> places;
    result = exponent_of(x) >= 1023 + 31 ? 0x7fffffffu - sign : result;
    return is_nan(x) ? 0 : (result ^ sign) - sign;
}

/* Floats. Of 31 bits of a significand and one below them that is sticky, so many are rounded away. */
INLINE uint upper_bits(ulong x) { return (uint)(x >> 22 & 0x3fffffff) | 0x40000000 | (((uint)x & 0x3fffff) != 0); }

INLINE uint rounded_away(uint significand, uint places)
{
    significand = places > 31 ? 0 : significand;
    places &= 31;
    uint below = (1u << places) - 1;
    return (significand + (below >> 1) + (significand >> places & 1)) >> places;
}

uint fgpu_double_to_float(ulong x)
{
    int lift = exponent_of(x) - (1023 - 127) - 1;
    uint sign = high(x) & 0x80000000u;
    uint result = rounded_away(upper_bits(x), lift < 0 ? 7 - (uint)lift : 7) + ((uint)max(lift, 0) << 23);
    result = lift >= 254 ? 0x7f800000u : result;
    return is_nan(x) ? 0x7fc00000u : sign | result;
}

uint fgpu_double_to_half(ulong x)
{
    int lift = exponent_of(x) - (1023 - 15) - 1;
    uint sign = high(x) >> 16 & 0x8000;
    uint result = rounded_away(upper_bits(x), lift < 0 ? 20 - (uint)lift : 20) + ((uint)max(lift, 0) << 10);
    result = lift >= 30 ? 0x7c00 : result;
    return is_nan(x) ? 0x7e00 : sign | result;
}

ulong fgpu_double_from_float(uint x)
{
    uint exponent = x << 1 >> 24, fraction = x & 0x7fffff;
    uint zeros = exponent == 0 ? (uint)__builtin_clz(fraction | 1) - 8 : 0;
    uint normal = fraction << zeros & (exponent == 0 ? 0x7fffff : ~0u);
    uint moved = exponent + 1023 - 127 + (exponent == 0) - zeros;
    moved = exponent == 255 ? ALL_EXPONENT : (x << 1) == 0 ? 0 : moved;
    ulong result = together(moved << 20 | (x & 0x80000000u), 0) + ((ulong)normal << 29);
    return (x << 1) > 0xff000000u ? CANONICAL_NAN : result;
}

/* Rounding to integers, as in float_conversion.cl. */
#define ONE 0x3ff0000000000000ul

INLINE ulong bits_below_one(ulong x) { return FRACTION >> ((exponent_of(x) - 1023) & 63); }

INLINE ulong to_integral(ulong x, ulong more, ulong small)
{
    ulong result = (x + more) & ~bits_below_one(x);
    result = exponent_of(x) < 1023 ? (x & SIGN) | small : result;
    result = exponent_of(x) >= 1023 + 52 ? x : result;
    return is_nan(x) ? CANONICAL_NAN : result;
}

ulong fgpu_double_trunc(ulong x) { return to_integral(x, 0, 0); }

ulong fgpu_double_floor(ulong x) { return to_integral(x, x >= SIGN ? bits_below_one(x) : 0, x > SIGN ? ONE : 0); }

ulong fgpu_double_ceil(ulong x)
{ return to_integral(x, x >= SIGN ? 0 : bits_below_one(x), x - 1 < SIGN - 1 ? ONE : 0); }

ulong fgpu_double_round(ulong x)
{ return to_integral(x, (bits_below_one(x) + 1) >> 1, magnitude_of(x) >= 0x3fe0000000000000ul ? ONE : 0); }

ulong fgpu_double_rint(ulong x)
{
    ulong odd = x >> ((1023 + 52 - exponent_of(x)) & 63) & 1;
    return to_integral(x, (bits_below_one(x) >> 1) + odd, magnitude_of(x) > 0x3fe0000000000000ul ? ONE : 0);
}
