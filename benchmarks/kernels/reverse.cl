// out[i] = in[last - i], a word a work-item.
__kernel void reverse(__global const int *in, __global int *out, uint last)
{
    size_t i = get_global_id(0);
    out[i] = in[last - i];
}
