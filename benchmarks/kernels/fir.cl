// out[i] = sum of in[i + j] * coeff[j] over filter_len taps; filter_len is at least 1.
__kernel void fir(__global const int *in, __global const int *coeff, __global int *out, int filter_len)
{
    size_t i = get_global_id(0);
    int sum = 0;
    int j = 0;
    do {
        sum += in[i + j] * coeff[j];
        j++;
    } while (j != filter_len);
    out[i] = sum;
}
