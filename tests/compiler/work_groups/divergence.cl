// Work-items that part, and meet at a barrier.

#define START __local uint t[128]; \
    uint l = get_local_id(0), i = get_global_id(0), n = get_local_size(0), x = in[i];
#define MEET barrier(CLK_LOCAL_MEM_FENCE)
#define END MEET; t[l] = x; MEET; out[i] = t[n - 1 - l] + t[l ^ 1];

// run after_if 256/128: out uint 256, in uint 256
__kernel void after_if(__global uint *out, __global const uint *in)
{
    START
    if (x & 1) x = x * 3 + 1;
    END
}

// run after_if_else 256/128: out uint 256, in uint 256
__kernel void after_if_else(__global uint *out, __global const uint *in)
{
    START
    if (x & 1) { t[l] = x; x /= 3; } else { t[l] = ~x; x *= 5; }
    MEET;
    x += t[l ^ 64];
    END
}

// run after_nested_ifs 256/128: out uint 256, in uint 256
__kernel void after_nested_ifs(__global uint *out, __global const uint *in)
{
    START
    if (x & 1) {
        if (x & 2) x += 5; else if (x & 4) x *= 7; else x ^= l;
        if (x & 8) x -= 3;
    } else if (x & 16) {
        x >>= 1;
        if (l & 1) x /= 9;
    }
    END
}

// run after_loop 256/128: out uint 256, in uint 256
__kernel void after_loop(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < (in[i] & 15); j++) x = x * 3 + j;
    END
}

// run after_break 256/128: out uint 256, in uint 256
__kernel void after_break(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 20; j++) {
        if ((x & 7) == j) break;
        x = x * 3 + j;
        if (x % 11 == 0) { x += 100; break; }
    }
    END
}

// run after_continue 256/128: out uint 256, in uint 256
__kernel void after_continue(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 10; j++) {
        if ((x >> j) & 1) continue;
        x += j * 17;
        if (x & 4) continue;
        x ^= 0x1234;
    }
    END
}

// run after_goto 256/128: out uint 256, in uint 256
__kernel void after_goto(__global uint *out, __global const uint *in)
{
    START
    if (x & 1) goto first;
    if (x & 2) goto second;
    x += 3;
first:
    x *= 3;
    if (x & 4) goto third;
second:
    x ^= 0xFF;
third:
    END
}

// run after_switch 256/128: out uint 256, in uint 256
__kernel void after_switch(__global uint *out, __global const uint *in)
{
    START
    switch (x & 7) {
    case 0: x += 1; break;
    case 1: x *= 3;
    case 2: x ^= 9; break;
    case 5: for (uint j = 0; j < (l & 3); j++) x = x * 5 + 1; break;
    default: x >>= 2;
    }
    END
}

// run after_conditions 256/128: out uint 256, in uint 256
__kernel void after_conditions(__global uint *out, __global const uint *in)
{
    START
    uint y = (x & 1 && (x += 7) % 3 == 0) || (x & 2 && ++x & 4) ? x / 3 : x & 64 ? (x >>= 3) : x * 9;
    x += y;
    END
}

// run in_loop_after_if 128/64: out uint 128, in uint 128
__kernel void in_loop_after_if(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 6; j++) {
        if (x & 1) t[l] = x * 3; else t[l] = x / 2;
        MEET;
        if (x & 2) x += t[l ^ 1]; else x ^= t[l ^ 2];
        MEET;
    }
    out[i] = x;
}

// run in_loop_after_loop 128/64: out uint 128, in uint 128
__kernel void in_loop_after_loop(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 4; j++) {
        for (uint k = 0; k < (x & 7); k++) x = x * 3 + k;
        t[l] = x;
        MEET;
        x = t[l ^ 1 << j];
        while (x & 3) x = x / 2 + 8;
        MEET;
    }
    out[i] = x;
}

// run in_loop_after_break 128/64: out uint 128, in uint 128
__kernel void in_loop_after_break(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 4; j++) {
        for (uint k = 0; k < 12; k++) {
            if ((x & 15) == k) break;
            x = x * 5 + k;
            if (x & 32) continue;
            x ^= k;
        }
        t[l] = x;
        MEET;
        x += t[(l + 1 + j) & 63];
        MEET;
    }
    out[i] = x;
}

// run in_loop_after_goto 128/64: out uint 128, in uint 128
__kernel void in_loop_after_goto(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 4; j++) {
        if (x & 1) goto skip;
        x += 3;
        if (x & 2) goto skip;
        x *= 3;
    skip:
        t[l] = x;
        MEET;
        x += t[l ^ 5];
        MEET;
    }
    out[i] = x;
}

// run first_only 256/128: out uint 256, in uint 256
__kernel void first_only(__global uint *out, __global const uint *in)
{
    START
    t[l] = x;
    MEET;
    if (l == 0) for (uint j = 1; j < n; j++) t[j] += t[j - 1];
    MEET;
    out[i] = t[l];
}

