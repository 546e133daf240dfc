/* Division of integers by the reciprocal of the divisor, in the same steps for all. */

#include "arithmetic.h"

/* 2^32 / d, or one less. Of what is missing in the first 16 bits a ten thousandth remains after one step of Newton's
   iteration, and nothing after two; of both factors as many bits count as the product has room for. */
INLINE uint reciprocal(uint d, uint minus_d)
{
    uint significand = d, places = brought_up(&significand, 31);
    uint r = opaque(reciprocal_of(significand)) << 16 >> opaque(~places);      /* modulo 32: by 31 - places */
    r += (r >> 8) * (minus_d * r >> 12) >> 12;
    return r + ((r >> 14) * (minus_d * r) >> 18);
}

typedef struct { uint quotient, rest; } Division;

/* The product with the reciprocal is the quotient, or up to two less. */
INLINE Division divide(uint n, uint d)
{
    uint minus_d = -d, quotient = high_product(n, reciprocal(d, minus_d));
    uint rest = n + quotient * minus_d;
    uint fits = rest < d;
    rest = fits ? rest : rest - d;
    uint fits_again = rest < d;
    return (Division){quotient + 2 - fits - fits_again, fits_again ? rest : rest - d};
}

INLINE uint magnitude(int x) { return x < 0 ? -(uint)x : (uint)x; }
INLINE int with_sign(uint magnitude, int sign) { return (int)((magnitude ^ (uint)(sign >> 31)) - (uint)(sign >> 31)); }

uint fgpu_udiv(uint n, uint d) { return divide(n, d).quotient; }
uint fgpu_urem(uint n, uint d) { return divide(n, d).rest; }
int fgpu_sdiv(int a, int b) { return with_sign(divide(magnitude(a), magnitude(b)).quotient, a ^ b); }
int fgpu_srem(int a, int b) { return with_sign(divide(magnitude(a), magnitude(b)).rest, a); }
