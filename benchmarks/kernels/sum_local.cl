// Sums of n elements, one for each work-group of 64, which adds 1024: each work-item 16 of them, then a quarter of the
// work-items four of these sums, until one is left.
#define GROUP 64
#define EACH 16

__kernel void sum_local(__global const int *in, __global int *out, uint n)
{
    __local int sums[GROUP];
    uint me = get_local_id(0);
    uint first = get_group_id(0) * GROUP * EACH;
    int sum = 0;
    in += first;
    if (n - first >= GROUP * EACH)
        for (uint k = 0; k < EACH; k++)
            sum += in[me + k * GROUP];
    else
        for (uint i = me; i < n - first; i += GROUP)
            sum += in[i];
    sums[me] = sum;
    for (uint left = GROUP / 4; left > 0; left /= 4) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < left) {
            sum += sums[me + left] + sums[me + 2 * left] + sums[me + 3 * left];
            sums[me] = sum;
        }
    }
    if (me == 0)
        out[get_group_id(0)] = sum;
}
