// FIR filter: out[i] = sum of in[i + k] * coeff[k]. A work-group brings its samples, those of the halo behind them and
// the coefficients to local memory.
__kernel void fir_local(__global const int *in, __global const int *coeff, __global int *out, int taps,
                        __local int *samples, __local int *weights)
{
    int me = get_local_id(0), size = get_local_size(0);
    int i = get_global_id(0);
    samples[me] = in[i];
    if (me < taps - 1)
        samples[size + me] = in[size + i];
    if (me < taps)
        weights[me] = coeff[me];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = 0; k < taps; k++)
        sum += samples[me + k] * weights[k];
    out[i] = sum;
}
