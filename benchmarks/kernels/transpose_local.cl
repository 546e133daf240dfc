// Transposes a row-major n x n matrix, n a multiple of 16. A work-group of 16 x 4 has 16 x 16 elements, each work-item
// four of a column. Memory is read and written along rows; in local memory, rows of 17 words keep a column in different
// banks.
#define TILE 16
#define STEP 4

__kernel void transpose_local(__global const int *in, __global int *out, int n)
{
    __local int tile[TILE][TILE + 1];
    int x = get_local_id(0), y = get_local_id(1);
    int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    for (int i = 0; i < TILE; i += STEP)
        tile[y + i][x] = in[(top + y + i) * n + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; i += STEP)
        out[(left + y + i) * n + top + x] = tile[x][y + i];
}
