// Local memory that the host gives, alone and beside variables of the kernel.

// run one_argument 128/64: out uint 128, in uint 128, local 256
// run one_argument 96/32: out uint 96, in uint 96, local 128
// run one_argument 1024/512: out uint 1024, in uint 1024, local 2048
__kernel void one_argument(__global uint *out, __global const uint *in, __local uint *t)
{
    uint l = get_local_id(0), i = get_global_id(0), n = get_local_size(0);
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[n - 1 - l];
}

// run first_argument 128/64: local 64, out uchar 128, in uchar 128
__kernel void first_argument(__local uchar *t, __global uchar *out, __global const uchar *in)
{
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l ^ 33];
}

// run two_arguments 128/64: out uint 128, local 256, in uint 128, local 128
__kernel void two_arguments(__global uint *out, __local uint *s, __global const uint *in, __local ushort *t)
{
    uint l = get_local_id(0), i = get_global_id(0);
    s[l] = in[i];
    t[63 - l] = in[i] >> 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = s[l ^ 1] + t[l ^ 1];
}

// run odd_arguments 80/20: out uint 80, in uint 80, local 20, local 7, local 160, local 1, local 60
__kernel void odd_arguments(__global uint *out, __global const uint *in, __local uchar *a, __local uchar *b,
                            __local ulong *c, __local uchar *d, __local char *e)
{
    uint l = get_local_id(0), i = get_global_id(0);
    a[l] = in[i];
    if (l < 7) b[l] = in[i] >> 3;
    c[l] = (ulong)in[i] * in[i];
    if (l == 11) d[0] = in[i] >> 9;
    for (uint j = 0; j < 3; j++) e[20 * j + l] = in[i] >> (j + 4);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = a[19 - l] + b[l % 7] + (uint)(c[(l + 3) % 20] >> 30) + d[0] + e[3 * l] + e[3 * l + 2];
}

// run mixed_arguments 128/64: out uint 128, in uint 128, local 256, value uint 3
__kernel void mixed_arguments(__global uint *out, __global const uint *in, __local uint *t, uint by)
{
    __local uint s[64];
    __local uchar last;
    uint l = get_local_id(0), i = get_global_id(0);
    s[l] = in[i];
    t[l] = in[i] ^ 0xFFFF;
    if (l == 63) last = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = s[(l + by) & 63] * 3 + t[(l + 2 * by) & 63] + last;
}

// run vector_argument 64/32: out float4 64, in float4 64, local 512
__kernel void vector_argument(__global float4 *out, __global const float4 *in, __local float4 *t)
{
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[31 - l].yxwz + t[l ^ 8];
}

// run struct_argument 64/32: out uint 64, in uint 64, local 256
struct pair { uint key, value; };
__kernel void struct_argument(__global uint *out, __global const uint *in, __local struct pair *t)
{
    uint l = get_local_id(0), i = get_global_id(0);
    t[l].key = in[i];
    t[l].value = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    struct pair p = t[l ^ 21];
    out[i] = p.key + p.value;
}

// run cast_argument 64/64: out uint 64, in uint 64, local 512
__kernel void cast_argument(__global uint *out, __global const uint *in, __local void *room)
{
    __local uint *words = room;
    __local ushort *halves = (__local ushort *)(words + 64);
    __local uchar *bytes = (__local uchar *)(halves + 64);
    uint l = get_local_id(0);
    words[l] = in[l];
    halves[l] = in[l] >> 3;
    bytes[l] = in[l] >> 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = words[l ^ 1] + halves[l ^ 2] + bytes[l ^ 3];
}

// run same_size 64/64: out uint 64, in uint 64, local 256, local 256
__kernel void same_size(__global uint *out, __global const uint *in, __local uint *a, __local uint *b)
{
    uint l = get_local_id(0);
    a[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[63 - l] = a[l ^ 7] * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[l] = b[l ^ 1] - 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = a[l ^ 2] + b[l];
}

// run large_argument 256/64: out uint 256, local 8192
__kernel void large_argument(__global uint *out, __local uint *t)
{
    uint l = get_local_id(0), i = get_global_id(0), sum = 0;
    for (uint j = l; j < 2048; j += 64) t[j] = j * j + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 32; j++) sum = sum * 3 + t[32 * l + j];
    out[i] = sum;
}

// More words of arguments than the hardware has.
// run many_arguments 64/32: out uint 64, local 128, value uint 1, value uint 2, value uint 3, value uint 4, value uint 5, value uint 6, value uint 7, value uint 8, value uint 9, value uint 10, value uint 11, value uint 12, value uint 13, local 64
__kernel void many_arguments(__global uint *out, __local uint *t, uint a, uint b, uint c, uint d, uint e, uint f,
                             uint g, uint h, uint j, uint k, uint m, uint n, uint o, __local ushort *s)
{
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = a + l * b + c * i + d;
    s[l] = e * l + f + g + h * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[31 - l] * j + k + s[l ^ 1] * m + n + o;
}

// run unused_argument 64/32: out uint 64, local 1024
__kernel void unused_argument(__global uint *out, __local uint *t)
{
    out[get_global_id(0)] = get_local_id(0) + 5;
}

// run only_barrier 128/64: out uint 128
__kernel void only_barrier(__global uint *out)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = get_local_id(0) * 3 + get_group_id(0);
    barrier(CLK_GLOBAL_MEM_FENCE);
    barrier(0);
}
