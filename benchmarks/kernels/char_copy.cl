// out[i] = in[i], a byte a work-item.
__kernel void char_copy(__global const char *in, __global char *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i];
}
