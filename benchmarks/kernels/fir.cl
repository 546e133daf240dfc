// out[i] = sum of in[i + j] * coeff[j] over filter_len taps; filter_len is at least 1.
#ifndef TYPE
#define TYPE int
#define WIDE int
#endif

__kernel void fir(__global const TYPE *in, __global const TYPE *coeff, __global TYPE *out, int filter_len)
{
    size_t i = get_global_id(0);
    WIDE sum = 0;
    int j = 0;
    do {
        sum += in[i + j] * coeff[j];
        j++;
    } while (j != filter_len);
    out[i] = sum;
}
