// Structs, unions, arrays of arrays and pointers in and to local memory.

struct pair { uint key, value; };
struct mixed { uchar a; ushort b; uint c; uchar d; ulong e; };
struct nested { struct pair first; ushort word[3]; struct { uchar x, y; } last; };
struct vectors { float4 f; char3 c; int2 i; };
struct __attribute__((packed)) tight { uchar a; uint b; ushort c; };
union bits { uint u; float f; uchar c[4]; ushort h[2]; };
union wide { ulong u; uint w[2]; uchar c[8]; };
struct view { __local uint *data; uint length; };
enum color { RED, GREEN = 5, BLUE };

// run struct_members 128/64: out uint 128, in uint 128
__kernel void struct_members(__global uint *out, __global const uint *in)
{
    __local struct pair t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l].key = in[i];
    t[63 - l].value = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l ^ 1].key + 3 * t[l ^ 2].value;
}

// run struct_whole 128/64: out uint 256, in uint 256
__kernel void struct_whole(__global struct pair *out, __global const struct pair *in)
{
    __local struct pair t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    struct pair mine = t[(l + 7) & 63];
    mine.key ^= mine.value;
    out[i] = mine;
}

// run struct_local_to_local 64/32: out uint 128, in uint 128
__kernel void struct_local_to_local(__global struct pair *out, __global const struct pair *in)
{
    __local struct pair s[32], t[32];
    uint l = get_local_id(0), i = get_global_id(0);
    s[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = s[31 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l ^ 5];
}

// run struct_mixed 100/50: out ulong 100, in ulong 100
__kernel void struct_mixed(__global ulong *out, __global const ulong *in)
{
    __local struct mixed t[50];
    uint l = get_local_id(0), i = get_global_id(0), n = (l + 13) % 50;
    ulong x = in[i];
    t[n].a = x;
    t[n].b = x >> 8;
    t[n].c = x >> 24;
    t[n].d = x >> 56;
    t[n].e = ~x;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local struct mixed *m = &t[l];
    out[i] = m->a + ((ulong)m->b << 8) + ((ulong)m->c << 24) + ((ulong)m->d << 56) + m->e / 3;
}

// run struct_nested 128/128: out uint 128, in uint 128
__kernel void struct_nested(__global uint *out, __global const uint *in)
{
    __local struct nested t[32];
    uint l = get_local_id(0), i = get_global_id(0), n = l & 31;
    uint x = in[i];
    switch (l >> 5) {
    case 0: t[n].first.key = x; t[n].first.value = x * 3; break;
    case 1: t[n].word[0] = x; t[n].word[2] = x >> 16; break;
    case 2: t[n].word[1] = x; break;
    default: t[n].last.x = x; t[n].last.y = x >> 8;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    struct nested s = t[31 - n];
    out[i] = s.first.key ^ s.first.value + s.word[l % 3] * 5 ^ s.last.x - s.last.y;
}

// run struct_of_vectors 64/64: out float4 64, in float4 64, in char4 64
__kernel void struct_of_vectors(__global float4 *out, __global const float4 *in, __global const char4 *bytes)
{
    __local struct vectors t[64];
    uint l = get_local_id(0);
    t[l].f = in[l];
    t[l].c = bytes[l].wxy;
    t[l].i = (int2)(l, -l);
    barrier(CLK_LOCAL_MEM_FENCE);
    struct vectors s = t[(l * 5 + 1) & 63];
    out[l] = s.f.wzyx + (float4)(convert_float3(s.c), convert_float(s.i.x)) + convert_float(s.i.y);
}

// run struct_packed 128/64: out uint 128, in uint 128
__kernel void struct_packed(__global uint *out, __global const uint *in)
{
    __local struct tight t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l].a = in[i];
    t[l].b = in[i] * 7;
    t[l].c = in[i] >> 9;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l ^ 1].a + t[l ^ 3].b + t[l ^ 7].c;
}

