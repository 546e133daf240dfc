// out[i] = a[i] * b[i].
__kernel void vec_mul_float(__global const float *a, __global const float *b, __global float *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] * b[i];
}
