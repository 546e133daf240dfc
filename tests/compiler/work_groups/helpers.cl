// Functions with local pointers and functions with barriers.

#define SUBROUTINE __attribute__((noinline))

uint at(__local const uint *t, uint n) { return t[n & 63] * 3; }
void put(__local uint *t, uint n, uint value) { t[n] = value; }
SUBROUTINE uint far_at(__local const uint *t, uint n) { return t[n & 63] * 5 + 1; }
SUBROUTINE void far_put(__local uint *t, uint n, uint value) { t[n] = value ^ 0xF0; }
SUBROUTINE uint far_sum(__local const uchar *t, uint length)
{
    uint sum = 0;
    for (uint j = 0; j < length; j++) sum += t[j];
    return sum;
}
__local uint *second_half(__local uint *t) { return t + 32; }
SUBROUTINE __local uint *far_place(__local uint *t, uint n) { return n & 1 ? t + n : t + 63 - n; }
void meet(void) { barrier(CLK_LOCAL_MEM_FENCE); }
uint exchange(__local uint *t, uint value, uint other)
{
    uint l = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return t[other];
}
SUBROUTINE uint far_exchange(__local uint *t, uint value, uint other)
{
    uint l = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return t[other];
}
uint total(__local uint *t, uint value, uint size)
{
    uint l = get_local_id(0);
    t[l] = value;
    for (uint step = size / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step) t[l] += t[l + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = t[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}
SUBROUTINE uint far_total(__local uint *t, uint value, uint size) { return total(t, value, size); }

// run inlined 128/64: out uint 128, in uint 128
__kernel void inlined(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    put(t, l, in[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = at(t, l + 1) + at(t, l + 2);
}

// run subroutines 128/64: out uint 128, in uint 128
__kernel void subroutines(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    far_put(t, l, in[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = far_at(t, l + 1) + far_at(t, l * 7);
}

// run subroutine_in_divergence 128/64: out uint 128, in uint 128
__kernel void subroutine_in_divergence(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    if (x & 1) far_put(t, l, x); else far_put(t, l, ~x);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x & 2) x = far_at(t, l + 1); else if (x & 4) x += far_at(t, l + 2);
    out[i] = x;
}

// run subroutine_on_bytes 128/64: out uint 128, in uchar 128
__kernel void subroutine_on_bytes(__global uint *out, __global const uchar *in)
{
    __local uchar t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = far_sum(t + l / 8 * 8, 8) * 1000 + far_sum(t, l & 15);
}

// run returned_pointers 64/64: out uint 64, in uint 64
__kernel void returned_pointers(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0);
    if (l < 32) second_half(t)[l] = in[l]; else t[l - 32] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = *far_place(t, l) + second_half(t)[l & 31];
}

// run barrier_in_function 128/128: out uint 128, in uint 128
__kernel void barrier_in_function(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    uint l = get_local_id(0);
    t[l] = in[l];
    meet();
    uint x = t[l ^ 64];
    meet();
    t[127 - l] = x;
    meet();
    out[l] = t[l ^ 1];
}

// run exchange_in_function 256/128: out uint 256, in uint 256
__kernel void exchange_in_function(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    x = exchange(t, x, l ^ 64) + 1;
    x = exchange(t, x, 127 - l) * 3;
    out[i] = x;
}

// run exchange_in_subroutine 256/128: out uint 256, in uint 256
__kernel void exchange_in_subroutine(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    x = far_exchange(t, x, l ^ 64) + 1;
    x = far_exchange(t, x, 127 - l) * 3;
    out[i] = x;
}

// run exchange_in_loop 256/128: out uint 256, in uint 256, value uint 5
__kernel void exchange_in_loop(__global uint *out, __global const uint *in, uint rounds)
{
    __local uint t[128];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    for (uint j = 0; j < rounds; j++) x = far_exchange(t, x, (l + j + 1) & 127) * 3 + exchange(t, x + j, l ^ j);
    out[i] = x;
}

// run total_of_group 256/128: out uint 256, in uint 256
__kernel void total_of_group(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    uint i = get_global_id(0), sum = total(t, in[i], 128);
    out[i] = sum + total(t, in[i] & 0xFF, 64 * 2);
}

// run total_in_subroutine 256/64: out uint 256, in uint 256
__kernel void total_in_subroutine(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint i = get_global_id(0);
    out[i] = far_total(t, in[i], 64) * 7 + far_total(t, i, 64);
}

// run function_after_divergence 128/64: out uint 128, in uint 128
__kernel void function_after_divergence(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    for (uint j = 0; j < (x & 7); j++) x = x * 3 + j;
    if (x & 1) x = ~x;
    x += far_exchange(t, x, l ^ 17);
    if (x & 2) x = far_at(t, x);
    out[i] = x;
}

// run function_with_return 128/64: out uint 128, in uint 128
uint found(__local const uint *t, uint wanted)
{
    for (uint j = 0; j < 64; j++) if ((t[j] & 31) == (wanted & 31)) return j;
    return 99;
}
SUBROUTINE uint far_found(__local const uint *t, uint wanted)
{
    for (uint j = 63; j > 0; j--) if ((t[j] & 31) == (wanted & 31)) return j;
    return 98;
}
__kernel void function_with_return(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint first = found(t, i * 7), last = far_found(t, i * 7);
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = first;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = 100 * t[63 - l] + last;
}

// run both_spaces 128/64: out uint 128, in uint 128
SUBROUTINE void copied(__local uint *to, __global const uint *from, uint n, uint stride)
{
    for (uint j = get_local_id(0); j < n; j += stride) to[j] = from[j];
}
__kernel void both_spaces(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0);
    copied(t, in + 64 * get_group_id(0), 64, 64);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l ^ 31];
}

// run two_arrays_one_function 128/64: out uint 128, in uint 128
__kernel void two_arrays_one_function(__global uint *out, __global const uint *in)
{
    __local uint a[64], b[64];
    uint l = get_local_id(0), i = get_global_id(0);
    far_put(a, l, in[i]);
    far_put(b, 63 - l, in[i] * 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = far_at(in[i] & 1 ? a : b, l + 9) + at(in[i] & 2 ? b : a, l);
}

// run nested_functions 128/64: out uint 128, in uint 128
uint twice(__local uint *t, uint x) { return exchange(t, exchange(t, x, get_local_id(0) ^ 1) + 1, get_local_id(0) ^ 2); }
SUBROUTINE uint four_times(__local uint *t, uint x) { return twice(t, twice(t, x) * 3); }
__kernel void nested_functions(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint i = get_global_id(0);
    out[i] = four_times(t, in[i]);
}
