/* 6.2.3: conversions to the type TO. Integers are converted in the same way in all rounding modes; on the way to an integer
   a number is rounded first, and its truncation is then exact. */
#include "builtins.h"

#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)

/* Integers are saturated by comparing with the ends of the other type, as far as it is not wider. */
#define INTEGER_TO(to, from, low, high) \
    to OVERLOAD saturated_##to(from x) { return x < low ? (to)(low) : x > high ? (to)(high) : (to)x; } \
    LANES1(to, saturated_##to, from)
#define SIGNED_TO(from) \
    INTEGER_TO(char, from, (long)CHAR_MIN, (long)CHAR_MAX) INTEGER_TO(uchar, from, 0l, (long)UCHAR_MAX) \
    INTEGER_TO(short, from, (long)SHRT_MIN, (long)SHRT_MAX) INTEGER_TO(ushort, from, 0l, (long)USHRT_MAX) \
    INTEGER_TO(int, from, (long)INT_MIN, (long)INT_MAX) INTEGER_TO(uint, from, 0l, (long)UINT_MAX) \
    INTEGER_TO(long, from, LONG_MIN, LONG_MAX) INTEGER_TO(ulong, from, 0l, LONG_MAX)
#define UNSIGNED_TO(from) \
    INTEGER_TO(char, from, 0ul, (ulong)CHAR_MAX) INTEGER_TO(uchar, from, 0ul, (ulong)UCHAR_MAX) \
    INTEGER_TO(short, from, 0ul, (ulong)SHRT_MAX) INTEGER_TO(ushort, from, 0ul, (ulong)USHRT_MAX) \
    INTEGER_TO(int, from, 0ul, (ulong)INT_MAX) INTEGER_TO(uint, from, 0ul, (ulong)UINT_MAX) \
    INTEGER_TO(long, from, 0ul, (ulong)LONG_MAX) INTEGER_TO(ulong, from, 0ul, ULONG_MAX)
SIGNED_TO(char) SIGNED_TO(short) SIGNED_TO(int) SIGNED_TO(long)
UNSIGNED_TO(uchar) UNSIGNED_TO(ushort) UNSIGNED_TO(uint) UNSIGNED_TO(ulong)

/* From float: the routines give the nearest integer there is, and zero for a NaN. */
int OVERLOAD saturated_int(float x) { return (int)fgpu_float_to_int(as_uint(x)); }
uint OVERLOAD saturated_uint(float x) { return fgpu_float_to_uint(as_uint(x)); }
long OVERLOAD saturated_long(float x) { return fgpu_long_from_float(as_uint(x)); }
ulong OVERLOAD saturated_ulong(float x) { return fgpu_ulong_from_float(as_uint(x)); }
char OVERLOAD saturated_char(float x) { return saturated_char(saturated_int(x)); }
uchar OVERLOAD saturated_uchar(float x) { return saturated_uchar(saturated_int(x)); }
short OVERLOAD saturated_short(float x) { return saturated_short(saturated_int(x)); }
ushort OVERLOAD saturated_ushort(float x) { return saturated_ushort(saturated_int(x)); }
#define FLOAT_TO(type, utype, stype, bits) LANES1(type, saturated_##type, float)
FOR_INTEGERS(FLOAT_TO)

/* Rounding before truncation; integers are as they are. */
#define ROUNDED(n, type) \
    type##n OVERLOAD rounded_rte(type##n x) { return x; } \
    type##n OVERLOAD rounded_rtp(type##n x) { return x; } \
    type##n OVERLOAD rounded_rtn(type##n x) { return x; }
#define ROUNDED_INTEGER(type, utype, stype, bits) FOR_WIDTHS(ROUNDED, type)
FOR_INTEGERS(ROUNDED_INTEGER)
#define ROUNDED_FLOAT(n, type) \
    type##n OVERLOAD rounded_rte(type##n x) { return __builtin_elementwise_rint(x); } \
    type##n OVERLOAD rounded_rtp(type##n x) { return __builtin_elementwise_ceil(x); } \
    type##n OVERLOAD rounded_rtn(type##n x) { return __builtin_elementwise_floor(x); }
FOR_WIDTHS(ROUNDED_FLOAT, float)

/* To float, in other directions than to the nearest: one unit less where that is beyond the number. */
#define TOWARDS_ZERO(type, utype) \
    float OVERLOAD float_rtz(type x) \
    { \
        utype magnitude = x < (type)0 ? (utype)(0 - (utype)x) : (utype)x; \
        ulong all = magnitude; \
        /* The bits that do not fit are cut off. */ \
        uint length = 64 - (uint)__builtin_clzg(all, 64); \
        uint excess = length > 24 ? length - 24 : 0; \
        float result = (float)(all >> excess << excess); \
        return x < (type)0 ? -result : result; \
    } \
    float OVERLOAD float_rtn(type x) \
    { \
        float result = float_rtz(x); \
        ulong back = (ulong)(result < 0 ? -result : result); \
        return x < (type)0 && back != (ulong)(utype)(0 - (utype)x) ? as_float(as_uint(result) + 1) : result; \
    } \
    float OVERLOAD float_rtp(type x) \
    { \
        float result = float_rtz(x); \
        return x > (type)0 && (ulong)result != (ulong)x ? as_float(as_uint(result) + 1) : result; \
    }
#define INTEGER_TO_FLOAT(type, utype, stype, bits) \
    TOWARDS_ZERO(type, utype) LANES1(float, float_rtz, type) LANES1(float, float_rtn, type) \
    LANES1(float, float_rtp, type)
FOR_INTEGERS(INTEGER_TO_FLOAT)
#define FLOAT_TO_FLOAT(n, type) \
    type##n OVERLOAD float_rtz(type##n x) { return x; } \
    type##n OVERLOAD float_rtn(type##n x) { return x; } \
    type##n OVERLOAD float_rtp(type##n x) { return x; }
FOR_WIDTHS(FLOAT_TO_FLOAT, float)

#define TO_INTEGER(n, to, from) \
    to##n OVERLOAD convert_##to##n##_rtz(from##n x) { return convert_##to##n(x); } \
    to##n OVERLOAD convert_##to##n##_rte(from##n x) { return convert_##to##n(rounded_rte(x)); } \
    to##n OVERLOAD convert_##to##n##_rtp(from##n x) { return convert_##to##n(rounded_rtp(x)); } \
    to##n OVERLOAD convert_##to##n##_rtn(from##n x) { return convert_##to##n(rounded_rtn(x)); } \
    to##n OVERLOAD convert_##to##n##_sat(from##n x) { return saturated_##to(x); } \
    to##n OVERLOAD convert_##to##n##_sat_rtz(from##n x) { return saturated_##to(x); } \
    to##n OVERLOAD convert_##to##n##_sat_rte(from##n x) { return saturated_##to(rounded_rte(x)); } \
    to##n OVERLOAD convert_##to##n##_sat_rtp(from##n x) { return saturated_##to(rounded_rtp(x)); } \
    to##n OVERLOAD convert_##to##n##_sat_rtn(from##n x) { return saturated_##to(rounded_rtn(x)); }
#define TO_FLOAT(n, to, from) \
    to##n OVERLOAD convert_##to##n##_rte(from##n x) { return convert_##to##n(x); } \
    to##n OVERLOAD convert_##to##n##_rtz(from##n x) { return float_rtz(x); } \
    to##n OVERLOAD convert_##to##n##_rtp(from##n x) { return float_rtp(x); } \
    to##n OVERLOAD convert_##to##n##_rtn(from##n x) { return float_rtn(x); }
#define PLAIN(n, to, from) \
    to##n OVERLOAD convert_##to##n(from##n x) { return __builtin_convertvector(x, to##n); }
#define CONVERSIONS(kind, to, from) \
    to OVERLOAD convert_##to(from x) { return (to)x; } \
    FOR_VECTORS(PLAIN, to, from) FOR_WIDTHS(kind, to, from)
/* Lane by lane, as clang gives the nearest integer of a constant, too, but not of a vector of constants. */
#define CONVERSIONS_OF_FLOATS(kind, to) \
    to OVERLOAD convert_##to(float x) { return (to)x; } \
    CONVERSION_OF_LANES(to, , float) FOR_WIDTHS(kind, to, float)
#define CONVERSIONS_TO(kind, to) \
    CONVERSIONS(kind, to, char) CONVERSIONS(kind, to, uchar) CONVERSIONS(kind, to, short) \
    CONVERSIONS(kind, to, ushort) CONVERSIONS(kind, to, int) CONVERSIONS(kind, to, uint) \
    CONVERSIONS(kind, to, long) CONVERSIONS(kind, to, ulong) CONVERSIONS_OF_FLOATS(kind, to)
#define FROM_ALL(kind, to) CONVERSIONS_TO(kind, to)
#pragma clang attribute pop
#ifdef TO_HAS_FRACTIONS
FROM_ALL(TO_FLOAT, TO)
#else
FROM_ALL(TO_INTEGER, TO)
#endif
