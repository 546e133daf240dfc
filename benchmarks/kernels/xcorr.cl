// out[i] = sum of a[j] * b[i + j] over all n elements of a; b has 2 * n, and n is at least 1.
#ifndef TYPE
#define TYPE int
#define WIDE int
#endif

__kernel void xcorr(__global const TYPE *a, __global const TYPE *b, __global TYPE *out, int n)
{
    size_t i = get_global_id(0);
    WIDE sum = 0;
    int j = 0;
    do {
        sum += a[j] * b[i + j];
        j++;
    } while (j != n);
    out[i] = sum;
}
