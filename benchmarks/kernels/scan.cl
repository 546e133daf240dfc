// Inclusive prefix sums.
#ifdef LOCAL
// Work-efficient (Blelloch): the 256 work-items of a work-group build a tree of sums over a block of 512 elements, and
// go down again. `totals` gets the blocks' sums, whose own scan is added to the blocks behind.
#define BLOCK 512
#define PLACE(i) ((i) + ((i) >> 3))     // a free word behind each eight: elements far apart are in different banks

__kernel void scan(__global const int *in, __global int *out, __global int *totals, uint n)
{
    __local int tree[PLACE(BLOCK)];
    uint me = get_local_id(0);
    uint near = get_group_id(0) * BLOCK + me, far = near + BLOCK / 2;
    int first = near < n ? in[near] : 0, second = far < n ? in[far] : 0;
    tree[PLACE(me)] = first;
    tree[PLACE(me + BLOCK / 2)] = second;
    uint distance = 1;
    for (uint pairs = BLOCK / 2; pairs > 0; pairs /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < pairs) {
            uint left = distance * (2 * me + 1) - 1, right = left + distance;
            tree[PLACE(right)] += tree[PLACE(left)];
        }
        distance *= 2;
    }
    if (me == 0) {
        totals[get_group_id(0)] = tree[PLACE(BLOCK - 1)];
        tree[PLACE(BLOCK - 1)] = 0;
    }
    for (uint pairs = 1; pairs < BLOCK; pairs *= 2) {
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
    if (near < n)
        out[near] = tree[PLACE(me)] + first;
    if (far < n)
        out[far] = tree[PLACE(me + BLOCK / 2)] + second;
}

// The launch begins at the second block.
__kernel void scan_add(__global int *out, __global const int *totals)
{
    uint i = get_global_id(0);
    out[i] += totals[i / BLOCK - 1];
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
