// out[i] = a[i] + b[i].
__kernel void vec_add(__global const int *a, __global const int *b, __global int *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
