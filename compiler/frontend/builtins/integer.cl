/* 6.12.3: integer functions. */
#include "builtins.h"

#define ELEMENTWISE(n, type, utype, bits) \
    type##n OVERLOAD min(type##n a, type##n b) { return __builtin_elementwise_min(a, b); } \
    type##n OVERLOAD max(type##n a, type##n b) { return __builtin_elementwise_max(a, b); } \
    type##n OVERLOAD clamp(type##n x, type##n low, type##n high) { return min(max(x, low), high); } \
    type##n OVERLOAD add_sat(type##n a, type##n b) { return __builtin_elementwise_add_sat(a, b); } \
    type##n OVERLOAD sub_sat(type##n a, type##n b) { return __builtin_elementwise_sub_sat(a, b); } \
    type##n OVERLOAD hadd(type##n a, type##n b) { return (type##n)((a & b) + ((type##n)(a ^ b) >> (type##n)1)); } \
    type##n OVERLOAD rhadd(type##n a, type##n b) { return (type##n)((a | b) - ((type##n)(a ^ b) >> (type##n)1)); } \
    type##n OVERLOAD popcount(type##n x) { return __builtin_elementwise_popcount(x); } \
    type##n OVERLOAD rotate(type##n x, type##n n_) \
    { \
        utype##n bits_ = __builtin_astype(x, utype##n), left = __builtin_astype(n_, utype##n) & (utype##n)(bits - 1); \
        utype##n right = (utype##n)((utype##n)bits - left) & (utype##n)(bits - 1); \
        return __builtin_astype((utype##n)((utype##n)(bits_ << left) | (utype##n)(bits_ >> right)), type##n); \
    } \
    utype##n OVERLOAD abs_diff(type##n a, type##n b) \
    { \
        utype##n x = __builtin_astype(max(a, b), utype##n), y = __builtin_astype(min(a, b), utype##n); \
        return (utype##n)(x - y); \
    }
#define WITH_SCALARS(n, type) \
    type##n OVERLOAD min(type##n a, type b) { return min(a, (type##n)b); } \
    type##n OVERLOAD max(type##n a, type b) { return max(a, (type##n)b); } \
    type##n OVERLOAD clamp(type##n x, type low, type high) { return clamp(x, (type##n)low, (type##n)high); }
#define COUNT(type, utype, bits) \
    type OVERLOAD clz(type x) { return (type)__builtin_clzg((utype)x, bits); } \
    type OVERLOAD ctz(type x) { return (type)__builtin_ctzg((utype)x, bits); } \
    LANES1(type, clz, type) LANES1(type, ctz, type)
#define INTEGER(type, utype, stype, bits) \
    FOR_WIDTHS(ELEMENTWISE, type, utype, bits) FOR_VECTORS(WITH_SCALARS, type) COUNT(type, utype, bits)
FOR_INTEGERS(INTEGER)

#define SIGNED_ABS(n, type, utype) \
    utype##n OVERLOAD abs(type##n x) { return __builtin_astype(__builtin_elementwise_abs(x), utype##n); } \
    utype##n OVERLOAD abs(utype##n x) { return x; }
FOR_WIDTHS(SIGNED_ABS, char, uchar) FOR_WIDTHS(SIGNED_ABS, short, ushort) FOR_WIDTHS(SIGNED_ABS, int, uint)
FOR_WIDTHS(SIGNED_ABS, long, ulong)

/* The upper half of a product, and sums with it. */
char OVERLOAD mul_hi(char a, char b) { return (char)((int)a * b >> 8); }
uchar OVERLOAD mul_hi(uchar a, uchar b) { return (uchar)((uint)a * b >> 8); }
short OVERLOAD mul_hi(short a, short b) { return (short)((int)a * b >> 16); }
ushort OVERLOAD mul_hi(ushort a, ushort b) { return (ushort)((uint)a * b >> 16); }
int OVERLOAD mul_hi(int a, int b) { return (int)((long)a * b >> 32); }
uint OVERLOAD mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }

ulong OVERLOAD mul_hi(ulong a, ulong b)
{
    ulong al = (uint)a, ah = a >> 32, bl = (uint)b, bh = b >> 32;
    ulong middle = ah * bl + (al * bl >> 32);
    return ah * bh + (middle >> 32) + ((al * bh + (uint)middle) >> 32);
}

long OVERLOAD mul_hi(long a, long b)
{ return (long)(mul_hi((ulong)a, (ulong)b) - (a < 0 ? (ulong)b : 0) - (b < 0 ? (ulong)a : 0)); }

/* a * b + c as close as the type allows; of fewer than 64 bits it is exact in long. */
#define MAD_SAT(type) \
    type OVERLOAD mad_sat(type a, type b, type c) { return convert_##type##_sat((long)a * b + c); }
MAD_SAT(char) MAD_SAT(uchar) MAD_SAT(short) MAD_SAT(ushort) MAD_SAT(int)

uint OVERLOAD mad_sat(uint a, uint b, uint c) { return convert_uint_sat((ulong)a * b + c); }

ulong OVERLOAD mad_sat(ulong a, ulong b, ulong c)
{ return mul_hi(a, b) ? ULONG_MAX : add_sat(a * b, c); }

long OVERLOAD mad_sat(long a, long b, long c)
{
    long high = mul_hi(a, b);
    ulong low = (ulong)a * (ulong)b, sum = low + (ulong)c;
    high += (c >> 63) + (sum < low);
    return high == (long)sum >> 63 ? (long)sum : high < 0 ? LONG_MIN : LONG_MAX;
}

#define PRODUCTS(type, utype, stype, bits) \
    LANES2(type, mul_hi, type, type) LANES3(type, mad_sat, type, type, type) FOR_WIDTHS(MAD_HI, type)
#define MAD_HI(n, type) \
    type##n OVERLOAD mad_hi(type##n a, type##n b, type##n c) { return (type##n)(mul_hi(a, b) + c); }
FOR_INTEGERS(PRODUCTS)

#define PRODUCT_24(n, type) \
    type##n OVERLOAD mul24(type##n a, type##n b) { return a * b; } \
    type##n OVERLOAD mad24(type##n a, type##n b, type##n c) { return a * b + c; }
FOR_WIDTHS(PRODUCT_24, int) FOR_WIDTHS(PRODUCT_24, uint)

#define UPSAMPLE(result, high, low, bits) \
    result OVERLOAD upsample(high x, low y) { return (result)((result)((result)x << bits) | y); } \
    LANES2(result, upsample, high, low)
UPSAMPLE(short, char, uchar, 8) UPSAMPLE(ushort, uchar, uchar, 8) UPSAMPLE(int, short, ushort, 16)
UPSAMPLE(uint, ushort, ushort, 16) UPSAMPLE(long, int, uint, 32) UPSAMPLE(ulong, uint, uint, 32)
