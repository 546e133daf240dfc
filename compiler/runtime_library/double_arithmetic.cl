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

/* Of two significands, with the sum of the exponents, which may be any, and the sign. */
RARE ulong fgpu_double_product(ulong a, ulong b, int exponents, uint sign)
{
    long_product all = multiplied(a << 11, b << 10);
    uint short_of = (high(all.high) >> 30 & 1) ^ 1;
    ulong significand = short_of ? all.high << 1 | all.low >> 63 : all.high;
    ulong below = short_of ? all.low << 1 : all.low;
    return rounded(significand | (below != 0), exponents - 1023 - (int)short_of) | together(sign, 0);
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
    parts x = any_parts(a), y = any_parts(b);
    return fgpu_double_product(x.significand, y.significand, x.exponent + y.exponent, high(sign));
}

ulong fgpu_double_mul(ulong a, ulong b)
{
    if (SELDOM(is_special(exponent_of(a)) | is_special(exponent_of(b))))
        return fgpu_double_mul_any(a, b);
    return fgpu_double_product((a & FRACTION) | HIDDEN, (b & FRACTION) | HIDDEN, exponent_of(a) + exponent_of(b),
                               high((a ^ b) & SIGN));
}

/* Ten bits of the quotient a step, by a reciprocal of the divisor's upper 16 bits that is never too large. A digit is
   less than one and a third too small, so what is left is less than twice the divisor, for which the next digit makes
   up. */
RARE ulong fgpu_double_quotient(ulong dividend, ulong divisor, int exponents, uint sign)
{
    ulong rest = dividend, digits = 0;
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
    return rounded(digits << (2 + less) | (exact ^ 1), exponents + 1022 - (int)less)
           | together(sign, 0);
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
    parts x = any_parts(a), y = any_parts(b);
    return fgpu_double_quotient(x.significand, y.significand, x.exponent - y.exponent, high(sign));
}

ulong fgpu_double_div(ulong a, ulong b)
{
    if (SELDOM(is_special(exponent_of(a)) | is_special(exponent_of(b))))
        return fgpu_double_div_any(a, b);
    return fgpu_double_quotient((a & FRACTION) | HIDDEN, (b & FRACTION) | HIDDEN, exponent_of(a) - exponent_of(b),
                                high((a ^ b) & SIGN));
}

/* Ten bits of the root a step, from fifteen by the reciprocal root of the number's upper 16 bits (as for floats), made
   small enough that no digit is too large. What is left of the number when the root's square is taken away stands for
   as many bits below the point as that needs; in the end the root is too small by one at most. A root is never half way
   between two numbers. */
INLINE uint reciprocal_root_step(uint y, uint v) { return y * ((0xc0000000u - v * (y * y >> 16)) >> 16) >> 15; }

#define NEXT_DIGITS(places, more, by) \
    digit = (uint)(rest >> (places)) * inverse >> 17; \
    rest = (rest << (more)) - (root * digit << (by)) - ((ulong)(digit * digit) << ((by) - 11)); \
    root = (root << 10) + digit;

ulong fgpu_double_sqrt(ulong a)
{
    int exponent = exponent_of(a);
    ulong significand = (a & FRACTION) | HIDDEN;
    if (SELDOM(is_special(exponent) | (uint)(a >> 63))) {
        /* Neither positive nor normal. */
        if (magnitude_of(a) == 0 || a == INFINITE)
            return a;
        if (a >= INFINITE)
            return CANONICAL_NAN;
        parts p = any_parts(a);
        exponent = p.exponent;
        significand = p.significand;
    }
    uint odd = (uint)exponent & 1;
    /* Between 1 and 4, with 62 bits below the point. */
    ulong number = significand << (11 - odd);
    uint upper = high(number) >> 16;
    uint inverse = 68000 - (upper * 20000 >> 15);
    inverse = reciprocal_root_step(reciprocal_root_step(reciprocal_root_step(inverse, upper), upper), upper) - 4;
    ulong root = upper * inverse >> 15;
    ulong rest = (number >> 10) - (root * root << 22);
    uint digit;
    NEXT_DIGITS(27, 0, 13)
    NEXT_DIGITS(17, 18, 11)
    NEXT_DIGITS(25, 20, 11)
    NEXT_DIGITS(35, 20, 11)
    if (rest > root << 1) {
        rest -= (root << 1) + 1;
        root++;
    }
    return rounded(root << 7 | (rest != 0), ((exponent + 1023 - (int)(odd ^ 1)) >> 1) - 1);
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
