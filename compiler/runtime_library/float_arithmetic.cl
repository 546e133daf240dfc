/* Sums, products, quotients and roots. */

#include "float.h"

/* Sum of a larger and a smaller number. */

RARE uint fgpu_float_add_any(uint a, uint b)
{
    uint large = a << 1, small = b << 1;
    if (large >= INFINITE_2)
        return large + ((a ^ b) == SIGN) > INFINITE_2 ? CANONICAL_NAN : a;
    if (small == 0)
        return large == 0 ? a & b : a;
    /* Subnormal numbers have the exponent of the smallest normal ones, but no leading one. */
    int exponent = (int)(large >> 24), other = (int)(small >> 24);
    uint x = (large & 0xffffff) << 5 | (uint)(exponent != 0) << 29;
    uint y = (small & 0xffffff) << 5 | (uint)(other != 0) << 29;
    exponent = max(exponent, 1);
    other = max(other, 1);
    uint part = moved_right(y, (uint)(exponent - other));
    uint opposite = (uint)((int)(a ^ b) >> 31);
    uint sum = x + ((part ^ opposite) - opposite);
    uint places = min(places_to_go(sum), (uint)exponent);
    uint result = rounded(sum << places, exponent - (int)places) | (a & SIGN);
    return sum == 0 ? 0 : result;
}

/* The sum of two numbers that nearly cancel, which is exact: its leading one is below bit 27. */
INLINE uint cancelled(uint sum, uint top)
{
    if (sum == 0)
        return 0;
    while (sum >> 19 == 0) {
        sum <<= 8;
        top -= 8;
    }
    BRING_UP(sum, 23, far);
    uint near = PLACES_IN_FOUR(sum >> 23);
    return ((top - 4 - far - near) << 23) + (sum << near >> 3);
}

uint fgpu_float_add(uint a, uint b)
{
    uint differ = a ^ b;
    uint large = a << 1 < b << 1 ? b : a, small = large ^ differ;
    /* Sign and exponent. From 2^-97 on what is added may be zero or subnormal: it is too small to matter. */
    uint top = large >> 23, next = top + 2;
    if (SELDOM((next & 0xe0) == 0))
        return fgpu_float_add_any(large, small);
    uint places = next - (small >> 23);
    /* 1, or -1 for a difference. */
    uint way = opaque((uint)((int)differ >> 31 | 1)), one = way << 31;
    uint y = small << 8 | one;
    uint part = y >> (places & 31);
    part |= part << (places & 31) < y;
    part = places & 0xe0 ? 0 : part;
    uint sum = ((large << 8 | one) >> 2) + part * way;
    /* Up to seven places to the left. */
    BRING_UP(sum, 27, far);
    uint upper = sum >> 27;
    if (SELDOM(upper == 0))
        return cancelled(sum, top - far);
    uint near = PLACES_IN_FOUR(upper);
    sum <<= near;
    return ((top - far - near) << 23) + ((sum + 63 + (sum >> 7 & 1)) >> 7);
}

RARE uint fgpu_float_mul_any(uint a, uint b)
{
    uint sign = (a ^ b) & SIGN;
    uint large = max(a << 1, b << 1), small = min(a << 1, b << 1);
    if (large >= INFINITE_2)
        return large + (small == 0) > INFINITE_2 ? CANONICAL_NAN : sign | INFINITE;
    if (small == 0)
        return sign;
    uint am = any_significand_of(a), bm = any_significand_of(b);
    /* 28 bits by 28, in halves of 14; the upper 28 bits of the product, and whether there is anything below. */
    uint al = am >> 4 & 0x3fff, ah = am >> 18, bl = bm >> 4 & 0x3fff, bh = bm >> 18;
    uint low = al * bl;
    uint middle = ah * bl + al * bh + (low >> 14);
    uint high = ah * bh + (middle >> 14);
    uint carry = high >> 27;
    uint product = high << (carry ^ 1) << 3 | (((middle | low) & 0x3fff) != 0);
    return rounded(product, any_exponent_of(a) + any_exponent_of(b) - 128 + (int)carry) | sign;
}

/* The upper 27 bits of a product, rounded. What is half way between two numbers goes up from an odd one, and if there
   is anything `below`, of which all multiples of 1024 do. */
INLINE uint rounded_product(uint product, uint top, uint below)
{
    uint up = opaque((product & 8) + below) != 0;
    return top + ((product + 3 + up) >> 3);
}

