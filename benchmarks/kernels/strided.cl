// out[i * stride] = in[i * stride], a word a work-item.
__kernel void strided(__global const int *in, __global int *out, int stride)
{
    size_t i = get_global_id(0) * stride;
    out[i] = in[i];
}