// run struct_of_arrays 192/64: out uint 192, in uint 192
__kernel void struct_of_arrays(__global uint *out, __global const uint *in)
{
    __local struct { uint words[64]; ushort halves[64]; uchar bytes[64]; } t;
    uint l = get_local_id(0), i = get_global_id(0);
    t.words[l] = in[i];
    t.halves[63 - l] = in[i] >> 4;
    t.bytes[l ^ 9] = in[i] >> 12;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t.words[l ^ 32] + t.halves[l] * 3 + t.bytes[l] * 5;
}

// run struct_with_flag 64/32: out uint 64, in uint 64
__kernel void struct_with_flag(__global uint *out, __global const uint *in)
{
    __local struct { bool is_odd; enum color color; } t[32];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    t[l].is_odd = x & 1;
    t[l].color = x % 3 == 0 ? RED : x % 3 == 1 ? GREEN : BLUE;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[31 - l].is_odd ? t[l ^ 3].color : 100 + t[l ^ 3].color;
}

// run union_words 128/64: out uint 128, in float 128
__kernel void union_words(__global uint *out, __global const float *in)
{
    __local union bits t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l].f = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l ^ 1].u + t[l ^ 2].c[3] + t[l ^ 4].h[1];
}

// run union_bytes 256/256: out ulong 32, in uchar 256
__kernel void union_bytes(__global ulong *out, __global const uchar *in)
{
    __local union wide t[32];
    uint l = get_local_id(0);
    t[l / 8].c[l % 8] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 32) out[l] = t[l].u ^ t[31 - l].w[1];
}

// run array_of_arrays 128/64: out uint 128, in uint 128
__kernel void array_of_arrays(__global uint *out, __global const uint *in)
{
    __local uint t[8][8];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l / 8][l % 8] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l % 8][l / 8];
}

// run array_of_three 60/60: out ushort 60, in ushort 60
__kernel void array_of_three(__global ushort *out, __global const ushort *in)
{
    __local ushort t[3][4][5];
    uint l = get_local_id(0);
    t[l / 20][l / 5 % 4][l % 5] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = t[l % 3][l / 3 % 4][l / 12];
}

// run array_of_structs_of_arrays 64/64: out uchar 64, in uchar 64
__kernel void array_of_structs_of_arrays(__global uchar *out, __global const uchar *in)
{
    __local struct { uchar row[4][4]; ushort pad; } t[4];
    uint l = get_local_id(0);
    t[l >> 4].row[l >> 2 & 3][l & 3] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = t[l & 3].row[l >> 2 & 3][l >> 4];
}

// run several_variables 128/64: out uint 128, in uint 128
__kernel void several_variables(__global uint *out, __global const uint *in)
{
    __local uchar a[64];
    __local ulong b[64];
    __local ushort c[63];
    __local uint d;
    __local uchar e;
    __local float4 f[2];
    uint l = get_local_id(0), i = get_global_id(0);
    a[l] = in[i];
    b[l] = (ulong)in[i] << 13;
    if (l < 63) c[l] = in[i] >> 5;
    if (l == 17) d = in[i];
    if (l == 40) e = in[i];
    if (l < 2) f[l] = (float4)(l, 2, 3, i);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = a[l ^ 1] + (uint)(b[l ^ 2] >> 7) + c[l % 63] + d + e + (uint)f[l & 1].w;
}

// run scalars 320/64: out uint 320, in uint 320
__kernel void scalars(__global uint *out, __global const uint *in)
{
    __local uint first, last;
    uint l = get_local_id(0), i = get_global_id(0);
    if (l == 0) first = in[i];
    if (l == 63) last = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = in[i] * first + last;
}

