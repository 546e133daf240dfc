/* 6.12.2: native_ functions. Their errors are ours to choose; programs expect those of other devices: some units in the
   last place, of 1 for sines and cosines. That saves a fifth of the exact functions' instructions. */
#include "fixed.h"

/* 2^y; y has 23 bits below the point. */
INLINE float native_power_of_two(int y)
{
    uint f = (uint)y << 9;
    uint p = NATIVE_EXP2_5;
    p = NATIVE_EXP2_4 + times(p, f);
    p = NATIVE_EXP2_3 + times(p, f);
    p = NATIVE_EXP2_2 + times(p, f);
    p = NATIVE_EXP2_1 + times(p, f);
    p = NATIVE_EXP2_0 + times(p, f);
    wide result = {SIGN + (times(p, f) >> 1), y >> 23, 0};
    return packed(result);
}

/* x times a factor, with 23 bits below the point; the factor has 32 - `bits` of them. Saturates. */
INLINE int native_scaled(float x, uint factor, int bits)
{
    uint word = as_uint(x);
    int places = 8 - bits - ((int)(word << 1 >> 24) - 127);
    uint magnitude = times(word << 8 | SIGN, factor) >> (places & 31);
    magnitude = places > 31 ? 0 : places < 0 ? INT_MAX : min(magnitude, (uint)INT_MAX);
    return word >> 31 ? -(int)magnitude : (int)magnitude;
}

#define EXPONENTIAL(name, factor, bits) \
    float ROUTINE name(float x) \
    { \
        float result = native_power_of_two(native_scaled(x, factor, bits)); \
        return isnan(x) ? x : result; \
    } \
    LANES1(float, name, float)
EXPONENTIAL(native_exp2, SIGN, 1)
EXPONENTIAL(native_exp, LOG2_OF_E >> 32, 1)
EXPONENTIAL(native_exp10, LOG2_OF_10 >> 31, 2)

/* The binary logarithm of a positive number: near one relative to what is missing, else to 23 bits below the point. */
INLINE wide native_log2_of(wide x)
{
    uint above = x.significand > 0xb504f333u;
    int exponent = x.exponent + (int)above;
    int t = above ? (int)x.significand : (int)(x.significand << 1);
    int q = NATIVE_LOG2_8;
    q = NATIVE_LOG2_7 + times_signed(q, t);
    q = NATIVE_LOG2_6 + times_signed(q, t);
    q = NATIVE_LOG2_5 + times_signed(q, t);
    q = NATIVE_LOG2_4 + times_signed(q, t);
    q = NATIVE_LOG2_3 + times_signed(q, t);
    q = NATIVE_LOG2_2 + times_signed(q, t);
    q = NATIVE_LOG2_1 + times_signed(q, t);
    q = NATIVE_LOG2_0 + times_signed(q, t);
    int sum = exponent * (1 << 23) + (times_signed(q, t) >> 7);
    return short_logarithm(exponent, t, (uint)q << 1, sum);
}

LOGARITHMS(native_, native_log2_of)

/* x in turns, of which whole ones do not count, with 32 bits below the point; of 2^34 and more, nothing. */
INLINE uint turns_of(float x)
{
    uint word = as_uint(x), significand = word << 8 | SIGN;
    /* 1 / (2 pi) is the fourth part of 2 / pi. */
    ulong exact = (ulong)significand * TWO_OVER_PI_0 + times(significand, TWO_OVER_PI_1);
    int places = 33 - ((int)(word << 1 >> 24) - 127);
    uint turns = places < 0 || places > 63 ? 0 : (uint)(exact >> (places & 63));
    return word >> 31 ? 0 - turns : turns;
}

INLINE float sine_of_turns(uint turns)
{
    uint f = turns << 2;
    f = turns << 1 >> 31 ? ~f : f;
    uint z = times(f, f);
    uint p = NATIVE_SIN_4;
    p = 0 - (uint)NATIVE_SIN_3 - times(p, z);
    p = NATIVE_SIN_2 - times(p, z);
    p = 0 - (uint)NATIVE_SIN_1 - times(p, z);
    p = NATIVE_SIN_0 - times(p, z);
    return packed(normalized(times(p, f), 0, turns & SIGN));
}

float ROUTINE native_sin(float x)
{
    float result = sine_of_turns(turns_of(x));
    return !isfinite(x) ? NAN : fabs(x) < 0x1p-12f ? x : result;
}
float ROUTINE native_cos(float x)
{
    float result = sine_of_turns(turns_of(x) + (1u << 30));
    return !isfinite(x) ? NAN : result;
}
LANES1(float, native_sin, float)
LANES1(float, native_cos, float)

float OVERLOAD native_tan(float x) { return tan(x); }
float OVERLOAD native_powr(float x, float y) { return powr(x, y); }
LANES1(float, native_tan, float)
LANES2(float, native_powr, float, float)
