// Accesses to local memory: of all widths, cast, in conflicts; beside private arrays, tables and global memory.

#define START uint l = get_local_id(0), i = get_global_id(0);
#define MEET barrier(CLK_LOCAL_MEM_FENCE)

// run words_to_bytes 128/64: out uchar 128, in uint 128
__kernel void words_to_bytes(__global uchar *out, __global const uint *in)
{
    __local uint t[64];
    START
    t[l] = in[i];
    MEET;
    __local uchar *bytes = (__local uchar *)t;
    out[i] = bytes[l] + bytes[255 - l];
}

// run bytes_to_words 512/256: out uint 128, in uchar 512
__kernel void bytes_to_words(__global uint *out, __global const uchar *in)
{
    __local uchar t[256] __attribute__((aligned(4)));
    START
    t[l ^ 3] = in[i];
    MEET;
    if (l < 64) out[64 * get_group_id(0) + l] = ((__local uint *)t)[l];
}

// run halves_to_words 256/128: out uint 128, in ushort 256
__kernel void halves_to_words(__global uint *out, __global const ushort *in)
{
    __local ushort t[128] __attribute__((aligned(8)));
    START
    t[127 - l] = in[i];
    MEET;
    if (l < 64) out[64 * get_group_id(0) + l] = ((__local uint *)t)[l];
}

// run words_to_longs 128/64: out ulong 64, in uint 128
__kernel void words_to_longs(__global ulong *out, __global const uint *in)
{
    __local uint t[64] __attribute__((aligned(8)));
    START
    t[l] = in[i];
    MEET;
    if (l < 32) out[32 * get_group_id(0) + l] = ((__local ulong *)t)[l ^ 1];
}

// run longs_to_halves 64/64: out ushort 256, in ulong 64
__kernel void longs_to_halves(__global ushort *out, __global const ulong *in)
{
    __local ulong t[64];
    START
    t[l] = in[i];
    MEET;
    for (uint j = 0; j < 4; j++) out[64 * j + l] = ((__local ushort *)t)[(l * 4 + j + 8) & 255];
}

// run floats_to_ints 128/64: out uint 128, in float 128
__kernel void floats_to_ints(__global uint *out, __global const float *in)
{
    __local float t[64];
    START
    t[l] = in[i];
    MEET;
    out[i] = ((__local uint *)t)[l ^ 1] ^ as_uint(t[l ^ 2]);
}

// run vectors_to_scalars 64/64: out uint 256, in uint4 64
__kernel void vectors_to_scalars(__global uint *out, __global const uint4 *in)
{
    __local uint4 t[64];
    START
    t[l] = in[i];
    MEET;
    for (uint j = 0; j < 4; j++) out[64 * j + l] = ((__local uint *)t)[64 * j + (l ^ 5)];
}

// run scalars_to_vectors 64/64: out uint4 64, in uint 256
__kernel void scalars_to_vectors(__global uint4 *out, __global const uint *in)
{
    __local uint t[256] __attribute__((aligned(16)));
    START
    for (uint j = 0; j < 4; j++) t[64 * j + l] = in[64 * j + l];
    MEET;
    out[l] = ((__local uint4 *)t)[63 - l].wxzy;
}

// run load_{char uchar short ushort int uint long float} 64/64: out $ 512, in $ 128
#define LOAD(T) __kernel void load_##T(__global T *out, __global const T *in) \
{ \
    __local T t[128]; \
    START \
    t[l] = in[l]; \
    t[l + 64] = in[l + 64]; \
    MEET; \
    T##2 two = vload2(l / 2, t + 1); \
    T##3 three = vload3(l / 2, t + 2); \
    T##4 four = vload4(l / 4, t + 3); \
    T##8 eight = vload8(l / 8, t + 5); \
    eight.lo += four; \
    eight.s012 -= three; \
    eight.hi.lo += two; \
    vstore8(eight, l, out); \
}
LOAD(char) LOAD(uchar) LOAD(short) LOAD(ushort) LOAD(int) LOAD(uint) LOAD(long) LOAD(float)

// run store_{uchar short uint float} 16/16: out $ 400, in $ 256
#define STORE(T) __kernel void store_##T(__global T *out, __global const T *in) \
{ \
    __local T t[400]; \
    START \
    vstore16(vload16(l, in), l, t); \
    vstore4(vload4(l, in + 100), l, t + 256); \
    vstore3(vload3(l, in + 3), l, t + 320); \
    vstore2(vload2(l, in + 55), l, t + 368); \
    MEET; \
    for (uint j = l; j < 400; j += 16) out[j] = t[399 - j]; \
}
STORE(uchar) STORE(short) STORE(uint) STORE(float)

