// out[i] = in[i] / divisor.
#ifndef TYPE
#define TYPE int
#define WIDE int
#endif

__kernel void div(__global const TYPE *in, __global TYPE *out, WIDE divisor)
{
    size_t i = get_global_id(0);
    out[i] = in[i] / divisor;
}
