/* Polynomials in 64-bit fixed point. Written by tests/math/polynomials.py.

   The argument has 64 bits below the point. In no step is the value below zero. */
#ifndef FGPU_POLYNOMIALS_H
#define FGPU_POLYNOMIALS_H

#include "wide_long.h"

/* (1 - atan(t) / t) / z, z = t^2: 64 bits below the point, error 4.3e-20. */
INLINE ulong atan_series(ulong z)
{
    ulong p = 0x039025239f88abd1ul;
    p = 0x07d7bdd34150a32eul - high_product(z, p);
    p = 0x0a81e2234ca1d5f9ul - high_product(z, p);
    p = 0x0c14e7191bd592e2ul - high_product(z, p);
    p = 0x0d75e8fd2acc4a3dul - high_product(z, p);
    p = 0x0f0ec74dfff2ce81ul - high_product(z, p);
    p = 0x11110cee80b515ecul - high_product(z, p);
    p = 0x13b13aea9e84b604ul - high_product(z, p);
    p = 0x1745d173565148c4ul - high_product(z, p);
    p = 0x1c71c71c6ddbfc66ul - high_product(z, p);
    p = 0x2492492492415aa8ul - high_product(z, p);
    p = 0x3333333333332d1bul - high_product(z, p);
    p = 0x5555555555555555ul - high_product(z, p);
    return p;
}

/* sinh(x) / x, z = x^2: 62 bits below the point, error 6.4e-23. */
INLINE ulong sinh_series(ulong z)
{
    ulong p = 0x0000000000003351ul;
    p = 0x000000000035cea5ul + high_product(z, p);
    p = 0x000000002c248d6eul + high_product(z, p);
    p = 0x0000001ae6456735ul + high_product(z, p);
    p = 0x00000b8ef1d2aba6ul + high_product(z, p);
    p = 0x00034034034033f6ul + high_product(z, p);
    p = 0x008888888888888aul + high_product(z, p);
    p = 0x0aaaaaaaaaaaaaabul + high_product(z, p);
    p = 0x4000000000000000ul + high_product(z, p);
    return p;
}

/* erf(x) / x, z = x^2: 62 bits below the point, error 2.2e-21. */
INLINE ulong erf_series(ulong z)
{
    ulong p = 0x000000000129b9f2ul;
    p = 0x0000000017f07219ul - high_product(z, p);
    p = 0x000000014e607b42ul - high_product(z, p);
    p = 0x0000000fe21ab24cul - high_product(z, p);
    p = 0x000000afb6c92d06ul - high_product(z, p);
    p = 0x000006e799426e62ul - high_product(z, p);
    p = 0x00003e9a4ac35d60ul - high_product(z, p);
    p = 0x0001f9a326c23314ul - high_product(z, p);
    p = 0x000e016d9ff75abcul - high_product(z, p);
    p = 0x005596f3439940b3ul - high_product(z, p);
    p = 0x01b82ce312889ba3ul - high_product(z, p);
    p = 0x0738bc86810af770ul - high_product(z, p);
    p = 0x1812746b0379e6beul - high_product(z, p);
    p = 0x48375d410a6db447ul - high_product(z, p);
    return p;
}

/* 1 / gamma(2 + u): 63 bits below the point, error 2.1e-19. */
INLINE ulong gamma_series(ulong z)
{
    ulong p = 0x000000008a026319ul;
    p = 0x00000028fedd77f8ul - high_product(z, p);
    p = 0x000002090773c80aul - high_product(z, p);
    p = 0x00000ba5b050a2ccul - high_product(z, p);
    p = 0x0000161fe6106986ul - high_product(z, p);
    p = 0x000092e53f444f4dul + high_product(z, p);
    p = 0x0004c5322c5b7234ul - high_product(z, p);
    p = 0x000bd2de09cc5509ul - high_product(z, p);
    p = 0x001a5b3964f99f45ul + high_product(z, p);
    p = 0x0106e81881f62fc1ul - high_product(z, p);
    p = 0x0242330a431aa547ul - high_product(z, p);
    p = 0x03248936cae69dacul + high_product(z, p);
    p = 0x1875ac5781f9d183ul - high_product(z, p);
    p = 0x1dd603fb6abfd2fdul - high_product(z, p);
    p = 0x361dcc0e4127a008ul + high_product(z, p);
    p = 0x8000000000000002ul - high_product(z, p);
    return p;
}

/* exp(x^2) erfc(x) / t, t = 4 / (4 + x): 63 bits below the point, error 5.7e-20. */
INLINE ulong erfc_series(ulong z)
{
    ulong p = 0x002e8a65ab60d933ul;
    p = 0x016e683c02eef993ul - high_product(z, p);
    p = 0x04aff44f3559531aul - high_product(z, p);
    p = 0x07cf017cb2231034ul - high_product(z, p);
    p = 0x058db207fc40971ful - high_product(z, p);
    p = 0x034cf06b25555fa6ul + high_product(z, p);
    p = 0x0d725949f025dbeful - high_product(z, p);
    p = 0x1321beae83460485ul - high_product(z, p);
    p = 0x1113fce14620ca2bul - high_product(z, p);
    p = 0x0b62abdc0ebfbdd2ul - high_product(z, p);
    p = 0x0708dfe013e96ecdul - high_product(z, p);
    p = high_product(z, p) - 0x00690d8d33393995ul;
    p = 0x0492966d2871a397ul + high_product(z, p);
    p = 0x0580fc1c7a5fe02dul + high_product(z, p);
    p = 0x080c4782fee124a6ul + high_product(z, p);
    p = 0x0a5e3a42cec57ebcul + high_product(z, p);
    p = 0x0cad8062f21283ceul + high_product(z, p);
    p = 0x0eb8c1ea7ba77430ul + high_product(z, p);
    p = 0x105c8bafb243c795ul + high_product(z, p);
    p = 0x117d688e460b2992ul + high_product(z, p);
    p = 0x120dd7508091ccbaul + high_product(z, p);
    p = 0x120dd75041ac861ful + high_product(z, p);
    return p;
}

/* (exp(x) - 1) / x, below zero if `negative` is all ones: 63 bits below the point, error 5.0e-19. */
INLINE ulong expm1_series(ulong size, ulong negative)
{
    ulong p = 0x00000035dbb96635ul;
    p = 0x000002508f589d68ul + ((high_product(size, p) ^ negative) - negative);
    p = 0x0000171de2b262faul + ((high_product(size, p) ^ negative) - negative);
    p = 0x0000d00cf47955f2ul + ((high_product(size, p) ^ negative) - negative);
    p = 0x0006806806870cd3ul + ((high_product(size, p) ^ negative) - negative);
    p = 0x002d82d82dd93926ul + ((high_product(size, p) ^ negative) - negative);
    p = 0x011111111110fe15ul + ((high_product(size, p) ^ negative) - negative);
    p = 0x0555555555545e87ul + ((high_product(size, p) ^ negative) - negative);
    p = 0x1555555555555565ul + ((high_product(size, p) ^ negative) - negative);
    p = 0x40000000000000c5ul + ((high_product(size, p) ^ negative) - negative);
    p = 0x8000000000000000ul + ((high_product(size, p) ^ negative) - negative);
    return p;
}

#endif
