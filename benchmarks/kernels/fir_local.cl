// FIR filter: out[i] = sum of in[i + k] * coeff[k] over `taps`, no more than a work-group has work-items. It brings its
// samples and those of the halo behind them to local memory.
__kernel void fir_local(__global const int *in, __global const int *coeff, __global int *out, int taps,
                        __local int *samples)
{
    int me = get_local_id(0), size = get_local_size(0);
    int i = get_global_id(0);
    samples[me] = in[i];
    if (me < taps - 1)
        samples[size + me] = in[size + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    int k = 0;
    do {
        sum += samples[me + k] * coeff[k];
        k++;
    } while (k != taps);
    out[i] = sum;
}
