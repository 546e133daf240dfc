// Barriers in loops, branches and switches that a whole work-group takes.

#define START __local uint t[64]; uint l = get_local_id(0), i = get_global_id(0), g = get_group_id(0), x = in[i];
#define MEET barrier(CLK_LOCAL_MEM_FENCE)

// run constant_rounds 128/64: out uint 128, in uint 128
__kernel void constant_rounds(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 6; j++) {
        t[l] = x;
        MEET;
        x += t[(l + j) & 63] * 3;
        MEET;
    }
    out[i] = x;
}

// run argument_rounds 128/64: out uint 128, in uint 128, value uint {0 1 2 9}
__kernel void argument_rounds(__global uint *out, __global const uint *in, uint n)
{
    START
    for (uint j = 0; j < n; j++) {
        MEET;
        t[l] = x ^ j;
        MEET;
        x += t[l ^ 1];
    }
    out[i] = x;
}

// run group_rounds 448/64: out uint 448, in uint 448
__kernel void group_rounds(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < g; j++) {
        MEET;
        t[l] = x;
        MEET;
        x = x * 3 + t[63 - l];
    }
    out[i] = x;
}

// run data_rounds 512/128: out uint 512, in uint 512, in uint 4 below 7
__kernel void data_rounds(__global uint *out, __global const uint *in, __global const uint *rounds)
{
    __local uint t[128];
    uint l = get_local_id(0), i = get_global_id(0), n = rounds[get_group_id(0)], x = in[i];
    while (n-- > 0) {
        t[l] = x;
        MEET;
        x += t[l ^ 65] >> n;
        MEET;
    }
    out[i] = x;
}

// Until all have come below a limit: what decides is in local memory.
// run until_done 256/64: out uint 256, in uint 256
__kernel void until_done(__global uint *out, __global const uint *in)
{
    __local uint busy;
    uint l = get_local_id(0), i = get_global_id(0), x = in[i], rounds = 0;
    do {
        MEET;
        if (l == 0) busy = 0;
        MEET;
        if (x > 100) {
            x /= 3;
            busy = 1;
        }
        rounds++;
        MEET;
    } while (busy);
    out[i] = x * 100 + rounds;
}

// run do_while 128/64: out uint 128, in uint 128, value uint 4
__kernel void do_while(__global uint *out, __global const uint *in, uint n)
{
    START
    do {
        t[l] = x;
        MEET;
        x = t[l ^ n] + 1;
        MEET;
    } while (--n);
    out[i] = x;
}

// run nested_loops 128/64: out uint 128, in uint 128, value uint 3
__kernel void nested_loops(__global uint *out, __global const uint *in, uint n)
{
    START
    for (uint j = 0; j < n; j++) {
        t[l] = x;
        MEET;
        uint sum = 0;
        for (uint k = 0; k <= j; k++) sum += t[(l + k) & 63];
        MEET;
        x ^= sum;
    }
    out[i] = x;
}

// run barriers_in_both_loops 192/64: out uint 192, in uint 192
__kernel void barriers_in_both_loops(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 3; j++) {
        for (uint k = 0; k < g + j; k++) {
            t[l] = x;
            MEET;
            x += t[l ^ (k + 1)];
            MEET;
        }
        t[63 - l] = x;
        MEET;
        x -= t[l] >> 1;
        MEET;
    }
    out[i] = x;
}

// run three_loops 128/64: out uint 128, in uint 128
__kernel void three_loops(__global uint *out, __global const uint *in)
{
    START
    for (uint a = 0; a < 2; a++)
        for (uint b = 0; b < 2 + g; b++)
            for (uint c = 0; c < 1 + a + b; c++) {
                t[l] = x;
                MEET;
                x = x * 5 + t[(l + a + 2 * b + 4 * c) & 63];
                MEET;
            }
    out[i] = x;
}

// run one_barrier_a_round 128/64: out uint 128, in uint 128
__kernel void one_barrier_a_round(__global uint *out, __global const uint *in)
{
    __local uint t[2][64];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    for (uint j = 0; j < 7; j++) {
        t[j & 1][l] = x;
        MEET;
        x += t[j & 1][(l + 5) & 63];
    }
    out[i] = x;
}

// run uniform_break 320/64: out uint 320, in uint 320
__kernel void uniform_break(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 9; j++) {
        t[l] = x;
        MEET;
        if (j == g) break;
        x += t[l ^ 3];
        MEET;
    }
    out[i] = x + t[l ^ 1];
}

// run uniform_continue 256/64: out uint 256, in uint 256
__kernel void uniform_continue(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 6; j++) {
        if (((j ^ g) & 1) == 0) continue;
        t[l] = x;
        MEET;
        x += t[l ^ 9];
        if (j == 3) { MEET; continue; }
        x ^= t[l ^ 2];
        MEET;
    }
    out[i] = x;
}

// run break_by_data 256/64: out uint 256, in uint 256
__kernel void break_by_data(__global uint *out, __global const uint *in)
{
    START
    uint rounds = 0;
    while (1) {
        t[l] = x;
        MEET;
        if (t[0] % 5 == 2 || rounds == 20) break;
        uint y = t[(l + 1) & 63];
        MEET;
        x = x / 2 + y / 3;
        rounds++;
    }
    out[i] = x ^ rounds;
}

// run return_by_data 256/64: out uint 256, in uint 256
__kernel void return_by_data(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 10; j++) {
        t[l] = x;
        MEET;
        if (t[5] % 4 == j % 4) { out[i] = x + j; return; }
        x = x * 3 + t[l ^ 1];
        MEET;
    }
    out[i] = ~x;
}

