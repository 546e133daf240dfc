// Atomic operations on local memory, with results that no order changes.

#define START uint l = get_local_id(0), i = get_global_id(0), g = get_group_id(0), n = get_local_size(0);
#define MEET barrier(CLK_LOCAL_MEM_FENCE)

#define ONE_WORD(NAME, T, FIRST, OPERATION) \
__kernel void NAME(__global T *out, __global const T *in) \
{ \
    __local T word; \
    START \
    if (l == 0) word = FIRST; \
    MEET; \
    OPERATION; \
    MEET; \
    if (l == n - 1) out[g] = word; \
}
// run {add_int sub_int inc_int dec_int max_int min_int and_int or_int xor_int} 256/128: out int 2, in int 256
// run {add_uint sub_uint inc_uint dec_uint max_uint min_uint and_uint or_uint xor_uint} 256/128: out uint 2, in uint 256
#define OPERATIONS(T, LOW, HIGH) \
    ONE_WORD(add_##T, T, 5, atomic_add(&word, in[i] >> 1)) ONE_WORD(sub_##T, T, 5, atomic_sub(&word, in[i] >> 1)) \
    ONE_WORD(inc_##T, T, 7, if (in[i] & 1) atomic_inc(&word)) ONE_WORD(dec_##T, T, 7, atomic_dec(&word)) \
    ONE_WORD(max_##T, T, LOW, atomic_max(&word, in[i])) ONE_WORD(min_##T, T, HIGH, atomic_min(&word, in[i])) \
    ONE_WORD(and_##T, T, -1, atomic_and(&word, in[i] | 0x00FF00F0 | ~1 << l % 31)) \
    ONE_WORD(or_##T, T, 0, atomic_or(&word, in[i] & 0x01010101 << l % 8 & 0x7F)) \
    ONE_WORD(xor_##T, T, 9, atomic_xor(&word, in[i]))
OPERATIONS(int, -0x7FFFFFFF - 1, 0x7FFFFFFF)
OPERATIONS(uint, 0, 0xFFFFFFFF)

// Each number once, whoever gets it.
// run tickets 256/128: out uint 256
__kernel void tickets(__global uint *out)
{
    __local uint next, t[128];
    START
    if (l == 0) next = 0;
    MEET;
    uint mine = atomic_inc(&next);
    t[mine] = mine * 3;
    MEET;
    out[i] = t[l] + next;
}

// run tickets_of_some 256/128: out uint 256, in uint 256
__kernel void tickets_of_some(__global uint *out, __global const uint *in)
{
    __local uint next, t[128];
    START
    if (l == 0) next = 0;
    t[l] = 0;
    MEET;
    if (in[i] % 3 == 0) t[atomic_add(&next, 1)] = 1;
    MEET;
    out[i] = t[l] + 100 * next;
}

// run exchange_chain 256/128: out uint 4
__kernel void exchange_chain(__global uint *out)
{
    __local uint word, sum;
    START
    if (l == 0) { word = 1000; sum = 0; }
    MEET;
    uint old = atomic_xchg(&word, l + 1);
    atomic_add(&sum, old);
    MEET;
    if (l == 0) { out[2 * g] = sum + word; out[2 * g + 1] = g; }   // all numbers, each once
}

// run exchange_float 128/64: out float 2, in float 128
__kernel void exchange_float(__global float *out, __global const float *in)
{
    __local float word;
    __local int sum;
    START
    if (l == 0) { word = 2.0f; sum = 0; }
    MEET;
    float old = atomic_xchg(&word, in[i]);
    atomic_add(&sum, (int)old);
    MEET;
    if (l == 0) out[g] = sum + word;
}

// run compare_and_swap 256/64: out uint 256
__kernel void compare_and_swap(__global uint *out)
{
    __local uint word, winners;
    START
    if (l == 0) { word = 0; winners = 0; }
    MEET;
    if (atomic_cmpxchg(&word, 0, l + 1) == 0) atomic_inc(&winners);
    MEET;
    out[i] = winners * 10 + (word > 0 && word <= n);
}

// run maximum_by_swap 128/64: out uint 128, in uint 128
__kernel void maximum_by_swap(__global uint *out, __global const uint *in)
{
    __local uint most;
    START
    if (l == 0) most = 0;
    MEET;
    uint old = most;
    while (old < in[i]) {
        uint seen = atomic_cmpxchg(&most, old, in[i]);
        if (seen == old) break;
        old = seen;
    }
    MEET;
    out[i] = most;
}

// run product_by_swap 64/32: out uint 64, in uint 64
__kernel void product_by_swap(__global uint *out, __global const uint *in)
{
    __local uint product;
    START
    if (l == 0) product = 1;
    MEET;
    uint old, seen = 1;
    do {
        old = seen;
        seen = atomic_cmpxchg(&product, old, old * (in[i] | 1));
    } while (seen != old);
    MEET;
    out[i] = product;
}

// run bins 512/128: zero uint 64, in uchar 512
__kernel void bins(__global uint *out, __global const uchar *in)
{
    __local uint t[16];
    START
    if (l < 16) t[l] = 0;
    MEET;
    atomic_inc(&t[in[i] >> 4]);
    MEET;
    if (l < 16) out[16 * g + l] = t[l];
}

// run bins_in_loop 128/64: zero uint 256, in uchar 1024
__kernel void bins_in_loop(__global uint *out, __global const uchar *in)
{
    __local uint t[128];
    START
    t[l] = t[l + 64] = 0;
    MEET;
    for (uint j = 0; j < 8; j++) atomic_add(&t[in[8 * i + j] & 127], j + 1);
    MEET;
    out[128 * g + l] = t[l];
    out[128 * g + l + 64] = t[l + 64];
}

// run bins_in_divergence 128/64: out uint 64, in uint 128
__kernel void bins_in_divergence(__global uint *out, __global const uint *in)
{
    __local uint t[32];
    START
    if (l < 32) t[l] = l;
    MEET;
    uint x = in[i];
    if (x & 1) atomic_add(&t[x >> 1 & 31], 3);
    else if (x & 2) for (uint j = 0; j < (x >> 2 & 7); j++) atomic_add(&t[x + j & 31], j);
    else atomic_sub(&t[31], 5);
    MEET;
    if (l < 32) out[32 * g + l] = t[l];
}

// All operations on words beside each other, in every order.
// run all_at_once 256/128: out uint 16, in uint 256
__kernel void all_at_once(__global uint *out, __global const uint *in)
{
    __local uint t[8];
    START
    if (l < 8) t[l] = l == 4 ? -1 : l == 3 ? 0x7FFFFFFF : 0;
    MEET;
    uint x = in[i];
    for (uint j = 0; j < 6; j++) {
        switch ((l + j) % 6) {
        case 0: atomic_add(&t[0], x); break;
        case 1: atomic_xor(&t[1], x); break;
        case 2: atomic_max((volatile __local int *)&t[2], (int)x); break;
        case 3: atomic_min((volatile __local int *)&t[3], (int)x); break;
        case 4: atomic_and(&t[4], x | 0xFF); break;
        default: atomic_or(&t[5], x & 0xF0F0);
        }
    }
    MEET;
    if (l < 8) out[8 * g + l] = t[l];
}

// run in_struct 128/64: out uint 4, in uint 128
struct counts { uint odd; int least; uint pad; };
__kernel void in_struct(__global uint *out, __global const uint *in)
{
    __local struct counts c;
    START
    if (l == 5) { c.odd = 0; c.least = 1 << 30; }
    MEET;
    if (in[i] & 1) atomic_inc(&c.odd);
    atomic_min(&c.least, (int)(in[i] >> 4));
    MEET;
    if (l == 0) { out[2 * g] = c.odd; out[2 * g + 1] = c.least; }
}

// run by_pointer 128/64: out uint 128, in uint 128
__attribute__((noinline)) void count(volatile __local uint *where, uint x) { if (x & 1) atomic_add(where, x >> 8); }
__kernel void by_pointer(__global uint *out, __global const uint *in)
{
    __local uint a[4], b[4];
    START
    if (l < 4) a[l] = b[l] = 0;
    MEET;
    count((in[i] & 2 ? a : b) + (l & 3), in[i]);
    MEET;
    out[i] = a[l & 3] ^ b[l >> 4];
}

// run on_argument 128/64: zero uint 32, in uint 128, local 64
__kernel void on_argument(__global uint *out, __global const uint *in, __local uint *t)
{
    START
    if (l < 16) t[l] = 0;
    MEET;
    atomic_add(&t[in[i] & 15], 1);
    MEET;
    if (l < 16) out[16 * g + l] = t[l];
}

// Plain loads and stores of other words between the atomic operations.
// run beside_plain 128/64: out uint 128, in uint 128
__kernel void beside_plain(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    t[2 * l] = 0;
    t[2 * l + 1] = in[i];
    MEET;
    for (uint j = 0; j < 4; j++) {
        atomic_add(&t[(2 * l + 6 * j) & 127], in[i] & 0xFF);
        t[2 * l + 1] += t[2 * l + 1] >> 3;
    }
    MEET;
    out[i] = t[2 * l] + 3 * t[2 * l + 1];
}

// run rounds_of_atomics 256/128: out uint 256
__kernel void rounds_of_atomics(__global uint *out)
{
    __local uint sum[2];
    START
    if (l < 2) sum[l] = l;
    uint x = i;
    for (uint j = 0; j < 5; j++) {
        MEET;
        atomic_add(&sum[j & 1], x & 0xFFF);
        MEET;
        x = x * 3 + sum[j & 1];
    }
    out[i] = x;
}

// run last_maximum 512/64: out uint 512, in uint 512
__kernel void last_maximum(__global uint *out, __global const uint *in)
{
    __local uint most, where;
    START
    if (l == 0) most = where = 0;
    MEET;
    atomic_max(&most, in[i] & 31);
    MEET;
    if ((in[i] & 31) == most) atomic_max(&where, l);
    MEET;
    out[i] = most * 1000 + where + g;
}

// run bit_set 256/64: out uint 32, in uchar 256
__kernel void bit_set(__global uint *out, __global const uchar *in)
{
    __local uint t[8];
    START
    if (l < 8) t[l] = 0;
    MEET;
    atomic_or(&t[in[i] >> 5], 1u << (in[i] & 31));
    MEET;
    if (l < 8) out[8 * g + l] = t[l];
}

// run old_names 128/64: out int 2, in int 128
__kernel void old_names(__global int *out, __global const int *in)
{
    __local int t[3];
    START
    if (l < 3) t[l] = 0;
    MEET;
    atom_add(&t[0], in[i]);
    atom_max(&t[1], in[i]);
    atom_inc(&t[2]);
    MEET;
    if (l == 0) out[g] = t[0] ^ t[1] ^ t[2];
}
