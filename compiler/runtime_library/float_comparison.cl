/* Comparisons, which give 1 or 0, and the smaller and the larger of two numbers. */

#include "float.h"

/* As signed integers, numbers are in order once those that are both negative are complemented,
   but for the zeros. The larger magnitude tells whether there is a NaN, and whether both are zeros. */
INLINE uint larger_magnitude(uint a, uint b) { return max(a << 1, b << 1); }

INLINE int is_before(uint a, uint b)
{
    uint negative = (uint)((int)(a & b) >> 31);
    return (int)(a ^ negative) < (int)(b ^ negative);
}

uint fgpu_float_unordered(uint a, uint b) { return larger_magnitude(a, b) > INFINITE_2; }

uint fgpu_float_less(uint a, uint b) { return is_before(a, b) & (larger_magnitude(a, b) - 1 < INFINITE_2); }

uint fgpu_float_less_of_numbers(uint a, uint b) { return is_before(a, b) & ((a | b) << 1 != 0); }

uint fgpu_float_less_or_equal(uint a, uint b)
{
    uint larger = larger_magnitude(a, b);
    return ((is_before(b, a) ^ 1) | (larger == 0)) & (larger <= INFINITE_2);
}

/* The same by unsigned numbers in the same order, which takes less for all comparisons with a number but the first:
   -infinity is zero, and NaN are more than infinity. */
INLINE uint rank_of(uint x) { return (int)x < 0 ? 0xff800000u - x : x + 0x7f800000u; }

uint fgpu_float_less_in_rank(uint a, uint b) { return (rank_of(a) < rank_of(b)) & (rank_of(b) <= INFINITE_2); }

uint fgpu_float_less_or_equal_in_rank(uint a, uint b)
{ return (rank_of(a) <= rank_of(b)) & (rank_of(b) <= INFINITE_2); }

/* Words that are equal and no NaN, or zeros: then there is nothing but signs in either. */
uint fgpu_float_equal(uint a, uint b) { return (a | b) << 1 <= (a == b ? INFINITE_2 : 0); }

uint fgpu_float_less_or_greater(uint a, uint b) { return (a != b) & (larger_magnitude(a, b) - 1 < INFINITE_2); }

/* The smaller and the larger number; of a number and a NaN the number. */
uint fgpu_float_min(uint a, uint b)
{
    uint result = is_before(a, b) ? a : b;
    result = is_nan(b) ? a : result;
    result = is_nan(a) ? b : result;
    return is_nan(result) ? CANONICAL_NAN : result;
}

uint fgpu_float_max(uint a, uint b)
{
    uint result = is_before(b, a) ? a : b;
    result = is_nan(b) ? a : result;
    result = is_nan(a) ? b : result;
    return is_nan(result) ? CANONICAL_NAN : result;
}