// run half_precision 64/64: out float 64, in float 64
__kernel void half_precision(__global float *out, __global const float *in)
{
    __local ushort room[64];
    __local half *t = (__local half *)room;
    START
    vstore_half(in[l] / 4, l, t);
    MEET;
    out[l] = vload_half(l ^ 1, t) + vload_half(63 - l, t);
}

// run half_vectors 64/16: out float 256, in float4 64
__kernel void half_vectors(__global float *out, __global const float4 *in)
{
    __local ushort room[64] __attribute__((aligned(8)));
    __local half *t = (__local half *)room;
    START
    vstore_half4_rte(in[i], l, t);
    MEET;
    vstore4(vload_half4(15 - l, t), i, out);
}

// Distances of words that meet in one bank, or in none.
// run stride 128/64: out uint 128, in uint 128, value uint {1 2 3 4 5 7 8 9 16 31 32 33}
__kernel void stride(__global uint *out, __global const uint *in, uint by)
{
    __local uint t[64 * 33];
    START
    t[l * by] = in[i];
    MEET;
    out[i] = t[(63 - l) * by] + t[(l ^ 1) * by];
}

// run stride_of_bytes 128/64: out uint 128, in uint 128, value uint {1 3 4 8 32 33}
__kernel void stride_of_bytes(__global uint *out, __global const uint *in, uint by)
{
    __local uchar t[64 * 33];
    START
    t[l * by] = in[i];
    MEET;
    out[i] = t[(63 - l) * by] * 256 + t[(l ^ 1) * by];
}

// run stride_of_halves 128/64: out uint 128, in uint 128, value uint {1 2 5 16}
__kernel void stride_of_halves(__global uint *out, __global const uint *in, uint by)
{
    __local ushort t[64 * 16];
    START
    t[l * by] = in[i];
    MEET;
    out[i] = t[(63 - l) * by] * 256 + t[(l ^ 1) * by];
}

// run any_address 128/64: out uint 128, in uint 1024
__kernel void any_address(__global uint *out, __global const uint *in)
{
    __local uint t[512];
    START
    for (uint j = 0; j < 8; j++) t[64 * j + l] = in[64 * j + l];
    MEET;
    uint x = i * 0x9E3779B9u;
    for (uint j = 0; j < 10; j++) x = x * 5 + t[x >> 13 & 511];
    out[i] = x;
}

// run few_addresses 128/64: out uint 128, in uint 128
__kernel void few_addresses(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    t[l] = in[i];
    MEET;
    uint sum = 0;
    for (uint j = 1; j < 64; j *= 2) sum = sum * 3 + t[l / j * j] + t[l % j] + t[8 * (l % j) & 63];
    out[i] = sum;
}

// run one_address 128/64: out uint 128, in uint 128
__kernel void one_address(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    t[l] = in[i];
    MEET;
    uint sum = 0;
    for (uint j = 0; j < 64; j++) sum = sum * 3 + t[j];
    out[i] = sum + l;
}

// run all_to_one_then_all 128/64: out uint 128, in uint 128
__kernel void all_to_one_then_all(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    for (uint j = 0; j < 4; j++) {
        if (l == 0) for (uint k = 0; k < 64; k++) t[k] = in[64 * get_group_id(0) + k] + j;
        MEET;
        if (j == 3) out[i] = t[l ^ 9];
        MEET;
    }
}

// run padded 256/64: out uint 256, in uint 256
__kernel void padded(__global uint *out, __global const uint *in)
{
    __local uint t[8][9];
    START
    t[l >> 3][l & 7] = in[i];
    MEET;
    out[i] = t[l & 7][l >> 3];
}

// run volatile_words 128/64: out uint 128, in uint 128
__kernel void volatile_words(__global uint *out, __global const uint *in)
{
    volatile __local uint t[64];
    START
    t[l] = in[i];
    t[l] += 1;
    uint x = t[l] * t[l];
    MEET;
    out[i] = t[l ^ 1] + x;
}

// run read_and_write 128/64: out uint 128, in uint 128
__kernel void read_and_write(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    __local ushort h[64];
    __local uchar c[64];
    START
    t[l] = in[i]; h[l] = in[i]; c[l] = in[i];
    t[l] += 3; h[l] *= 3; c[l] -= 7;
    t[l]++; h[l] <<= 2; c[l] ^= h[l];
    --c[l];
    MEET;
    out[i] = t[l ^ 1] + h[l ^ 2] + c[l ^ 3];
}

// run signed_narrow 128/64: out int 128, in int 128
__kernel void signed_narrow(__global int *out, __global const int *in)
{
    __local char c[64];
    __local short h[64];
    START
    c[l] = in[i];
    h[63 - l] = in[i] >> 3;
    MEET;
    out[i] = c[l ^ 1] * 1000 + h[l];
}

