// c = a * b for row-major n x n matrices, n at least 1; a work-item computes column x of row y.
__kernel void matmul(__global const int *a, __global const int *b, __global int *c, int n)
{
    size_t x = get_global_id(0);
    size_t y = get_global_id(1);
    int sum = 0;
    int k = 0;
    do {
        sum += a[y * n + k] * b[k * n + x];
        k++;
    } while (k != n);
    c[y * n + x] = sum;
}
