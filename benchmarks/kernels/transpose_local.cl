// Transposes a row-major n x n matrix, n a multiple of 16, in work-groups of 16 x 16: both memory and local memory are
// read and written along rows but once, where rows of 17 words keep a column in different banks.
#define TILE 16

__kernel void transpose_local(__global const int *in, __global int *out, int n)
{
    __local int tile[TILE][TILE + 1];
    int x = get_local_id(0), y = get_local_id(1);
    int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    tile[y][x] = in[(top + y) * n + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(left + y) * n + top + x] = tile[x][y];
}
