// Work-items that pass messages within their work-group, through local and through global memory.

#define START uint l = get_local_id(0), i = get_global_id(0), g = get_group_id(0), n = get_local_size(0), x = in[i];
#define LOCAL barrier(CLK_LOCAL_MEM_FENCE)
#define GLOBAL barrier(CLK_GLOBAL_MEM_FENCE)
#define BOTH barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// run ring 256/128: out uint 256, in uint 256
__kernel void ring(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    for (uint j = 0; j < 8; j++) {
        t[(l + 1) % n] = x;
        LOCAL;
        x = t[l] * 3 + l;
        LOCAL;
    }
    out[i] = x + g;
}

// run butterfly 256/128: out uint 256, in uint 256
__kernel void butterfly(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    for (uint step = 1; step < n; step *= 2) {
        t[l] = x;
        LOCAL;
        x += t[l ^ step] * (l & step ? 5 : 3);
        LOCAL;
    }
    out[i] = x + g;
}

// run broadcast 256/64: out uint 256, in uint 256
__kernel void broadcast(__global uint *out, __global const uint *in)
{
    __local uint word;
    START
    for (uint j = 0; j < 4; j++) {
        if (l == (j * 21 + g) % n) word = x;
        LOCAL;
        x = x * 3 + word;
        LOCAL;
    }
    out[i] = x;
}

// run through_global 256/128: out uint 256, in uint 256
__kernel void through_global(__global uint *out, __global const uint *in)
{
    START
    out[i] = x;
    GLOBAL;
    uint other = out[g * n + (n - 1 - l)];
    GLOBAL;
    out[i] = x + other * 3;
}

// run through_global_often 256/128: zero uint 256, in uint 256
__kernel void through_global_often(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 6; j++) {
        out[g * n + (l * 5 + j) % n] = x;
        GLOBAL;
        x += out[g * n + (l ^ 1 << j)] >> 1;
        GLOBAL;
    }
    out[i] = x;
}

// run through_global_bytes 256/128: out uchar 256, in uint 256
__kernel void through_global_bytes(__global uchar *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 3; j++) {
        out[i] = x;
        GLOBAL;
        x = x * 3 + out[g * n + (l ^ 67)] + out[g * n + (l ^ 1)];
        GLOBAL;
    }
    out[i] = x;
}

// run through_both 256/128: out uint 256, in uint 256
__kernel void through_both(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    for (uint j = 0; j < 4; j++) {
        t[l] = x;
        out[i] = x * 3;
        BOTH;
        x = t[l ^ 64] + out[g * n + (n - 1 - l)];
        BOTH;
    }
    out[i] = x;
}

// run place_in_global 128/64: zero uint 128, zero uint 128, in uint 128
__kernel void place_in_global(__global uint *out, __global uint *work, __global const uint *in)
{
    __local uint place[64];
    START
    place[l] = g * n + (l * 11 + 3) % n;
    LOCAL;
    work[place[n - 1 - l]] = x;
    GLOBAL;
    out[i] = work[place[l]] + place[l ^ 1];
}

// run vector_through_global 64/64: out uint4 64, in uint 64
__kernel void vector_through_global(__global uint4 *out, __global const uint *in)
{
    START
    out[i] = (uint4)(x, x * 3, l, g);
    GLOBAL;
    uint4 other = out[63 - l];
    GLOBAL;
    out[i] = other.wzyx + x;
}

// run global_atomics 256/128: zero uint 4, in uint 256, out uint 256
__kernel void global_atomics(__global uint *count, __global const uint *in, __global uint *out)
{
    START
    atomic_add(&count[2 * g], x & 0xFF);
    if (x & 1) atomic_inc(&count[2 * g + 1]);
    GLOBAL;
    out[i] = count[2 * g] * 1000 + count[2 * g + 1];
}

// run fences 128/64: out uint 128, in uint 128
__kernel void fences(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    t[l] = x;
    mem_fence(CLK_LOCAL_MEM_FENCE);
    LOCAL;
    x += t[l ^ 1] + g * n;
    read_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    LOCAL;
    t[l] = x;
    write_mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    LOCAL;
    out[i] = t[63 - l];
}

// Half of the wavefronts make what the others use.
// run producers 512/256: out uint 512, in uint 512
__kernel void producers(__global uint *out, __global const uint *in)
{
    __local uint t[2][128];
    START
    uint sum = 0;
    for (uint j = 0; j <= 6; j++) {
        if (l < 128) { if (j < 6) t[j & 1][l] = x * (j + 1) + (x >> j); }
        else if (j > 0) sum = sum * 3 + t[(j - 1) & 1][l - 128] + t[(j - 1) & 1][255 - l];
        LOCAL;
    }
    out[i] = l < 128 ? x : sum + g * n;
}

