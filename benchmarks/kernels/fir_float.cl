// out[i] = sum of in[i + j] * coeff[j] over filter_len taps; filter_len is at least 1.
__kernel void fir_float(__global const float *in, __global const float *coeff, __global float *out, int filter_len)
{
    size_t i = get_global_id(0);
    float sum = 0.0f;
    int j = 0;
    do {
        sum += in[i + j] * coeff[j];
        j++;
    } while (j != filter_len);
    out[i] = sum;
}