// run same_names 64/32: out uint 64, in uint 64
// run same_names_too 64/32: out uint 64, in uint 64
__kernel void same_names(__global uint *out, __global const uint *in)
{
    __local uint t[32];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l ^ 1];
}
__kernel void same_names_too(__global uint *out, __global const uint *in)
{
    __local uint t[32];
    __local uint u[32];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    u[31 - l] = in[i] >> 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l ^ 2] + u[l];
}

// run in_blocks 64/64: out uint 64, in uint 64
__kernel void in_blocks(__global uint *out, __global const uint *in)
{
    uint l = get_local_id(0), sum = 0;
    __local uint s[64];
    s[l] = in[l];
    __local uint t[64];
    t[l] = in[l] ^ 0x55;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 4; j++) sum += s[(l + j) & 63] * t[(l - j) & 63];
    out[l] = sum;
}

// run pointer_walk 128/64: out uint 128, in uint 128
__kernel void pointer_walk(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0), sum = 0;
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (__local uint *at = t + l; at < t + 64; at += 5) sum = sum * 3 + *at;
    out[i] = sum;
}

// run pointer_chosen 128/64: out uint 128, in uint 128
__kernel void pointer_chosen(__global uint *out, __global const uint *in)
{
    __local uint a[64], b[64];
    uint l = get_local_id(0), i = get_global_id(0);
    __local uint *mine = in[i] & 1 ? a : b, *other = in[i] & 1 ? b : a;
    mine[l] = in[i];
    other[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    mine = in[i] & 2 ? a + (l ^ 1) : &b[l ^ 2];
    out[i] = *mine;
}

// run pointers_in_array 128/64: out uint 128, in uint 128
__kernel void pointers_in_array(__global uint *out, __global const uint *in)
{
    __local uint a[64], b[64], c[64];
    uint l = get_local_id(0), i = get_global_id(0), sum = 0;
    __local uint *t[3] = {a, b + 1, c + 2};
    for (uint j = 0; j < 3; j++) t[j][(int)l - (int)j] = in[i] >> j;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 3; j++) sum += t[j][0] + (l < 60 ? t[(in[i] + j) % 3][l] : 1);
    out[i] = sum;
}

// run pointer_in_struct 128/64: out uint 128, in uint 128
uint summed(struct view v)
{
    uint sum = 0;
    for (uint j = 0; j < v.length; j++) sum += v.data[j] * (j + 1);
    return sum;
}
__kernel void pointer_in_struct(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    struct view v = {t + l, 64 - l > 5 ? 5 : 64 - l};
    out[i] = summed(v);
}

// run pointers_in_local 64/64: out uint 64, in uint 64
__kernel void pointers_in_local(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    __local struct view v[64];
    uint l = get_local_id(0);
    t[l] = in[l];
    v[l].data = &t[63 - l];
    v[l].length = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = *v[l ^ 3].data + v[l ^ 1].length;
}

// run linked_list 64/64: out uint 64, in uint 64
struct node { uint value; __local struct node *next; };
__kernel void linked_list(__global uint *out, __global const uint *in)
{
    __local struct node t[64];
    uint l = get_local_id(0), sum = 0;
    t[l].value = in[l];
    t[l].next = l % 8 == 7 ? 0 : &t[l + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (__local struct node *at = &t[l]; at; at = at->next) sum = sum * 5 + at->value;
    out[l] = sum;
}

// run row_pointers 64/64: out uint 64, in uint 64
__kernel void row_pointers(__global uint *out, __global const uint *in)
{
    __local uint t[8][8];
    uint l = get_local_id(0);
    __local uint (*row)[8] = &t[l & 7];
    (*row)[l >> 3] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    row = t + (l >> 3);
    out[l] = row[0][l & 7] + (*row)[0];
}

// run pointer_differences 64/64: out int 64
__kernel void pointer_differences(__global int *out)
{
    __local short t[64];
    uint l = get_local_id(0);
    t[l] = 63 - l;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local short *a = t + t[l], *b = &t[l];
    out[l] = (a - b) * 2 + (a < b) + (a == b) * 1000;
}
