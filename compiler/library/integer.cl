/* What the machine has no instruction for. Compiled on demand and inlined where it is used. */

/* Restoring division, a bit a step. Every work-item takes the same number of steps: an early end would
   split the wavefront. The remainder is at most what has been read of n, so doubling it cannot overflow.
   Quotient bits move in inverted where bits of n move out. */
#define DIVIDE(bits) \
    uint r = 0; \
    n <<= 32 - bits; \
    _Pragma("unroll 4") \
    for (int step = 0; step != bits; step++) { \
        r = r * 2 + (n >> 31); \
        uint less = r < d; \
        r = less ? r : r - d; \
        n = n * 2 + less; \
    }

uint fgpu_udiv32(uint n, uint d) { DIVIDE(32) return ~n; }
uint fgpu_urem32(uint n, uint d) { DIVIDE(32) return r; }
uint fgpu_udiv16(uint n, uint d) { DIVIDE(16) return ~n & 0xffff; }
uint fgpu_urem16(uint n, uint d) { DIVIDE(16) return r; }

static inline uint magnitude(int x) { return x < 0 ? -(uint)x : (uint)x; }

int fgpu_sdiv32(int a, int b)
{
    uint n = magnitude(a), d = magnitude(b);
    DIVIDE(32)
    uint sign = (a ^ b) >> 31;
    return (~n ^ sign) - sign;
}

int fgpu_srem32(int a, int b)
{
    uint n = magnitude(a), d = magnitude(b);
    DIVIDE(32)
    uint sign = a >> 31;
    return (r ^ sign) - sign;
}

static inline uint __attribute__((always_inline)) high_product(uint a, uint b)
{
    uint al = a & 0xffff, ah = a >> 16, bl = b & 0xffff, bh = b >> 16;
    uint middle = ah * bl + (al * bl >> 16);
    return ah * bh + (middle >> 16) + ((al * bh + (middle & 0xffff)) >> 16);
}

uint fgpu_high_product(uint a, uint b) { return high_product(a, b); }
int fgpu_signed_high_product(int a, int b)
{ return (int)(high_product((uint)a, (uint)b) - (a < 0 ? (uint)b : 0u) - (b < 0 ? (uint)a : 0u)); }

/* Division by a constant, by multiplication with its scaled reciprocal of 32 or 33 bits (the upper one implied). */
uint fgpu_divide_by_32(uint n, uint reciprocal, uint shift) { return high_product(n, reciprocal) >> shift; }

uint fgpu_divide_by_33(uint n, uint reciprocal, uint shift)
{
    uint t = high_product(n, reciprocal);
    return (((n - t) >> 1) + t) >> (shift - 1);
}

uint fgpu_ctpop32(uint x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101 >> 24;
}

static inline uint bits_below_top(uint x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    return x | x >> 16;
}

uint fgpu_ctlz32(uint x) { return 32 - fgpu_ctpop32(bits_below_top(x)); }
uint fgpu_cttz32(uint x) { return fgpu_ctpop32(~x & (x - 1)); }