uint fgpu_float_mul(uint a, uint b)
{
    /* Exponents from 64 to 191, not both at the end: so is the product's in range. */
    uint at = (a >> 23) + 64, bt = (b >> 23) - 192;
    if (SELDOM(((at & bt) & 255) - 128 >= 126))
        return fgpu_float_mul_any(a, b);
    /* 24 bits by 24 in parts of 10 and 14: the upper 28 bits of the product. */
    uint al = a & 0x3ff, ah = (a >> 10 | 0x2000) & 0x3fff, bl = b & 0x3ff, bh = (b >> 10 | 0x2000) & 0x3fff;
    uint middle = (al * bl >> 10) + ah * bl + al * bh;
    uint high = (middle >> 10) + ah * bh;
    uint carry = high >> 27;
    return rounded_product(high >> carry, (at + bt + carry) << 23, (a << 10) * b);
}

/* By itself: half of it is known. */
uint fgpu_float_square(uint a)
{
    uint at = (a >> 23) - 64;
    if (SELDOM((at & 255) >= 127))
        return fgpu_float_mul_any(a, a);
    uint al = a & 0x3ff, ah = (a >> 10 | 0x2000) & 0x3fff;
    uint middle = (al * al >> 10) + ah * (al << 1);
    uint high = (middle >> 10) + ah * ah;
    uint carry = high >> 27;
    return rounded_product(high >> carry, (at + at + carry) << 23, (a << 10) * a);
}

/* By a power of two from 2^-63 to 2^63, whose exponent field less 127 is given. */
uint fgpu_float_scale(uint a, uint exponent)
{
    if (SELDOM(((a >> 23) + 64 & 128) == 0))
        return fgpu_float_mul_any(a, (exponent + 127) << 23);
    return a + (exponent << 23);
}

/* Division in two digits by the reciprocal of the upper 16 bits of the divisor. The quotients are never too large, the
   first by less than 6 units, the second by less than one and a half, which the remainder tells. A quotient is never
   half way between two numbers, unless it is subnormal. */
RARE uint fgpu_float_div_any(uint a, uint b)
{
    uint sign = (a ^ b) & SIGN, a2 = a << 1, b2 = b << 1;
    uint to_zero = (a2 == 0) | (b2 >= INFINITE_2), to_infinity = (b2 == 0) | (a2 >= INFINITE_2);
    if (to_zero | to_infinity)
        return (to_zero & to_infinity) | (max(a2, b2) > INFINITE_2) ? CANONICAL_NAN
               : sign | (to_zero ? 0 : INFINITE);
    uint am = any_significand_of(a), bm = any_significand_of(b);
    uint n = am >> 8, d = bm >> 8, r = reciprocal_of(bm);
    uint less = n < d;
    n <<= less;
    uint quotient = (n >> 9) * r >> 16;
    uint rest = (n << 14) - quotient * d;
    uint digit = (rest >> 10) * r >> 18;
    rest = (rest << 11) - digit * d;
    quotient = (quotient << 11) + digit;
    for (int correction = 0; correction < 2; correction++) {
        uint fits = rest < d;
        quotient += fits ^ 1;
        rest = fits ? rest : rest - d;
    }
    quotient = quotient << 5 | (rest != 0);
    return rounded(quotient, any_exponent_of(a) - any_exponent_of(b) + 126 - (int)less) | sign;
}

uint fgpu_float_div(uint a, uint b)
{
    /* As for a product with the reciprocal. */
    uint at = (a >> 23) + 64, bt = (b >> 23 ^ 511) - 450;
    if (SELDOM(((at & bt) & 255) - 128 >= 126))
        return fgpu_float_div_any(a, b);
    uint one = opaque(SIGN), am = a << 8 | one, bm = b << 8 | one;
    uint more = am > bm;
    uint n = am >> (opaque(more) + 7), d = bm >> 8, minus_d = -d, r = reciprocal_of(bm);
    uint quotient = (n >> 9) * r >> 16;
    uint rest = (n << 14) + quotient * minus_d;
    uint digit = (rest >> 10) * r >> 20;
    rest = (rest << 9) + digit * minus_d;
    quotient = (quotient << 9) + digit + (rest << 1 > d);
    return ((at + bt + more) << 23) + quotient;
}

/* The root of v, 32 bits with two before the point, in two digits by the reciprocal root of its upper 16 bits (found
   by Newton's iteration from a line that fits all). It is too large by less than half a unit or too small by less
   than one and a half, which the remainder tells. A root is never half way between two numbers. */
INLINE uint reciprocal_root_step(uint y, uint v) { return y * ((0xc0000000u - v * (y * y >> 16)) >> 16) >> 15; }

