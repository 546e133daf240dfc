/* Comparisons of binary64 numbers, which give 1 or 0, and the smaller and the larger of two. */

#include "double.h"

INLINE ulong larger_magnitude(ulong a, ulong b) { return max(a << 1, b << 1); }
#define INFINITE_2 (INFINITE << 1)

/* As signed integers numbers are in order once those that are both negative are complemented, but for the zeros. */
INLINE uint is_before(ulong a, ulong b)
{
    ulong negative = (ulong)((long)(a & b) >> 63);
    return (long)(a ^ negative) < (long)(b ^ negative);
}

uint fgpu_double_unordered(ulong a, ulong b) { return larger_magnitude(a, b) > INFINITE_2; }

uint fgpu_double_less(ulong a, ulong b) { return is_before(a, b) & (larger_magnitude(a, b) - 1 < INFINITE_2); }

uint fgpu_double_less_or_equal(ulong a, ulong b)
{
    ulong larger = larger_magnitude(a, b);
    return ((is_before(b, a) ^ 1) | (larger == 0)) & (larger <= INFINITE_2);
}

uint fgpu_double_equal(ulong a, ulong b)
{ return ((a == b) & (a << 1 <= INFINITE_2)) | ((a | b) << 1 == 0); }

uint fgpu_double_less_or_greater(ulong a, ulong b) { return (a != b) & (larger_magnitude(a, b) - 1 < INFINITE_2); }

/* Of a number and a NaN the number. */
ulong fgpu_double_min(ulong a, ulong b)
{
    ulong result = is_before(a, b) ? a : b;
    result = is_nan(b) ? a : result;
    result = is_nan(a) ? b : result;
    return is_nan(result) ? CANONICAL_NAN : result;
}

ulong fgpu_double_max(ulong a, ulong b)
{
    ulong result = is_before(b, a) ? a : b;
    result = is_nan(b) ? a : result;
    result = is_nan(a) ? b : result;
    return is_nan(result) ? CANONICAL_NAN : result;
}
