// Pass p (from 0) of a radix-2 FFT in Stockham's order: transforms of 2^p points become transforms of twice
// as many. There are two points for each work-item; roots[k] = exp(-i * pi * k / get_global_size(0)).
__kernel void fft(__global const float2 *in, __global float2 *out, __global const float2 *roots, uint pass)
{
    uint i = get_global_id(0);
    uint half_size = get_global_size(0);
    uint length = 1u << pass;
    uint within = i & (length - 1);
    float2 left = in[i];
    float2 right = in[i + half_size];
    float2 root = roots[within * (half_size >> pass)];
    float2 turned;
    turned.x = right.x * root.x - right.y * root.y;
    turned.y = right.x * root.y + right.y * root.x;
    uint place = 2 * i - within;
    out[place] = left + turned;
    out[place + length] = left - turned;
}