uint fgpu_float_sqrt(uint a)
{
    int exponent = (int)(a >> 23);
    uint significand = significand_of(a);
    if (SELDOM(is_special(exponent))) {
        /* Neither positive nor normal. */
        if ((a << 1 == 0) | (a >= INFINITE))
            return (a << 1 == 0) | (a == INFINITE) ? a : CANONICAL_NAN;
        exponent = any_exponent_of(a);
        significand = any_significand_of(a);
    }
    uint v = significand >> (exponent & 1), upper = v >> 16;
    uint y = 68000 - (upper * 20000 >> 15);
    y = reciprocal_root_step(reciprocal_root_step(reciprocal_root_step(y, upper), upper), upper);
    uint root = upper * y >> 15;
    int rest = (int)(v - root * root);
    root = (root << 8) + (uint)((rest >> 4) * (int)y >> 20);
    rest = (int)((v << 16) - root * root);
    root += rest > (int)root;
    return (opaque((uint)(exponent + 125) >> 1) << 23) + root;
}

/* The sum of a product that is not rounded and a number, in 64 bits, high and low word; what is below is sticky. The
   product's leading one is at bit 61 or 62, the addend's at 62, before the smaller one moves right. */
uint fgpu_float_fma(uint a, uint b, uint c)
{
    int ae = exponent_of(a), be = exponent_of(b), ce = exponent_of(c);
    uint am = significand_of(a), bm = significand_of(b), cm = significand_of(c);
    int zero_product = 0;
    if (SELDOM(is_special(ae) | is_special(be) | is_special(ce))) {
        uint large = max(a << 1, b << 1), small = min(a << 1, b << 1), c2 = c << 1;
        zero_product = small == 0;
        if (max(large, c2) >= INFINITE_2) {
            uint is_wrong = (large > INFINITE_2) | (c2 > INFINITE_2) | ((large == INFINITE_2) & (small == 0))
                            | ((large == INFINITE_2) & (c2 == INFINITE_2) & ((a ^ b ^ c) >> 31));
            uint result = large == INFINITE_2 ? ((a ^ b) & SIGN) | INFINITE : c;
            return is_wrong ? CANONICAL_NAN : result;
        }
        ae = any_exponent_of(a);
        am = any_significand_of(a);
        be = any_exponent_of(b);
        bm = any_significand_of(b);
        ce = any_exponent_of(c);
        cm = any_significand_of(c);
    }
    uint high = mul_hi(am, bm >> 1), low = am * (bm >> 1);
    uint other_high = cm >> 1, other_low = 0;
    int exponent = zero_product ? -1000 : ae + be - 126;
    int difference = exponent - ce;
    /* The part with the larger exponent stays. */
    uint swap = difference < 0;
    uint stays_high = swap ? other_high : high, stays_low = swap ? other_low : low;
    uint moves_high = swap ? high : other_high, moves_low = swap ? low : other_low;
    exponent = swap ? ce : exponent;
    uint places = (uint)(swap ? -difference : difference);
    uint far = places > 31;
    uint lost = far ? moves_low : 0;
    moves_low = far ? moves_high : moves_low;
    moves_high = far ? 0 : moves_high;
    places = min(far ? places - 32 : places, 31u);
    uint below = moves_low << 1 << (31 - places);
    moves_low = moves_low >> places | moves_high << 1 << (31 - places);
    moves_high >>= places;
    moves_low |= (lost | below) != 0;
    uint opposite = (uint)((int)(a ^ b ^ c) >> 31);
    uint addend_low = moves_low ^ opposite;
    uint sum_low = stays_low + addend_low;
    uint carry = sum_low < stays_low;
    uint sum_high = stays_high + (moves_high ^ opposite) + carry;
    /* Two's complement takes one more. */
    sum_low -= opposite;
    sum_high += (sum_low == 0) & opposite;
    uint negative = (uint)((int)(sum_high & opposite) >> 31);
    sum_low = (sum_low ^ negative) - negative;
    sum_high = (sum_high ^ negative) + ((sum_low == 0) & negative);
    uint sign = ((swap ? c : a ^ b) ^ negative) & SIGN;
    /* Bit 63 is a carry; with it everything moves right by one, without it left to bit 62. */
    uint top = sum_high >> 31;
    sum_low = sum_low >> top | (sum_high & top) << 31 | (sum_low & top);
    sum_high >>= top;
    exponent += (int)top;
    uint whole = sum_high == 0;
    uint first = whole ? sum_low >> 1 : sum_high;
    uint second = whole ? sum_low << 31 : sum_low;
    places = places_to_go(first);
    uint significand = first << places | second >> 1 >> (31 - places) | ((second << places) != 0);
    int lift = exponent - 1 - (int)(places + (whole ? 31 : 0));
    uint result = rounded(significand, lift) | sign;
    return (first | second) == 0 ? (a ^ b) & c & SIGN : result;
}
