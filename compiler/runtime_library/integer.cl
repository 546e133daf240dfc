/* What the machine has no instruction for. Compiled on demand and inlined where it is used. */

#include "arithmetic.h"

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