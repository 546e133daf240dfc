/* What the functions of doubles share: subroutines on 64-bit fractions. */
#include "wide_long.h"

ulong ROUTINE high_product(ulong a, ulong b) { return mul_hi(a, b); }

/* 2^127 / d, at most a few less: Newton's iteration, from a line and in 16 bits first. */
ulong ROUTINE reciprocal(ulong d)
{
    uint top = (uint)(d >> 48) + 1;
    uint r = 92450 - top + (top >> 4);
    r = r * (-(top * r) >> 16) >> 15;
    r = r * (-(top * r) >> 16) >> 15;
    ulong result = (ulong)min(r, 65535u) << 48;
    result += (ulong)((long)(result >> 32) * ((long)(TOP - high_product(d, result)) >> 20) >> 11);
    result += (ulong)((long)(result >> 32) * ((long)(TOP - high_product(d, result)) >> 7) >> 24);
    long more = (long)(result >> 32) * (long)(TOP - high_product(d, result)) >> 31;
    ulong better = result + (ulong)more;
    return more > 0 && better < result ? ~0ul : better;
}

/* 2^(f / 2^64): of the quarters a constant, of the rest Taylor's series. */
ulong ROUTINE exp2_of_fraction(ulong f)
{
    ulong x = high_product(f << 2 >> 2, 0xb17217f7d1cf79acul);
    ulong p = 0x000000005849184ful;
    p = 0x000000047bb63bfeul + high_product(x, p);
    p = 0x00000035cc8acfebul + high_product(x, p);
    p = 0x0000024fc9f6ef14ul + high_product(x, p);
    p = 0x0000171de3a556c7ul + high_product(x, p);
    p = 0x0000d00d00d00d01ul + high_product(x, p);
    p = 0x0006806806806807ul + high_product(x, p);
    p = 0x002d82d82d82d82eul + high_product(x, p);
    p = 0x0111111111111111ul + high_product(x, p);
    p = 0x0555555555555555ul + high_product(x, p);
    p = 0x1555555555555555ul + high_product(x, p);
    p = 0x4000000000000000ul + high_product(x, p);
    p = 0x8000000000000000ul + high_product(x, p);
    p = 0x8000000000000000ul + high_product(x, p);
    ulong low = f >> 62 & 1 ? 0x9837f0518db8a96ful : 0x8000000000000000ul;
    ulong upper = f >> 62 & 1 ? 0xd744fccad69d6af4ul : 0xb504f333f9de6484ul;
    return high_product(p, f >> 63 ? upper : low);
}

/* 1 / 3 + z / 5 + z^2 / 7 and so on. */
ulong ROUTINE log_series(ulong z)
{
    ulong p = 0x051eb851eb851eb8ul;
    p = 0x0590b21642c8590bul + high_product(z, p);
    p = 0x0618618618618618ul + high_product(z, p);
    p = 0x06bca1af286bca1bul + high_product(z, p);
    p = 0x0787878787878788ul + high_product(z, p);
    p = 0x0888888888888889ul + high_product(z, p);
    p = 0x09d89d89d89d89d9ul + high_product(z, p);
    p = 0x0ba2e8ba2e8ba2e9ul + high_product(z, p);
    p = 0x0e38e38e38e38e39ul + high_product(z, p);
    p = 0x1249249249249249ul + high_product(z, p);
    p = 0x199999999999999aul + high_product(z, p);
    p = 0x2aaaaaaaaaaaaaabul + high_product(z, p);
    return p;
}

/* With s = f / (2 + f) and z = s^2 it is 2 / (2 + f) * (1 + z / 3 + z^2 / 5 and so on). */
ulong ROUTINE log_slope(ulong size, uint negative)
{
    ulong d = negative ? TOP - (size >> 2) : TOP + (size >> 2);      /* 62 bits below the point */
    ulong inverse = d >= TOP ? reciprocal(d) >> 1 : reciprocal(d << 1);
    ulong s = high_product(size, inverse), z = high_product(s, s);
    return high_product(inverse, TOP + high_product(z, log_series(z)));
}
