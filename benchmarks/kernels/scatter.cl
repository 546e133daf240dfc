// out[index[i]] = in[i], a word a work-item.
__kernel void scatter(__global const int *in, __global const uint *index, __global int *out)
{
    size_t i = get_global_id(0);
    out[index[i]] = in[i];
}
