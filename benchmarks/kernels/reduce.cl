// Reductions: a work-item combines every get_global_size(0)-th of n elements, from its own on.
#ifndef TYPE
#define TYPE int
#define WIDE int
#endif
#ifndef COMBINE
#define COMBINE(a, b) ((a) > (b) ? (a) : (b))
#endif

// With ATOMIC, one word of all work-items gets the result; without, there is one for each work-item.
static void leave(__global TYPE *out, WIDE result)
{
#ifdef ATOMIC
    ATOMIC(out, result);
#else
    out[get_global_id(0)] = result;
#endif
}

__kernel void reduce(__global const TYPE *in, __global TYPE *out, uint n)
{
    uint i = get_global_id(0);
    WIDE result = in[i];
    while ((i += get_global_size(0)) < n) {
        WIDE next = in[i];
        result = COMBINE(result, next);
    }
    leave(out, result);
}

#ifdef POWER
// The same with the squares of the elements' distances from a value.
__kernel void ac_power(__global const TYPE *in, __global TYPE *out, uint n, WIDE value)
{
    uint i = get_global_id(0);
    WIDE distance = in[i] - value;
    WIDE result = distance * distance;
    while ((i += get_global_size(0)) < n) {
        distance = in[i] - value;
        result += distance * distance;
    }
    leave(out, result);
}
#endif
