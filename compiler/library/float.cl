/* IEEE 754 binary32 in integer instructions: round to nearest even, subnormals in full, one NaN.

   Written for wavefronts: every work-item takes the same way through the code, and what differs is selected.
   What few programs meet is left to functions of their own, called by the work-items that need them: a branch that
   no work-item takes costs one instruction.

   Numbers come as words. Shifted left by one, a word has no sign any more, and magnitudes compare as unsigned
   numbers; shifted right by 23, it is sign and exponent. A result is put together by adding its significand, with the
   leading one, to sign and exponent less one, so a carry goes where it belongs. Significands that are to be rounded
   have their leading one at bit 30 and stand for 24 bits and seven more, the lowest of which is sticky: set if
   anything below is. `lift` is the exponent field less one. */

#define INLINE static inline __attribute__((always_inline))
#define SIGN 0x80000000u
#define INFINITE 0x7f800000u
#define CANONICAL_NAN 0x7fc00000u
#define INFINITE_2 0xff000000u      /* without a sign, shifted left */

/* What it is given, but clang does not know, so that it makes no other constants of it. */
__attribute__((const)) uint fgpu_opaque(uint x);
#define opaque fgpu_opaque

/* Moves a number by four places, which `far` then is, if none of the four bits from `low` on is set, or not. */
#define BRING_UP(x, low, far) uint far = opaque(opaque((x) >> (low) == 0) << 2); x <<= far
/* The places that four bits, one of which is set, must move for the upper one to be set. */
#define PLACES_IN_FOUR(x) (0x55af >> opaque((x) << 1) & 3)

/* The number of places by which a number of at most 31 bits must move left to have a one at bit 30; 31 for zero. */
INLINE uint places_to_go(uint x)
{
    uint sixteen = opaque(opaque(x >> 15 == 0) << 4);
    x <<= sixteen;
    uint eight = opaque(opaque(x >> 23 == 0) << 3);
    x <<= eight;
    BRING_UP(x, 27, far);
    return sixteen + eight + far + PLACES_IN_FOUR(x >> 27);
}

INLINE uint moved_right(uint x, uint places)
{
    places = min(places, 31u);
    uint rest = x >> places;
    return rest | (rest << places != x);
}

#define SELDOM(condition) __builtin_expect(condition, 0)

/* For numbers of any kind; what calls it is for those in the middle of the range. */
#define RARE __attribute__((noinline))

/* The magnitude of a number, rounded. What overflows in rounding has the right exponent by itself. */
INLINE uint rounded(uint significand, int lift)
{
    if (SELDOM((uint)lift >= 254)) {
        if (lift > 0)
            return INFINITE;
        significand = moved_right(significand, (uint)-lift);
        lift = 0;
    }
    return ((uint)lift << 23) + ((significand + 63 + (significand >> 7 & 1)) >> 7);
}

/* The parts of a normal number: exponent field, and significand with its leading one at bit 31. */
INLINE int exponent_of(uint x) { return (int)(x << 1 >> 24); }
INLINE uint significand_of(uint x) { return x << 8 | SIGN; }

/* The same for subnormal numbers too, whose exponents go on below zero. */
INLINE uint missing_places(uint x)
{
    uint subnormal = exponent_of(x) == 0;
    return places_to_go((x & 0x7fffff) << 7) & -subnormal;
}
INLINE int any_exponent_of(uint x)
{ return exponent_of(x) + (exponent_of(x) == 0) - (int)missing_places(x); }
INLINE uint any_significand_of(uint x)
{ return ((x & 0x7fffff) << 8 | (uint)(exponent_of(x) != 0) << 31) << missing_places(x); }

/* Whether a number with that exponent field is something else than normal. */
INLINE int is_special(int exponent) { return (uint)exponent - 1 >= 254; }

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

/* Division in two digits by the reciprocal of the upper 16 bits of the divisor (found by Newton's iteration from a
   line): 1/d - r is at most 1.2e-4 of it. The quotients are never too large, the first by less than 6 units, the
   second by less than one and a half, which the remainder tells. A quotient is never half way between two numbers,
   unless it is subnormal. */
INLINE uint reciprocal_step(uint r, uint minus_d) { return r * (minus_d * r >> 16) >> 15; }

INLINE uint reciprocal_of(uint significand)
{
    uint upper = ~(significand >> 16), r = 96000 + upper;
    return reciprocal_step(reciprocal_step(r, upper), upper);
}

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

/* Comparisons: 1 or 0. As signed integers, numbers are in order once those that are both negative are complemented,
   but for the zeros. The larger magnitude tells whether there is a NaN, and whether both are zeros. */
INLINE uint is_nan(uint x) { return (x << 1) > INFINITE_2; }

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
