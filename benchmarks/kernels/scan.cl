// Inclusive prefix sums.
#ifdef LOCAL
// Work-efficient (Blelloch): a work-item has the sums of eight elements, of which the 64 of a work-group build a tree, and
// go down again. `totals` gets the blocks' sums, whose own scan is added to the blocks behind. n is a multiple of eight.
#define GROUP 64
#define EACH 8
#define PLACE(i) ((i) + ((i) >> 3))     // a free word behind each eight: sums far apart are in different banks

__kernel void scan(__global const int *in, __global int *out, __global int *totals, uint n)
{
    __local int tree[PLACE(GROUP)];
    uint me = get_local_id(0);
    uint first = get_global_id(0) * EACH;
    int sums[EACH] = {0};
    if (first < n) {
        sums[0] = in[first];
        for (uint k = 1; k < EACH; k++)
            sums[k] = sums[k - 1] + in[first + k];
    }
    tree[PLACE(me)] = sums[EACH - 1];
    uint distance = 1;
    for (uint pairs = GROUP / 2; pairs > 0; pairs /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < pairs) {
            uint left = distance * (2 * me + 1) - 1, right = left + distance;
            tree[PLACE(right)] += tree[PLACE(left)];
        }
        distance *= 2;
    }
    if (me == 0) {
        totals[get_group_id(0)] = tree[PLACE(GROUP - 1)];
        tree[PLACE(GROUP - 1)] = 0;
    }
    for (uint pairs = 1; pairs < GROUP; pairs *= 2) {
        distance /= 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < pairs) {
            uint left = distance * (2 * me + 1) - 1, right = left + distance;
            int before = tree[PLACE(right)];
            tree[PLACE(right)] = before + tree[PLACE(left)];
            tree[PLACE(left)] = before;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first < n) {
        int before = tree[PLACE(me)];
        for (uint k = 0; k < EACH; k++)
            out[first + k] = before + sums[k];
    }
}

// The launch begins at the second block.
__kernel void scan_add(__global int *out, __global const int *totals)
{
    uint i = get_global_id(0);
    out[i] += totals[i / (GROUP * EACH) - 1];
}
#else
// A pass of Hillis and Steele's: distances are 1, 2, 4 ..
__kernel void scan(__global const int *in, __global int *out, uint distance)
{
    uint i = get_global_id(0);
    int sum = in[i];
    if (i >= distance)
        sum += in[i - distance];
    out[i] = sum;
}
#endif