// run private_arrays 128/64: out uint 128, in uint 128
__kernel void private_arrays(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint mine[8];
    START
    for (uint j = 0; j < 8; j++) mine[j] = in[(i + j) & 127];
    for (uint j = 0; j < 8; j++) {
        t[l] = mine[(l + j) & 7];
        MEET;
        mine[(in[i] + j) & 7] += t[l ^ 1];
        MEET;
    }
    uint sum = 0;
    for (uint j = 0; j < 8; j++) sum = sum * 3 + mine[j];
    out[i] = sum;
}

// run long_private_arrays 64/32: out uint 64, in uint 64
__kernel void long_private_arrays(__global uint *out, __global const uint *in)
{
    __local uint t[32];
    uint mine[40];
    uchar order[40];
    START
    for (uint j = 0; j < 40; j++) { mine[j] = in[(i + j) & 63] + j; order[j] = (j * 7 + l) % 40; }
    for (uint j = 0; j < 5; j++) {
        t[l] = mine[order[j]];
        MEET;
        mine[order[j + 5]] ^= t[31 - l];
        MEET;
    }
    uint sum = 0;
    for (uint j = 0; j < 40; j++) sum = sum * 3 + mine[order[j]];
    out[i] = sum;
}

// Values that live across barriers, more than there are registers.
// run many_values 128/64: out uint 128, in uint 128
__kernel void many_values(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    uint4 a = (uint4)(in[i], i, l, 3), b = a * 5, c = a ^ 77, d = b + c, e = d * 3, f = e ^ b, g = f - c, h = g * a;
    t[l] = h.x;
    MEET;
    a += t[l ^ 1]; b ^= a; c += b; d -= c;
    MEET;
    t[63 - l] = d.y;
    MEET;
    e += t[l]; f ^= e.wzyx; g += f; h *= g;
    uint4 sum = a + b * 3 + c * 5 + d * 7 + e * 9 + f * 11 + g * 13 + h * 15;
    out[i] = sum.x + sum.y * 2 + sum.z * 3 + sum.w * 4;
}

__constant uint table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__constant uchar long_table[64] = {
    7, 3, 61, 12, 9, 33, 1, 55, 18, 22, 40, 5, 60, 11, 2, 31, 8, 44, 19, 50, 27, 13, 36, 0, 21, 58, 47, 6, 30, 15, 63,
    24, 10, 39, 52, 4, 17, 26, 48, 35, 20, 57, 14, 41, 62, 29, 16, 38, 23, 53, 34, 45, 56, 25, 42, 59, 28, 37, 46, 51,
    32, 43, 54, 49};

// run with_table 128/64: out uint 128, in uint 128
__kernel void with_table(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    t[l] = in[i] * table[l & 15];
    MEET;
    out[i] = t[l ^ table[in[i] & 15]] + table[t[l] & 15];
}

// run with_long_table 128/64: out uint 128, in uint 128
__kernel void with_long_table(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    t[long_table[l]] = in[i];
    MEET;
    out[i] = t[l] * 3 + t[long_table[t[l] & 63]];
}

// run table_in_local 128/64: out uint 128, in uchar 128
__kernel void table_in_local(__global uint *out, __global const uchar *in)
{
    __local uchar t[64];
    START
    t[l] = long_table[l];
    MEET;
    uint x = in[i];
    for (uint j = 0; j < 5; j++) x = x * 2 + t[x & 63];
    out[i] = x;
}

// run everything 128/64: out uint 128, in uint 128, local 128
__kernel void everything(__global uint *out, __global const uint *in, __local ushort *given)
{
    __local uint t[64];
    uint mine[6];
    START
    for (uint j = 0; j < 6; j++) mine[j] = in[(i + 9 * j) & 127] ^ table[j];
    given[l] = mine[l % 6];
    t[l] = mine[(l + 1) % 6];
    MEET;
    mine[given[l ^ 1] % 6] += t[l ^ 2];
    MEET;
    given[l] = mine[table[l & 15] % 6];
    MEET;
    out[i] = given[l ^ 3] + mine[0] * 3 + mine[5] + t[l];
}

// run filled 64/64: out uint 128
__kernel void filled(__global uint *out)
{
    __local uint t[6000];
    START
    for (uint j = l; j < 6000; j += 64) t[j] = j * j;
    MEET;
    uint sum = 0;
    for (uint j = 0; j < 93; j++) sum = sum * 3 + t[93 * l + j];
    out[l] = sum;
    MEET;
    for (uint j = 0; j < 6000; j += 64) if (j + l < 6000) t[j + l] += l;
    MEET;
    sum = 0;
    for (uint j = 0; j < 93; j++) sum = sum * 5 + t[5999 - 93 * l - j];
    out[l + 64] = sum;
}
