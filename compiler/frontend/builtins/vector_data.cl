/* 6.12.7: vectors in memory at any element, and 6.12.12: shuffles. */
#include "vector_data.h"

VECTOR_DATA(char) VECTOR_DATA(uchar) VECTOR_DATA(short) VECTOR_DATA(ushort) VECTOR_DATA(int) VECTOR_DATA(uint)
VECTOR_DATA(long) VECTOR_DATA(ulong) VECTOR_DATA(float)

#define PREFETCH_INTEGER(type, utype, stype, bits) FOR_WIDTHS(PREFETCH, type)
FOR_INTEGERS(PREFETCH_INTEGER)
FOR_WIDTHS(PREFETCH, float)

/* Numbers of 16 bits. Their subnormal numbers are multiples of 2^-24, which a conversion of the integer gives. */
float ROUTINE from_half(ushort bits)
{
    uint magnitude = bits & 0x7fff, sign = (uint)(bits & 0x8000) << 16;
    uint normal = (magnitude << 13) + (112u << 23);
    uint subnormal = as_uint((float)magnitude * 0x1p-24f);
    uint result = magnitude < 0x400 ? subnormal : normal;
    result = magnitude >= 0x7c00 ? (magnitude << 13) | 0x7f800000 : result;
    return as_float(result | sign);
}

/* `up` of the bits that do not fit are added before they are cut off; 0 for even: half of them, and one if odd. */
ushort OVERLOAD to_half(float x, uint mode)
{
    uint word = as_uint(x), magnitude = word & 0x7fffffff, sign = word >> 16 & 0x8000;
    if (magnitude > 0x7f800000)
        return (ushort)(sign | 0x7e00);
    /* Bits below the last one of the result; for subnormal results more. */
    uint exponent = magnitude >> 23;
    uint places = exponent < 113 ? 126 - exponent : 13;
    places = places > 31 ? 31 : places;
    uint significand = exponent < 113 ? (magnitude & 0x7fffff) | (uint)(exponent != 0) << 23 : magnitude - (112u << 23);
    uint below = (1u << places) - 1;
    uint up = mode == 0 ? (below >> 1) + (significand >> places & 1) : mode == 1 ? 0 : (mode == 2) == (sign == 0) ? below : 0;
    uint result = (significand + up) >> places;
    uint overflow = mode == 0 ? 0x7c00 : mode == 1 ? 0x7bff : (mode == 2) == (sign == 0) ? 0x7c00 : 0x7bff;
    result = result >= 0x7c00 || magnitude >= 0x47800000 ? overflow : result;
    result = magnitude == 0x7f800000 ? 0x7c00 : result;
    return (ushort)(sign | result);
}
ushort ROUTINE half_rte(float x) { return to_half(x, 0); }
ushort ROUTINE half_rtz(float x) { return to_half(x, 1); }
ushort ROUTINE half_rtp(float x) { return to_half(x, 2); }
ushort ROUTINE half_rtn(float x) { return to_half(x, 3); }
LANES1(float, from_half, ushort)
LANES1(ushort, half_rte, float)
LANES1(ushort, half_rtz, float)
LANES1(ushort, half_rtp, float)
LANES1(ushort, half_rtn, float)

#define LOAD_HALF(space, unused) \
    float OVERLOAD vload_half(size_t n, const space half *p) { return from_half(((const space ushort *)p)[n]); } \
    FOR_VECTORS(LOAD_HALF_VECTOR, space) \
    float3 OVERLOAD vloada_half3(size_t n, const space half *p) \
    { return from_half(vload4(n, (const space ushort *)p).xyz); }
#define LOAD_HALF_VECTOR(n, space) \
    float##n OVERLOAD vload_half##n(size_t at, const space half *p) \
    { return from_half(vload##n(at, (const space ushort *)p)); } \
    LOAD_ALIGNED_##n(n, space)
#define LOAD_ALIGNED(n, space) \
    float##n OVERLOAD vloada_half##n(size_t at, const space half *p) { return vload_half##n(at, p); }
#define LOAD_ALIGNED_2 LOAD_ALIGNED
#define LOAD_ALIGNED_3(n, space)
#define LOAD_ALIGNED_4 LOAD_ALIGNED
#define LOAD_ALIGNED_8 LOAD_ALIGNED
#define LOAD_ALIGNED_16 LOAD_ALIGNED
FOR_ADDRESS_SPACES(LOAD_HALF, 0)
LOAD_HALF(__constant, 0)

#define STORE_HALF(space, suffix, mode) \
    void OVERLOAD vstore_half##suffix(float x, size_t n, space half *p) { ((space ushort *)p)[n] = half_##mode(x); } \
    FOR_VECTORS(STORE_HALF_VECTOR, space, suffix, mode) \
    void OVERLOAD vstorea_half3##suffix(float3 x, size_t n, space half *p) \
    { vstore3(half_##mode(x), 0, (space ushort *)p + n * 4); }
#define STORE_HALF_VECTOR(n, space, suffix, mode) \
    void OVERLOAD vstore_half##n##suffix(float##n x, size_t at, space half *p) \
    { vstore##n(half_##mode(x), at, (space ushort *)p); } \
    STORE_ALIGNED_##n(n, space, suffix)
#define STORE_ALIGNED(n, space, suffix) \
    void OVERLOAD vstorea_half##n##suffix(float##n x, size_t at, space half *p) { vstore_half##n##suffix(x, at, p); }
#define STORE_ALIGNED_2 STORE_ALIGNED
#define STORE_ALIGNED_3(n, space, suffix)
#define STORE_ALIGNED_4 STORE_ALIGNED
#define STORE_ALIGNED_8 STORE_ALIGNED
#define STORE_ALIGNED_16 STORE_ALIGNED
#define STORE_HALF_MODES(space, unused) \
    STORE_HALF(space, , rte) STORE_HALF(space, _rte, rte) STORE_HALF(space, _rtz, rtz) STORE_HALF(space, _rtp, rtp) \
    STORE_HALF(space, _rtn, rtn)
FOR_ADDRESS_SPACES(STORE_HALF_MODES, 0)

SHUFFLE(char, uchar) SHUFFLE(uchar, uchar) SHUFFLE(short, ushort) SHUFFLE(ushort, ushort) SHUFFLE(int, uint)
SHUFFLE(uint, uint) SHUFFLE(long, ulong) SHUFFLE(ulong, ulong) SHUFFLE(float, uint)
