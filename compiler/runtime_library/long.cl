/* Integers of 64 bits: what takes too long to repeat wherever it is used. */

#define INLINE static inline __attribute__((always_inline))
#define SELDOM(condition) __builtin_expect(condition, 0)
#define SIGN 0x80000000u

INLINE uint high(ulong x) { return (uint)(x >> 32); }
INLINE ulong together(uint high, uint low) { return (ulong)high << 32 | low; }
INLINE ulong magnitude(long x) { return x < 0 ? -(ulong)x : (ulong)x; }

/* Restoring division, a bit a step, of as many bits as the work-item's dividend has. Words of n move out at the top, and
   those of the quotient in at the bottom; what has been read of n is less than 2 * d. */
#define DIVIDE \
    uint r0 = 0, r1 = 0, n0 = (uint)n, n1 = high(n), d0 = (uint)d, d1 = high(d); \
    uint steps = 64; \
    if (n1 == 0) { \
        n1 = n0; \
        n0 = 0; \
        steps = 32; \
    } \
    for (uint step = 0; step != steps; step++) { \
        uint over = r1 >> 31; \
        r1 = r1 << 1 | r0 >> 31; \
        r0 = r0 << 1 | n1 >> 31; \
        uint less = (r1 < d1) | ((r1 == d1) & (r0 < d0)); \
        less &= over ^ 1; \
        uint taken = less - 1; \
        uint s0 = d0 & taken, s1 = d1 & taken; \
        r1 = r1 - s1 - (r0 < s0); \
        r0 -= s0; \
        n1 = n1 << 1 | n0 >> 31; \
        n0 = n0 << 1 | (less ^ 1); \
    } \
    n1 = steps == 32 ? 0 : n1;

ulong fgpu_long_udiv(ulong n, ulong d) { DIVIDE return together(n1, n0); }
ulong fgpu_long_urem(ulong n, ulong d) { DIVIDE return together(r1, r0); }

long fgpu_long_sdiv(long a, long b)
{
    ulong n = magnitude(a), d = magnitude(b);
    DIVIDE
    ulong quotient = together(n1, n0);
    return (long)((a ^ b) < 0 ? -quotient : quotient);
}

long fgpu_long_srem(long a, long b)
{
    ulong n = magnitude(a), d = magnitude(b);
    DIVIDE
    ulong rest = together(r1, r0);
    return (long)(a < 0 ? -rest : rest);
}

/* Conversions, as float.cl has them for 32 bits: rounded to nearest even; truncated to the nearest integer there is. */
uint fgpu_ulong_to_float(ulong x)
{
    uint top = high(x), low = (uint)x;
    uint whole = top == 0;
    uint first = whole ? low : top, second = whole ? 0 : low;
    uint places = first == 0 ? 0 : __builtin_clz(first);
    uint significand = first << places | second >> 1 >> (31 - places);
    uint rest = second << places;
    /* 32 bits with a leading one; the lowest eight are rounded away. */
    significand |= rest != 0;
    uint exponent = 158 + (whole ? 0 : 32) - places;
    uint result = (exponent << 23) + (significand >> 8) - (1u << 23);
    uint below = significand & 0xff;
    result += (below > 128) | ((below == 128) & (result & 1));
    return first == 0 ? 0 : result;
}

uint fgpu_long_to_float(long x) { return fgpu_ulong_to_float(magnitude(x)) | (high(x) & SIGN); }

/* The magnitude of a number below 2^64, without its bits below one. */
INLINE ulong whole_part(uint x)
{
    int exponent = (int)(x << 1 >> 24) - 127;
    uint significand = x << 8 | SIGN;
    uint places = (uint)(63 - exponent);
    ulong result = together(significand, 0) >> (places & 63);
    return places > 63 ? 0 : result;
}

INLINE uint is_nan(uint x) { return (x << 1) > 0xff000000u; }

ulong fgpu_ulong_from_float(uint x)
{
    ulong result = (x << 1 >> 24) >= 127 + 64 ? ~0ul : whole_part(x);
    return (x >= SIGN) | is_nan(x) ? 0 : result;
}

long fgpu_long_from_float(uint x)
{
    ulong sign = (ulong)((long)(int)x >> 63);
    ulong result = (x << 1 >> 24) >= 127 + 63 ? 0x7ffffffffffffffful - sign : whole_part(x);
    return is_nan(x) ? 0 : (long)((result ^ sign) - sign);
}
