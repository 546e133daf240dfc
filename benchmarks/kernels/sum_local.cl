// Sums of n elements, one for each work-group of 64, which adds 1024: each work-item 16 of them, 16 work-items four of
// these sums each, and an atomic operation the rest, on top of the first sum.
#define GROUP 64
#define EACH 16
#define LEFT 16

__kernel void sum_local(__global const int *in, __global int *out, uint n)
{
    __local int sums[GROUP];
    uint me = get_local_id(0);
    uint first = get_group_id(0) * GROUP * EACH;
    int sum = 0;
    if (first + GROUP * EACH <= n) {
        __global const int *own = in + first + me;
        #pragma unroll
        for (uint k = 0; k < EACH; k++, own += GROUP)
            sum += *own;
    } else {
        for (uint i = first + me; i < n; i += GROUP)
            sum += in[i];
    }
    sums[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < LEFT)
        atomic_add(sums, (me == 0 ? 0 : sum) + sums[me + LEFT] + sums[me + 2 * LEFT] + sums[me + 3 * LEFT]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0)
        out[get_group_id(0)] = sums[0];
}
