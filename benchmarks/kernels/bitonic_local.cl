// Bitonic sort of a block in one launch: two elements for each work-item of the only work-group. The passes are those of
// bitonic.cl, unrolled: so places in the block are computed once for all passes of the same distance.
void sort(__global uint *data, __local uint *block, uint half_size, uint direction)
{
    uint i = get_local_id(0);
    uint order = direction ? i : ~i;
    block[i] = data[i];
    block[i + half_size] = data[i + half_size];
    #pragma unroll
    for (uint length = 1; length <= half_size; length *= 2) {
        uint ascending = (order & length) == 0;
        #pragma unroll
        for (uint distance = length; distance > 0; distance /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint left = 2 * i - (i & (distance - 1));
            uint a = block[left];
            uint b = block[left + distance];
            bool exchange = (b < a) == ascending;
            block[left] = exchange ? b : a;
            block[left + distance] = exchange ? a : b;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[i] = block[i];
    data[i + half_size] = block[i + half_size];
}

__kernel void bitonic_256(__global uint *data, uint direction)
{
    __local uint block[256];
    sort(data, block, 128, direction);
}

__kernel void bitonic_512(__global uint *data, uint direction)
{
    __local uint block[512];
    sort(data, block, 256, direction);
}
