/* To and from integers, and rounding to them. */

#include "float.h"

/* Conversions. Out of range, an integer is the nearest that there is; NaN becomes zero. */
uint fgpu_float_from_uint(uint x)
{
    /* Bit 31 moves down into the sticky one. */
    uint top = x >> 31;
    uint significand = x >> top | (x & top);
    uint places = places_to_go(significand);
    significand <<= places;
    uint magnitude = ((156 + top - places) << 23) + ((significand + 63 + (significand >> 7 & 1)) >> 7);
    return x == 0 ? 0 : magnitude;
}

/* Of 8 and of 16 bits. */
uint fgpu_float_from_uint8(uint x)
{
    uint value = x << 23;
    BRING_UP(value, 27, far);
    uint near = PLACES_IN_FOUR(value >> 27);
    uint result = ((133 - far - near) << 23) + (value << near >> 7);
    return x == 0 ? 0 : result;
}

uint fgpu_float_from_uint16(uint x)
{
    uint value = x << 15, eight = opaque(opaque(value >> 23 == 0) << 3);
    value <<= eight;
    BRING_UP(value, 27, far);
    uint near = PLACES_IN_FOUR(value >> 27);
    uint result = ((141 - eight - far - near) << 23) + (value << near >> 7);
    return x == 0 ? 0 : result;
}

uint fgpu_float_from_int(uint x)
{
    uint sign = (uint)((int)x >> 31);
    return fgpu_float_from_uint((x ^ sign) - sign) | (x & SIGN);
}

uint fgpu_float_to_uint(uint x)
{
    uint exponent = x << 1 >> 24;
    uint places = 158 - exponent;
    uint result = places > 31 ? 0 : (x << 8 | SIGN) >> places;
    result = exponent >= 159 ? ~0u : result;
    return (x >= SIGN) | is_nan(x) ? 0 : result;
}

uint fgpu_float_to_int(uint x)
{
    uint exponent = x << 1 >> 24, sign = (uint)((int)x >> 31);
    uint places = 158 - exponent;
    uint result = places > 31 ? 0 : (x << 8 | SIGN) >> places;
    result = exponent >= 158 ? 0x7fffffffu - sign : result;
    result = is_nan(x) ? 0 : result;
    return (result ^ sign) - sign;
}

/* Rounding to integers. `more` goes to the magnitude before its bits below one are dropped, and may carry into the
   exponent; magnitudes below one become `small`. */
#define ONE 0x3f800000u

INLINE uint bits_below_one(uint x) { return 0x7fffffu >> ((exponent_of(x) - 127) & 31); }

INLINE uint to_integral(uint x, uint more, uint small)
{
    uint result = (x + more) & ~bits_below_one(x);
    result = exponent_of(x) < 127 ? (x & SIGN) | small : result;
    result = exponent_of(x) >= 150 ? x : result;
    return is_nan(x) ? CANONICAL_NAN : result;
}

uint fgpu_float_trunc(uint x) { return to_integral(x, 0, 0); }

uint fgpu_float_floor(uint x) { return to_integral(x, x >= SIGN ? bits_below_one(x) : 0, x > SIGN ? ONE : 0); }

uint fgpu_float_ceil(uint x) { return to_integral(x, x >= SIGN ? 0 : bits_below_one(x), x - 1 < SIGN - 1 ? ONE : 0); }

uint fgpu_float_round(uint x)
{ return to_integral(x, (bits_below_one(x) + 1) >> 1, (x & ~SIGN) >= 0x3f000000 ? ONE : 0); }

/* To even at half way. The bit that tells is the exponent's for 1 to 2. */
uint fgpu_float_rint(uint x)
{
    uint odd = x >> ((150 - exponent_of(x)) & 31) & 1;
    return to_integral(x, (bits_below_one(x) >> 1) + odd, (x & ~SIGN) > 0x3f000000 ? ONE : 0);
}
