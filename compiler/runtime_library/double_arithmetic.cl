/* Sums, products, quotients, roots and fused products and sums of binary64 numbers. */

#include "double.h"

ulong fgpu_double_add(ulong a, ulong b)
{
    ulong larger = magnitude_of(a) < magnitude_of(b) ? b : a, smaller = magnitude_of(a) < magnitude_of(b) ? a : b;
    int exponent = exponent_of(larger), other = exponent_of(smaller);
    /* Subnormal numbers have the exponent of the smallest normal ones, and no leading one. */
    ulong kept = ((larger & FRACTION) | (exponent == 0 ? 0 : HIDDEN)) << 10;
    ulong moved = ((smaller & FRACTION) | (other == 0 ? 0 : HIDDEN)) << 10;
    exponent += exponent == 0;
    other += other == 0;
    moved = moved_right(moved, (uint)(exponent - other));
    uint opposite = high(a ^ b) >> 31;
    ulong flip = (ulong)(long)-(int)opposite;
    ulong sum = kept + ((moved ^ flip) - flip);
    if (SELDOM(exponent == ALL_EXPONENT)) {
        if (is_nan(larger) || (opposite && magnitude_of(smaller) == INFINITE))
            return CANONICAL_NAN;
        return larger;
    }
    uint zeros = zeros_above(sum);
    int lift = exponent - (int)zeros;
    ulong normal = zeros == 0 ? sum >> 1 | (sum & 1) : sum << ((zeros - 1) & 63);
    if (SELDOM(sum == 0))
        return opposite ? 0 : larger & SIGN;
    return rounded(normal, lift) | (larger & SIGN);
}

INLINE ulong product(parts a, parts b, ulong sign)
{
    long_product all = multiplied(a.significand << 11, b.significand << 10);
    uint short_of = (high(all.high) >> 30 & 1) ^ 1;
    ulong significand = short_of ? all.high << 1 | all.low >> 63 : all.high;
    ulong below = short_of ? all.low << 1 : all.low;
    int lift = a.exponent + b.exponent - 1023 - (int)short_of;
    return rounded(significand | (below != 0), lift) | sign;
}

RARE ulong fgpu_double_mul_any(ulong a, ulong b)
{
    ulong sign = (a ^ b) & SIGN;
    ulong larger = max(magnitude_of(a), magnitude_of(b)), smaller = min(magnitude_of(a), magnitude_of(b));
    if (larger > INFINITE || (larger == INFINITE && smaller == 0))
        return CANONICAL_NAN;
    if (larger == INFINITE)
        return sign | INFINITE;
    if (smaller == 0)
        return sign;
    return product(any_parts(a), any_parts(b), sign);
}

ulong fgpu_double_mul(ulong a, ulong b)
{
    if (SELDOM(is_special(exponent_of(a)) | is_special(exponent_of(b))))
        return fgpu_double_mul_any(a, b);
    return product(normal_parts(a), normal_parts(b), (a ^ b) & SIGN);
}

/* Ten bits of the quotient a step, by a reciprocal of the divisor's upper 16 bits that is never too large. A digit is
   less than one and a third too small, so what is left is less than twice the divisor, for which the next digit makes
   up. */
INLINE ulong quotient(parts a, parts b, ulong sign)
{
    ulong divisor = b.significand, rest = a.significand, digits = 0;
    uint inverse = reciprocal_of((uint)(divisor >> 21));
    _Pragma("unroll 1")
    for (int step = 0; step != 6; step++) {
        rest <<= 10;
        uint digit = (high(rest) >> 16) * inverse >> 20;
        rest -= digit * divisor;
        digits = (digits << 10) + digit;
    }
    digits += rest >= divisor;
    uint exact = (rest == 0) | (rest == divisor);
    uint less = (high(digits) >> 28) ^ 1;
    return rounded(digits << (2 + less) | (exact ^ 1), a.exponent - b.exponent + 1022 - (int)less) | sign;
}

RARE ulong fgpu_double_div_any(ulong a, ulong b)
{
    ulong sign = (a ^ b) & SIGN, n = magnitude_of(a), d = magnitude_of(b);
    if (n > INFINITE || d > INFINITE || (n == d && (n == 0 || n == INFINITE)))
        return CANONICAL_NAN;
    if (n == INFINITE || d == 0)
        return sign | INFINITE;
    if (n == 0 || d == INFINITE)
        return sign;
    return quotient(any_parts(a), any_parts(b), sign);
}