// run pipeline 256/256: out uint 256, in uint 256
__kernel void pipeline(__global uint *out, __global const uint *in)
{
    __local uint stage[4][64];
    START
    uint w = l / 64, k = l % 64, sum = 0;
    for (uint j = 0; j < 8; j++) {
        uint got = w ? stage[w - 1][k] : x + j;
        if (j < w) got = 0;
        LOCAL;
        stage[w][k] = got * 3 + w;
        sum += got;
        LOCAL;
    }
    out[i] = sum + g * n;
}

// run double_buffer 128/64: out uint 128, in uint 1024
__kernel void double_buffer(__global uint *out, __global const uint *in)
{
    __local uint t[2][64];
    START
    uint sum = 0;
    t[0][l] = in[g * 512 + l];
    for (uint j = 0; j < 8; j++) {
        LOCAL;
        if (j < 7) t[(j + 1) & 1][l] = in[g * 512 + 64 * (j + 1) + l];
        for (uint k = 0; k < 4; k++) sum = sum * 3 + t[j & 1][(l + k * 17) & 63];
    }
    out[i] = sum + x % n;
}

// run swapped_pointers 128/64: out uint 128, in uint 128
__kernel void swapped_pointers(__global uint *out, __global const uint *in)
{
    __local uint a[64], b[64];
    __local uint *from = a, *to = b;
    START
    from[l] = x;
    for (uint j = 0; j < 6; j++) {
        LOCAL;
        to[l] = from[(l + 1) & 63] + from[l] * j;
        __local uint *old = from;
        from = to;
        to = old;
    }
    LOCAL;
    out[i] = from[l ^ 1] + g * n;
}

// run any_and_all 320/64: out uint 320, in uint 320
__kernel void any_and_all(__global uint *out, __global const uint *in)
{
    __local uint any, all;
    START
    uint found = 0;
    for (uint j = 0; j < 4; j++) {
        LOCAL;
        if (l == 0) { any = 0; all = 1; }
        LOCAL;
        if ((x >> (4 * j) & 63) == 5) any = 1;
        if ((x >> (4 * j) & 255) == 7 + g) all = 0;
        LOCAL;
        found = found * 4 + any * 2 + all;
    }
    out[i] = found + n;
}

// A queue of what is left to do; the order does not matter.
// run queue 128/64: zero uint 512, in uint 128
__kernel void queue(__global uint *out, __global const uint *in)
{
    __local uint todo[2][256], count[2];
    START
    if (l == 0) { count[0] = 64; count[1] = 0; }
    todo[0][l] = x & 255;
    LOCAL;
    for (uint round = 0; round < 6; round++) {
        uint from = round & 1, length = count[from];
        for (uint j = l; j < length; j += n) {
            uint value = todo[from][j];
            atomic_inc(&out[256 * g + value]);
            if (value & 1) todo[from ^ 1][atomic_inc(&count[from ^ 1]) & 255] = value >> 1;
        }
        LOCAL;
        if (l == 0) count[from] = 0;
        LOCAL;
    }
}

// run mailbox 64/64: out uint 64, in uint 64
__kernel void mailbox(__global uint *out, __global const uint *in)
{
    __local uint box[64][4];
    START
    uint to = (l * 13 + 5) & 63;
    for (uint j = 0; j < 4; j++) box[to][j] = x >> (8 * j) & 255;
    LOCAL;
    uint sum = 0;
    for (uint j = 0; j < 4; j++) sum = sum * 256 + box[l][j];
    out[i] = sum + g * n;
}

// run all_to_all 32/32: out uint 32, in uint 32
__kernel void all_to_all(__global uint *out, __global const uint *in)
{
    __local uint box[32][32];
    START
    for (uint j = 0; j < 32; j++) box[j][l] = x * (j + 1);
    LOCAL;
    uint sum = 0;
    for (uint j = 0; j < 32; j++) sum = sum * 3 + box[l][j];
    out[i] = sum + g * n;
}

// run handshake 128/128: out uint 128, in uint 128
__kernel void handshake(__global uint *out, __global const uint *in)
{
    __local uint request, answer;
    START
    for (uint j = 0; j < 10; j++) {
        if (l == 0) request = x + j;
        LOCAL;
        if (l == 127) { x = x * 3 + request; answer = x; }
        LOCAL;
        if (l == 0) x ^= answer;
    }
    out[i] = x + g * n;
}

// run wavefront_leaders 512/512: out uint 512, in uint 512
__kernel void wavefront_leaders(__global uint *out, __global const uint *in)
{
    __local uint t[512], leader[8];
    START
    t[l] = x;
    LOCAL;
    if ((l & 63) == 0) {
        uint sum = 0;
        for (uint j = 0; j < 64; j++) sum += t[l + j];
        leader[l / 64] = sum;
    }
    LOCAL;
    if (l == 0) for (uint j = 1; j < 8; j++) leader[j] += leader[j - 1];
    LOCAL;
    out[i] = x + leader[l / 64] + g * n;
}
