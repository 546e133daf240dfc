// c = a * b for row-major n x n matrices, n at least 1; a work-item computes column x of row y.
#ifndef TYPE
#define TYPE int
#define WIDE int
#endif

__kernel void matmul(__global const TYPE *a, __global const TYPE *b, __global TYPE *c, int n)
{
    size_t x = get_global_id(0);
    size_t y = get_global_id(1);
    WIDE sum = 0;
    int k = 0;
    do {
        sum += a[y * n + k] * b[k * n + x];
        k++;
    } while (k != n);
    c[y * n + x] = sum;
}