ulong fgpu_double_div(ulong a, ulong b)
{
    if (SELDOM(is_special(exponent_of(a)) | is_special(exponent_of(b))))
        return fgpu_double_div_any(a, b);
    return quotient(normal_parts(a), normal_parts(b), (a ^ b) & SIGN);
}

/* A bit of the root a step: the rest is what the root's square lacks. A root is never half way between two numbers. */
ulong fgpu_double_sqrt(ulong a)
{
    if (magnitude_of(a) == 0 || a == INFINITE)
        return a;
    if (a >= INFINITE)
        return CANONICAL_NAN;
    parts p = any_parts(a);
    uint odd = (uint)p.exponent & 1;
    /* Between 1 and 4, two bits before the point, which come out at the top two at a time. */
    ulong number = p.significand << (11 - odd), rest = 0, root = 0;
    _Pragma("unroll 1")
    for (int step = 0; step != 55; step++) {
        rest = rest << 2 | number >> 62;
        number <<= 2;
        ulong trial = root << 2 | 1;
        uint fits = rest >= trial;
        rest = fits ? rest - trial : rest;
        root = root << 1 | fits;
    }
    return rounded(root << 8 | (rest != 0), (p.exponent + 1023 - (int)(odd ^ 1)) / 2 - 1);
}

/* 128 bits moved right, with what is lost as the lowest one. */
INLINE long_product moved_far(long_product x, uint places)
{
    places = min(places, 127u);
    uint far = places >> 6;
    ulong low = far ? x.high : x.low, upper = far ? 0 : x.high;
    uint lost = far & (x.low != 0);
    places &= 63;
    ulong from_above = upper << 1 << (63 - places);
    lost |= low >> places << places != low;
    long_product result = {upper >> places, low >> places | from_above | lost};
    return result;
}

ulong fgpu_double_fma(ulong a, ulong b, ulong c)
{
    ulong product_sign = (a ^ b) & SIGN, larger = max(magnitude_of(a), magnitude_of(b));
    ulong smaller = min(magnitude_of(a), magnitude_of(b));
    if (SELDOM(max(larger, magnitude_of(c)) >= INFINITE)) {
        if (larger > INFINITE || is_nan(c) || (larger == INFINITE && smaller == 0))
            return CANONICAL_NAN;
        if (larger == INFINITE)
            return magnitude_of(c) == INFINITE && (c & SIGN) != product_sign ? CANONICAL_NAN : product_sign | INFINITE;
        return c;
    }
    parts x = any_parts(a), y = any_parts(b), z = any_parts(c);
    /* Both with the leading one at bit 126, or the product at 125. */
    long_product product = multiplied(x.significand << 11, y.significand << 10);
    long_product other = {z.significand << 10, 0};
    int exponent = smaller == 0 ? -5000 : x.exponent + y.exponent - 1022;
    int other_exponent = magnitude_of(c) == 0 ? -5000 : z.exponent;
    int difference = exponent - other_exponent;
    uint swap = difference < 0;
    long_product kept = swap ? other : product;
    long_product moved = moved_far(swap ? product : other, (uint)(swap ? -difference : difference));
    exponent = swap ? other_exponent : exponent;
    ulong kept_sign = swap ? c & SIGN : product_sign, moved_sign = swap ? product_sign : c & SIGN;
    uint opposite = kept_sign != moved_sign;
    ulong flip = opposite ? ~0ul : 0;
    ulong addend = moved.low ^ flip;
    ulong low = kept.low + addend;
    ulong carry = low < addend;
    ulong upper = kept.high + (moved.high ^ flip) + carry;
    low += opposite;
    upper += opposite & (low == 0);
    uint negative = opposite & (uint)(upper >> 63);
    ulong back = negative ? ~0ul : 0;
    low = (low ^ back) + negative;
    upper = (upper ^ back) + (negative & (low == 0));
    ulong sign = kept_sign ^ (negative ? SIGN : 0);
    if ((upper | low) == 0)
        return opposite ? 0 : sign;
    uint whole = upper == 0;
    ulong first = whole ? low : upper, second = whole ? 0 : low;
    uint zeros = zeros_above(first);
    /* To bit 63, then to bit 62. */
    first = first << zeros | second >> 1 >> (63 - zeros);
    second <<= zeros;
    first = first >> 1 | ((first & 1) | (second != 0));
    return rounded(first, exponent - (int)(zeros + (whole ? 64 : 0))) | sign;
}
