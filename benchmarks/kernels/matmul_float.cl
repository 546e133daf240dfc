// c = a * b for row-major n x n matrices, n at least 1; a work-item computes column x of row y.
__kernel void matmul_float(__global const float *a, __global const float *b, __global float *c, int n)
{
    size_t x = get_global_id(0);
    size_t y = get_global_id(1);
    float sum = 0.0f;
    int k = 0;
    do {
        sum += a[y * n + k] * b[k * n + x];
        k++;
    } while (k != n);
    c[y * n + x] = sum;
}
