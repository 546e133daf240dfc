/* IEEE 754 binary32 in integer instructions: round to nearest even, subnormals in full, one NaN.

   Written for wavefronts: every work-item takes the same way through the code, and what differs is selected.
   The exceptions are subnormal operands and results of the longer functions, which few programs meet: a branch that
   no work-item takes costs one instruction.

   Numbers come as words. Shifted left by one, a word has no sign any more, and magnitudes compare as unsigned
   numbers. Significands on their way have their leading one at bit 30 and stand for 24 bits and seven more, the
   lowest of which is sticky: set if anything below is. `lift` is the exponent field less one, as adding the
   significand with its leading one brings that back. */

#define SIGN 0x80000000u
#define INFINITE 0x7f800000u
#define CANONICAL_NAN 0x7fc00000u
#define INFINITE_2 0xff000000u      /* without a sign, shifted left */

/* The number of places by which a number of at most 31 bits must move left to have a one at bit 30; 31 for zero. */
static inline uint places_to_go(uint x)
{
    uint step = (x < 1u << 15) << 4, places = step;
    x <<= step;
    step = (x < 1u << 23) << 3;
    x <<= step;
    places += step;
    step = (x < 1u << 27) << 2;
    x <<= step;
    places += step;
    step = (x < 1u << 29) << 1;
    x <<= step;
    places += step;
    return places + (x < 1u << 30);
}

static inline uint moved_right(uint x, uint places)
{
    places = min(places, 31u);
    uint rest = x >> places;
    return rest | (rest << places != x);
}

static inline uint rounded(uint significand, uint lift)
{
    uint magnitude = (lift << 23) + ((significand + 63 + (significand >> 7 & 1)) >> 7);
    return min(magnitude, INFINITE);
}

/* The parts of a number: exponent field and significand with its leading one at bit 31. */
struct parts { int exponent; uint significand; };

static inline struct parts normal_parts(uint x)
{
    struct parts p = { (int)(x << 1 >> 24), x << 8 | SIGN };
    return p;
}

/* The same for subnormal numbers too, whose exponents go on below zero. */
static inline struct parts any_parts(uint x)
{
    struct parts p = normal_parts(x);
    uint places = places_to_go((x & 0x7fffff) << 7);
    if (p.exponent == 0) {
        p.exponent = 1 - (int)places;
        p.significand = (x & 0x7fffff) << 8 << places;
    }
    return p;
}

static inline int is_subnormal(uint x) { return (x << 1) - 1 < 0xffffffu; }

uint fgpu_float_add(uint a, uint b)
{
    uint a2 = a << 1, b2 = b << 1;
    uint large = max(a2, b2), small = min(a2, b2);
    uint like = a2 < b2 ? b : a;
    uint exponent = large >> 24, other = small >> 24;
    uint normal = exponent != 0, other_normal = other != 0;
    uint x = (large << 8 >> 3) | normal << 29, y = (small << 8 >> 3) | other_normal << 29;
    uint part = moved_right(y, (exponent - normal) - (other - other_normal));
    uint opposite = (uint)((int)(a ^ b) >> 31);
    uint sum = x + ((part ^ opposite) - opposite);
    uint lift = exponent - normal + 1;
    uint places = min(places_to_go(sum), lift);
    uint result = rounded(sum << places, lift - places) | (like & SIGN);
    result = sum == 0 ? a & b & SIGN : result;
    result = large >= INFINITE_2 ? like : result;
    return large + ((a ^ b) == SIGN) > INFINITE_2 ? CANONICAL_NAN : result;
}

uint fgpu_float_mul(uint a, uint b)
{
    uint a2 = a << 1, b2 = b << 1;
    uint large = max(a2, b2), small = min(a2, b2);
    struct parts x = normal_parts(a), y = normal_parts(b);
    if (is_subnormal(a) | is_subnormal(b)) {
        x = any_parts(a);
        y = any_parts(b);
    }
    /* 28 bits by 28, in halves of 14; the upper 28 bits of the product, and whether there is anything below. */
    uint xl = x.significand >> 4 & 0x3fff, xh = x.significand >> 18;
    uint yl = y.significand >> 4 & 0x3fff, yh = y.significand >> 18;
    uint low = xl * yl;
    uint middle = xh * yl + xl * yh + (low >> 14);
    uint high = xh * yh + (middle >> 14);
    uint carry = high >> 27;
    uint product = high << (carry ^ 1) << 3 | (((middle | low) & 0x3fff) != 0);
    int lift = x.exponent + y.exponent - 128 + (int)carry;
    lift = small == 0 ? 0 : lift;
    if (lift < 0) {
        product = moved_right(product, (uint)-lift);
        lift = 0;
    }
    uint magnitude = small == 0 ? 0 : rounded(product, (uint)lift);
    magnitude = large >= INFINITE_2 ? INFINITE : magnitude;
    uint result = magnitude | ((a ^ b) & SIGN);
    return large + (small == 0) > INFINITE_2 ? CANONICAL_NAN : result;
}

/* Division in two digits by the reciprocal of the upper 16 bits of the divisor: 1/d - r is at most 1e-4 of it. The
   quotients are never too large, the first by less than 6 units, the second by 2, which the remainder tells. */
