// c = a * b for row-major n x n matrices, n a multiple of 16. A work-group of 16 x 4 makes 16 x 16 elements of c, each
// work-item four of a column. It brings tiles of a and b to local memory, where each element is used 16 times.
#define TILE 16
#define ROWS 4
#define STEP (TILE / ROWS)

__kernel void matmul_local(__global const int *a, __global const int *b, __global int *c, int n)
{
    __local int left[TILE][TILE];
    __local int right[TILE][TILE + 1];      // transposed: both have the same index in the loop; rows of 17 words keep a
                                            // column in different banks
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_group_id(1) * TILE + y;
    int sums[ROWS] = {0};
    for (int tile = 0; tile < n; tile += TILE) {
        for (int i = 0; i < TILE; i += STEP) {
            left[y + i][x] = a[(row + i) * n + tile + x];
            right[x][y + i] = b[(tile + y + i) * n + column];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        int k = 0;
        do {
            for (int i = 0; i < ROWS; i++)
                sums[i] += left[y + i * STEP][k] * right[x][k];
            k++;
        } while (k != TILE);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < ROWS; i++)
        c[(row + i * STEP) * n + column] = sums[i];
}
