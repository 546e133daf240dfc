// Reductions: a work-item combines every get_global_size(0)-th of n elements, from its own on.
#ifndef TYPE
#define TYPE int
#define WIDE int
#endif
#ifndef COMBINE
#define COMBINE(a, b) ((a) > (b) ? (a) : (b))
#endif

// With ATOMIC, one word of all work-items gets the result; without, there is one for each work-item.
#ifdef ATOMIC
#define LEAVE(result) ATOMIC(out, result)
#else
#define LEAVE(result) out[first] = result
#endif

__kernel void reduce(__global const TYPE *in, __global TYPE *out, uint n)
{
    uint first = get_global_id(0);
    WIDE result = in[first];
    for (uint i = first + get_global_size(0); i < n; i += get_global_size(0)) {
        WIDE next = in[i];
        result = COMBINE(result, next);
    }
    LEAVE(result);
}

#ifdef POWER
// The same with the squares of the elements' distances from a value.
__kernel void ac_power(__global const TYPE *in, __global TYPE *out, uint n, WIDE value)
{
    uint first = get_global_id(0);
    WIDE distance = in[first] - value;
    WIDE result = distance * distance;
    for (uint i = first + get_global_size(0); i < n; i += get_global_size(0)) {
        distance = in[i] - value;
        result += distance * distance;
    }
    LEAVE(result);
}
#endif
