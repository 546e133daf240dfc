// out[i] = in[index[i]], a word a work-item.
__kernel void gather(__global const int *in, __global const uint *index, __global int *out)
{
    size_t i = get_global_id(0);
    out[i] = in[index[i]];
}