// run group_return 256/64: out uint 256, in uint 256
__kernel void group_return(__global uint *out, __global const uint *in)
{
    START
    if (g == 2) return;
    t[l] = x;
    MEET;
    out[i] = t[l ^ 1];
    if (g & 1) return;
    MEET;
    t[l] = x * 3;
    MEET;
    out[i] += t[l ^ 2];
}

// run one_arm 256/64: out uint 256, in uint 256
__kernel void one_arm(__global uint *out, __global const uint *in)
{
    START
    t[l] = x;
    if (g & 1) {
        MEET;
        x += t[l ^ 1];
    }
    out[i] = x;
}

// run both_arms 256/64: out uint 256, in uint 256
__kernel void both_arms(__global uint *out, __global const uint *in)
{
    START
    t[l] = x;
    if (g & 1) {
        MEET;
        x += t[l ^ 1];
    } else {
        x *= 3;
        MEET;
        x += t[63 - l];
        MEET;
        t[l] = x;
        MEET;
        x ^= t[l ^ 4];
    }
    out[i] = x;
}

// run both_arms_in_loop 256/64: out uint 256, in uint 256
__kernel void both_arms_in_loop(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 5; j++) {
        t[l] = x;
        if ((g + j) % 3 == 0) {
            MEET;
            x += t[l ^ 1];
        } else if ((g + j) % 3 == 1) {
            MEET;
            x ^= t[l ^ 2];
        } else {
            MEET;
        }
        MEET;
    }
    out[i] = x;
}

// run nested_ifs 512/64: out uint 512, in uint 512
__kernel void nested_ifs(__global uint *out, __global const uint *in)
{
    START
    t[l] = x;
    if (g & 1) {
        if (g & 2) {
            MEET;
            x += t[l ^ 1];
        } else if (g & 4) {
            MEET;
            x -= t[l ^ 2];
        }
        MEET;
        t[l] = x;
    } else if (g & 2) {
        MEET;
        x ^= t[l ^ 3];
        MEET;
        t[l] = x;
    }
    MEET;
    out[i] = x + t[63 - l];
}

// run in_switch 384/64: out uint 384, in uint 384
__kernel void in_switch(__global uint *out, __global const uint *in)
{
    START
    t[l] = x;
    switch (g) {
    case 0: MEET; x += t[l ^ 1]; break;
    case 1: MEET; x ^= t[l ^ 2];    // and on
    case 2: MEET; t[l] = x; MEET; x -= t[l ^ 4]; break;
    case 3: break;
    default: x++; MEET; x += t[0];
    }
    MEET;
    t[l] = x;
    MEET;
    out[i] = t[63 - l];
}

// run switch_in_loop 128/64: out uint 128, in uint 128
__kernel void switch_in_loop(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < 8; j++) {
        MEET;
        t[l] = x;
        switch ((j + g) & 3) {
        case 0: MEET; x += t[l ^ 1]; break;
        case 1: continue;
        case 2: MEET; x ^= t[l ^ 2]; break;
        default: MEET; x += t[j];
        }
    }
    out[i] = x;
}

// run goto_loop 192/64: out uint 192, in uint 192
__kernel void goto_loop(__global uint *out, __global const uint *in)
{
    START
    uint n = g + 1;
again:
    t[l] = x;
    MEET;
    x += t[l ^ n];
    MEET;
    if (n-- > 0) goto again;
    if (g == 1) goto end;
    t[l] = x;
    MEET;
    x ^= t[l ^ 7];
end:
    out[i] = x;
}

// run unrolled 128/64: out uint 128, in uint 128
__kernel void unrolled(__global uint *out, __global const uint *in)
{
    START
    #pragma unroll
    for (uint j = 0; j < 16; j++) {
        t[l] = x;
        MEET;
        x += t[(l + 1) & 63];
        MEET;
    }
    out[i] = x;
}

// run halving 512/256: out uint 512, in uint 512
__kernel void halving(__global uint *out, __global const uint *in)
{
    __local uint t[256];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    for (uint n = 128; n > 0; n >>= 1) {
        MEET;
        if (l < n) t[l] = t[l] * 3 + t[l + n];
    }
    MEET;
    out[i] = t[l / 2];
}

// run condition_with_barrier 128/64: out uint 128, in uint 128
uint next(__local uint *t, uint x, uint n)
{
    uint l = get_local_id(0);
    MEET;
    t[l] = x;
    MEET;
    return t[n];
}
__kernel void condition_with_barrier(__global uint *out, __global const uint *in)
{
    START
    uint rounds = 0;
    while (next(t, x, 0) % 7 != 0 && next(t, x, 1) % 5 != 0 && rounds < 30) {
        x = x / 3 + 11;
        rounds++;
    }
    out[i] = x + rounds;
}

// run group_size_rounds 96/32: out uint 96, in uint 96
__kernel void group_size_rounds(__global uint *out, __global const uint *in)
{
    START
    for (uint j = 0; j < get_local_size(0); j += get_num_groups(0)) {
        t[l] = x;
        MEET;
        x += t[(l + j) % get_local_size(0)] ^ j;
        MEET;
    }
    out[i] = x;
}

// run down_and_up 128/128: out uint 128, in uint 128
__kernel void down_and_up(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    uint l = get_local_id(0);
    t[l] = in[l];
    MEET;
    for (int n = 6; n >= 0; n -= 2) {
        uint y = t[l ^ 1 << n];
        MEET;
        t[l] += y;
        MEET;
    }
    for (int n = 0; n < 7; n += 3) {
        uint y = t[(l + (1 << n)) & 127];
        MEET;
        t[l] ^= y;
        MEET;
    }
    out[l] = t[l];
}
