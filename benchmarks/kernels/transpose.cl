// Transposes a row-major n x n matrix; work-item (x, y) reads along rows and writes along columns.
__kernel void transpose(__global const int *in, __global int *out, int n)
{
    size_t x = get_global_id(0);
    size_t y = get_global_id(1);
    out[x * n + y] = in[y * n + x];
}
