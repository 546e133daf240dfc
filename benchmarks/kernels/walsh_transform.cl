// Walsh-Hadamard transform of n integers, a power of two: passes over distant elements in global memory, and those over
// blocks of 128 in local memory; then the product with weights.
#define BLOCK 128

__kernel void walsh_transform(__global int *data)
{
    __local int block[BLOCK];
    int me = get_local_id(0);
    __global int *mine = data + get_group_id(0) * BLOCK;
    block[me] = mine[me];
    block[me + BLOCK / 2] = mine[me + BLOCK / 2];
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int first = 2 * me - (me & (stride - 1));
        int a = block[first], b = block[first + stride];
        block[first] = a + b;
        block[first + stride] = a - b;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[me] = block[me];
    mine[me + BLOCK / 2] = block[me + BLOCK / 2];
}

__kernel void walsh_pass(__global int *data, int stride)
{
    int me = get_global_id(0);
    int first = 2 * me - (me & (stride - 1));
    int a = data[first], b = data[first + stride];
    data[first] = a + b;
    data[first + stride] = a - b;
}

__kernel void walsh_modulate(__global int *data, __global const int *weights, int n)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        data[i] *= weights[i];
}