static inline uint reciprocal_step(uint r, uint d) { return r * (-(d * r) >> 16) >> 15; }

uint fgpu_float_div(uint a, uint b)
{
    uint a2 = a << 1, b2 = b << 1;
    struct parts x = normal_parts(a), y = normal_parts(b);
    if (is_subnormal(a) | is_subnormal(b)) {
        x = any_parts(a);
        y = any_parts(b);
    }
    uint n = x.significand >> 8, d = y.significand >> 8;
    uint upper = (y.significand >> 16) + 1;
    uint r = 92450 - upper + (upper >> 4);
    r = reciprocal_step(reciprocal_step(r, upper), upper);
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
    int lift = x.exponent - y.exponent + 126 - (int)less;
    uint to_zero = (a2 == 0) | (b2 >= INFINITE_2), to_infinity = (b2 == 0) | (a2 >= INFINITE_2);
    lift = to_zero ? 0 : lift;
    if (lift < 0) {
        quotient = moved_right(quotient, (uint)-lift);
        lift = 0;
    }
    uint magnitude = to_zero ? 0 : rounded(quotient, (uint)lift);
    magnitude = to_infinity ? INFINITE : magnitude;
    uint result = magnitude | ((a ^ b) & SIGN);
    return (to_zero & to_infinity) | (max(a2, b2) > INFINITE_2) ? CANONICAL_NAN : result;
}

/* The root of v, 32 bits with two before the point, in two digits by the reciprocal root of its upper 16 bits (found
   by Newton's iteration from a line that fits all). The second digit is wrong by one at most, which the remainder
   tells. */
static inline uint reciprocal_root_step(uint y, uint v) { return y * ((0xc0000000u - v * (y * y >> 16)) >> 16) >> 15; }

uint fgpu_float_sqrt(uint a)
{
    struct parts x = normal_parts(a);
    if (is_subnormal(a))
        x = any_parts(a);
    uint v = x.significand >> (x.exponent & 1), upper = v >> 16;
    uint y = 68000 - (upper * 40000 >> 16);
    y = reciprocal_root_step(reciprocal_root_step(reciprocal_root_step(y, upper), upper), upper);
    uint root = upper * y >> 15;
    int rest = (int)(v - root * root);
    int digit = (rest >> 4) * (int)y >> 18;
    rest = (int)((uint)rest << 20) - (int)(root << 11) * digit - digit * digit;
    root = (root << 10) + (uint)digit;
    int negative = rest >> 31;
    root += (uint)negative;
    rest += (int)(2 * root + 1) & negative;
    int next = (int)(2 * root + 1);
    root += rest >= next;
    root = root << 5 | ((rest != 0) & (rest != next));
    uint lift = ((uint)(x.exponent + 127) >> 1) - 1;
    uint result = (lift << 23) + ((root + 63 + (root >> 7 & 1)) >> 7);
    result = a > INFINITE ? CANONICAL_NAN : result;
    return (a << 1 == 0) | (a == INFINITE) ? a : result;
}

/* Comparisons: 1 or 0. Numbers as signed integers in the same order, both zeros as zero. */
static inline int ordered_key(uint x)
{
    int sign = (int)x >> 31;
    return ((int)(x & ~SIGN) ^ sign) - sign;
}

static inline uint is_nan(uint x) { return (x << 1) > INFINITE_2; }

uint fgpu_float_unordered(uint a, uint b) { return max(a << 1, b << 1) > INFINITE_2; }

uint fgpu_float_less(uint a, uint b)
{ return (ordered_key(a) < ordered_key(b)) & (fgpu_float_unordered(a, b) ^ 1); }

uint fgpu_float_less_or_equal(uint a, uint b)
{ return (ordered_key(a) <= ordered_key(b)) & (fgpu_float_unordered(a, b) ^ 1); }

uint fgpu_float_equal(uint a, uint b)
{ return (ordered_key(a) == ordered_key(b)) & (is_nan(a) ^ 1); }

uint fgpu_float_less_or_greater(uint a, uint b)
{ return (ordered_key(a) != ordered_key(b)) & (fgpu_float_unordered(a, b) ^ 1); }

/* Conversions. Out of range, an integer is the nearest that there is; NaN becomes zero. */
uint fgpu_float_from_uint(uint x)
{
    /* Bit 31 moves down into the sticky one. */
    uint top = x >> 31;
    uint significand = x >> top | (x & top);
    uint places = places_to_go(significand);
    uint magnitude = rounded(significand << places, 156 + top - places);
    return x == 0 ? 0 : magnitude;
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

/* The smaller and the larger number; of a number and a NaN the number. */
uint fgpu_float_min(uint a, uint b)
{
    uint result = ordered_key(a) < ordered_key(b) ? a : b;
    result = is_nan(b) ? a : result;
    result = is_nan(a) ? b : result;
    return is_nan(result) ? CANONICAL_NAN : result;
}

uint fgpu_float_max(uint a, uint b)
{
    uint result = ordered_key(b) < ordered_key(a) ? a : b;
    result = is_nan(b) ? a : result;
    result = is_nan(a) ? b : result;
    return is_nan(result) ? CANONICAL_NAN : result;
}