// run last_only 200/100: out uint 200, in uint 200
__kernel void last_only(__global uint *out, __global const uint *in)
{
    START
    t[l] = x;
    MEET;
    if (l == n - 1) for (int j = n - 2; j >= 0; j--) t[j] ^= t[j + 1] * 3;
    MEET;
    out[i] = t[l];
}

// Wavefronts go different ways, but each as a whole.
// run wavefront_ways 512/512: out uint 512, in uint 512
__kernel void wavefront_ways(__global uint *out, __global const uint *in)
{
    __local uint t[512];
    uint l = get_local_id(0), x = in[l];
    switch (l >> 6) {
    case 0: x += 1; break;
    case 1: for (uint j = 0; j < 40; j++) x = x * 3 + 1; break;
    case 3: x /= 7; break;
    case 6: for (uint j = 0; j < 5; j++) x ^= x >> j; break;
    default: x = ~x;
    }
    t[l] = x;
    MEET;
    out[l] = t[l ^ 64] + t[511 - l] + t[(l + 128) & 511];
}

// run late_wavefront 512/256: out uint 512, in uint 512
__kernel void late_wavefront(__global uint *out, __global const uint *in)
{
    __local uint t[256];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    for (uint round = 0; round < 4; round++) {
        if (l >> 6 == round) for (uint j = 0; j < 50; j++) x = x * 5 + j;
        t[l] = x;
        MEET;
        x += t[(l + 64) & 255];
        MEET;
    }
    out[i] = x;
}

// run each_its_turn 64/64: out uint 64, in uint 64
__kernel void each_its_turn(__global uint *out, __global const uint *in)
{
    START
    t[l] = x;
    MEET;
    for (uint turn = 0; turn < n; turn++) {
        if (turn == l) t[(l + 1) & 63] += t[l] * 3;
        MEET;
    }
    out[i] = t[l];
}

// run loads_in_parts 128/64: out uint 128, in uint 128
__kernel void loads_in_parts(__global uint *out, __global const uint *in)
{
    START
    t[l] = x;
    MEET;
    uint sum = 0;
    if (x & 1) {
        for (uint j = 0; j < (x >> 1 & 7); j++) sum += t[(l + j) & 63];
    } else {
        sum = t[l ^ 1];
        if (x & 2) sum += in[t[l ^ 2] & 127]; else t[64 + l] = sum;
    }
    MEET;
    out[i] = sum;
}

// run stores_in_parts 128/64: out uint 128, in uint 128
__kernel void stores_in_parts(__global uint *out, __global const uint *in)
{
    START
    if (x & 1) t[l] = x; else if (x & 2) t[l] = x * 3; else { t[l] = 0; for (uint j = 0; j < (x & 31); j++) t[l] += j; }
    MEET;
    out[i] = t[63 - l];
}

// run one_of_each_wavefront 512/512: out uint 512, in uint 512
__kernel void one_of_each_wavefront(__global uint *out, __global const uint *in)
{
    __local uint t[8];
    uint l = get_local_id(0), x = in[l];
    if ((l & 63) == (l >> 6) * 9) {
        uint sum = 0;
        for (uint j = 0; j < 64; j++) sum = sum * 3 + in[(l & ~63) + j];
        t[l >> 6] = sum;
    }
    MEET;
    out[l] = x + t[l & 7];
}

// run deep 128/64: out uint 128, in uint 128
__kernel void deep(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 3; j++) {
        if (x & 1) {
            if (x & 2) { if (x & 4) { if (x & 8) x += 1; else x += 2; } else x += 3; } else x += 4;
        } else if (x & 16) {
            for (uint k = 0; k < (x & 3); k++) { if (x & 32) { x = x * 3; break; } x++; }
        }
        t[l] = x;
        MEET;
        x = x / 2 + t[l ^ 33];
        MEET;
    }
    out[i] = x;
}

// run short_group 51/17: out uint 51, in uint 51
__kernel void short_group(__global uint *out, __global const uint *in)
{
    START
    if (x & 1) for (uint j = 0; j < (x & 7); j++) x += j * l;
    t[l] = x;
    MEET;
    out[i] = t[(l + 1) % n] + t[n - 1 - l];
}

// run divergent_return_value 128/64: out uint 128, in uint 128
uint way(uint x, uint l)
{
    if (x & 1) return x * 3;
    if (x & 2) { for (uint j = 0; j < l; j++) if (x % (j + 2) == 0) return j; return 1000; }
    return x ^ l;
}
__kernel void divergent_return_value(__global uint *out, __global const uint *in)
{
    START
    t[l] = way(x, l & 7);
    MEET;
    x = way(t[l ^ 1], 3);
    MEET;
    t[l] = x;
    MEET;
    out[i] = t[n - 1 - l];
}
