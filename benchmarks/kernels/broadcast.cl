// out[i] = in[0]: all work-items read one word.
__kernel void broadcast(__global const int *in, __global int *out)
{
    size_t i = get_global_id(0);
    out[i] = *in;
}
