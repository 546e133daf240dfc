/* Binary16 numbers, which are computed with as floats: these have more than twice as many bits and two, so that what is
   rounded to a float first is the same rounded to a half. */

#include "float.h"

uint fgpu_half_to_float(uint x)
{
    uint magnitude = x & 0x7fff, sign = x << 16 & SIGN;
    uint normal = (magnitude << 13) + (112u << 23);
    /* Subnormal numbers are multiples of 2^-24. */
    uint value = magnitude << 20;
    uint places = brought_up(&value, 30);
    uint subnormal = ((112 - places) << 23) + (value >> 7);
    uint result = magnitude < 0x400 ? subnormal : normal;
    result = magnitude >= 0x7c00 ? INFINITE : result;
    result = magnitude == 0 ? 0 : result;
    return magnitude > 0x7c00 ? CANONICAL_NAN : result | sign;
}

uint fgpu_half_from_float(uint x)
{
    uint magnitude = x & ~SIGN, sign = x >> 16 & 0x8000;
    uint is_small = magnitude < 113u << 23;
    /* The bits below the last one of the result; for subnormal numbers more. */
    uint places = is_small ? min(126 - (magnitude >> 23), 31u) : 13;
    uint significand = is_small ? (magnitude & 0x7fffff) | 0x800000 : magnitude - (112u << 23);
    uint result = (significand + (((1u << places) - 1) >> 1) + (significand >> places & 1)) >> places;
    result = min(result, 0x7c00u);
    return magnitude > INFINITE ? 0x7e00 : result | sign;
}
