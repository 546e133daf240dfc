// A radix-2 FFT of a block in one launch: two points for each work-item of the only work-group. The passes are those of
// fft.cl, from one half of local memory to the other; `re` and `im` have room for twice the points.
__kernel void fft_local(__global const float2 *in, __global float2 *out, __global const float2 *roots,
                        __local float *re, __local float *im)
{
    uint i = get_local_id(0), half_size = get_local_size(0);
    uint from = 0, other = 2 * half_size;
    float2 left = in[i], right = in[i + half_size];
    for (uint length = 1, step = half_size; step > 0; length *= 2, step /= 2) {
        uint within = i & (length - 1);
        uint place = other - from + 2 * i - within;
        float2 root = roots[within * step];
        float2 turned;
        turned.x = right.x * root.x - right.y * root.y;
        turned.y = right.x * root.y + right.y * root.x;
        re[place] = left.x + turned.x;
        im[place] = left.y + turned.y;
        re[place + length] = left.x - turned.x;
        im[place + length] = left.y - turned.y;
        barrier(CLK_LOCAL_MEM_FENCE);
        from = other - from;
        left = (float2)(re[from + i], im[from + i]);
        right = (float2)(re[from + i + half_size], im[from + i + half_size]);
    }
    out[i] = left;
    out[i + half_size] = right;
}
