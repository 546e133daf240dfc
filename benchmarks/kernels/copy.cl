// out[i] = in[i], an element a work-item.
#ifndef TYPE
#define TYPE int
#endif

__kernel void copy(__global const TYPE *in, __global TYPE *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i];
}
