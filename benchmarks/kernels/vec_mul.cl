// out[i] = a[i] * b[i].
#ifndef TYPE
#define TYPE int
#endif

__kernel void vec_mul(__global const TYPE *a, __global const TYPE *b, __global TYPE *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] * b[i];
}
