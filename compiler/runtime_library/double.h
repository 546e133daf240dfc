/* IEEE 754 binary64 in integer instructions, as float.h has binary32: round to nearest even, subnormals in full, one
   NaN. Significands that are to be rounded have their leading one at bit 62 and stand for 53 bits and ten more, the
   lowest of which is sticky. `lift` is the exponent field less one. */

#include "arithmetic.h"

#define SIGN 0x8000000000000000ul
#define INFINITE 0x7ff0000000000000ul
#define CANONICAL_NAN 0x7ff8000000000000ul
#define HIDDEN 0x0010000000000000ul     /* the leading one of a normal number's significand */
#define FRACTION (HIDDEN - 1)
#define ALL_EXPONENT 2047

#define SELDOM(condition) __builtin_expect(condition, 0)
/* For numbers of any kind; what calls it is for normal ones. */
#define RARE __attribute__((noinline))

INLINE uint high(ulong x) { return (uint)(x >> 32); }
INLINE ulong together(uint high, uint low) { return (ulong)high << 32 | low; }
INLINE ulong magnitude_of(ulong x) { return x & ~SIGN; }
INLINE int exponent_of(ulong x) { return (int)(high(x) << 1 >> 21); }
INLINE int is_nan(ulong x) { return magnitude_of(x) > INFINITE; }

/* Of more than 63 places, too; what is lost stays as the lowest bit. */
INLINE ulong moved_right(ulong x, uint places)
{
    places = min(places, 63u);
    ulong rest = x >> places;
    return rest | (rest << places != x);
}

/* How many bits above the leading one are clear; 64 of zero. */
INLINE uint zeros_above(ulong x)
{
    uint upper = high(x), word = upper == 0 ? (uint)x : upper;
    return (word == 0 ? 32 : (uint)__builtin_clz(word)) + (upper == 0 ? 32 : 0);
}

/* The magnitude of a number, rounded. What overflows in rounding has the right exponent by itself. */
INLINE ulong rounded(ulong significand, int lift)
{
    if (SELDOM((uint)lift >= ALL_EXPONENT - 1)) {
        if (lift > 0)
            return INFINITE;
        significand = moved_right(significand, (uint)-lift);
        lift = 0;
    }
    return together((uint)lift << 20, 0) + ((significand + 511 + ((uint)significand >> 10 & 1)) >> 10);
}

/* A finite number but zero, of any exponent: its significand with the leading one at bit 52, the exponent field that it
   would have. */
typedef struct {
    ulong significand;
    int exponent;
} parts;

INLINE parts any_parts(ulong x)
{
    uint places = exponent_of(x) == 0 ? zeros_above(x & FRACTION) - 11 : 0;
    ulong significand = (x & FRACTION) | (exponent_of(x) == 0 ? 0 : HIDDEN);
    parts result = {significand << (places & 63), exponent_of(x) + (exponent_of(x) == 0) - (int)places};
    return result;
}

/* Whether a number with that exponent field is something else than normal. */
INLINE int is_special(int exponent) { return (uint)exponent - 1 >= ALL_EXPONENT - 1; }

/* The product of two of 64 bits. */
typedef struct {
    ulong high, low;
} long_product;

INLINE long_product multiplied(ulong a, ulong b)
{
    ulong low = (ulong)(uint)a * (uint)b, high_low = (ulong)high(a) * (uint)b, low_high = (ulong)(uint)a * high(b);
    ulong middle = (ulong)high(low) + (uint)high_low + (uint)low_high;
    long_product result = {(ulong)high(a) * high(b) + high(high_low) + high(low_high) + high(middle),
                           together((uint)middle, (uint)low)};
    return result;
}
