// Some work-items return before a barrier: OpenCL leaves that undefined, programs do it, and they count as arrived.
// And a loop with two entries, which PoCL refuses.

#define START __local uint t[256]; uint l = get_local_id(0), i = get_global_id(0); t[l] = 1000 + i;
#define MEET barrier(CLK_LOCAL_MEM_FENCE)

// run return_at_start 256/128: out uint 256, value uint {200 129 250}
__kernel void return_at_start(__global uint *out, uint n)
{
    START
    if (i >= n) return;
    MEET;
    out[i] = t[l ^ 1];
}

// run return_of_half 256/128: out uint 256
__kernel void return_of_half(__global uint *out)
{
    START
    if (l & 1) return;
    MEET;
    t[l] += t[l ^ 2];
    MEET;
    out[i] = t[(l + 4) & 126];
}

// run return_of_wavefronts 256/256: out uint 256
__kernel void return_of_wavefronts(__global uint *out)
{
    START
    if (l >= 192 || l < 64) return;
    MEET;
    out[i] = t[l ^ 64];
}

// run return_of_all_but_one 256/64: out uint 256, value uint 37
__kernel void return_of_all_but_one(__global uint *out, uint k)
{
    START
    if (l != k) return;
    for (uint j = 0; j < 4; j++) {
        MEET;
        t[j] = t[l] + j;
    }
    MEET;
    out[i] = t[3] + t[0];
}

// Fewer in each round.
// run return_in_loop 256/128: out uint 256
__kernel void return_in_loop(__global uint *out)
{
    START
    for (uint n = 128; n > 0; n /= 2) {
        if (l >= n) return;
        MEET;
        t[l] += 1;
        MEET;
        out[i] = t[n - 1 - l];
        MEET;
    }
}

// run return_after_divergence 128/64: out uint 128
__kernel void return_after_divergence(__global uint *out)
{
    START
    uint x = i;
    if (l & 1) { for (uint j = 0; j < (l & 7); j++) x += j; if (l & 2) return; } else if (l & 4) x *= 3;
    t[l] = x;
    MEET;
    out[i] = t[l ^ 4] + x;
}

// run two_entries 256/64: out uint 256
__kernel void two_entries(__global uint *out)
{
    START
    uint x = i * 7, n = 0, g = get_group_id(0);
    MEET;
    if (g & 1) goto middle;
top:
    t[l] = x;
    MEET;
    x += t[l ^ 1];
middle:
    MEET;
    t[l] = x;
    MEET;
    x ^= t[l ^ 2] >> 1;
    MEET;
    if (n++ < g) goto top;
    out[i] = x;
}
