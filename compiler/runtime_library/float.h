/* IEEE 754 binary32 in integer instructions: round to nearest even, subnormals in full, one NaN.

   Written for wavefronts: every work-item takes the same way through the code, and what differs is selected.
   What few programs meet is left to functions of their own, called by the work-items that need them: a branch that
   no work-item takes costs one instruction.

   Numbers come as words. Shifted left by one, a word has no sign any more, and magnitudes compare as unsigned
   numbers; shifted right by 23, it is sign and exponent. A result is put together by adding its significand, with the
   leading one, to sign and exponent less one, so a carry goes where it belongs. Significands that are to be rounded
   have their leading one at bit 30 and stand for 24 bits and seven more, the lowest of which is sticky: set if
   anything below is. `lift` is the exponent field less one. */

#include "arithmetic.h"

#define SIGN 0x80000000u
#define INFINITE 0x7f800000u
#define CANONICAL_NAN 0x7fc00000u
#define INFINITE_2 0xff000000u      /* without a sign, shifted left */

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

INLINE uint is_nan(uint x) { return (x << 1) > INFINITE_2; }
