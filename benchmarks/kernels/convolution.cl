// Convolution of an n x n image with 5 x 5 weights; `in` has a border of two on each side.
#define RADIUS 2
#define SIDE (2 * RADIUS + 1)

#ifdef LOCAL
// n is a multiple of 16. A work-group of 16 x 4 brings the pixels for 16 x 16 results, with the halo around them, and the
// weights to local memory; each work-item has four results of a column.
#define TILE 16
#define ROWS 4
#define STEP (TILE / ROWS)
#define AREA (TILE + 2 * RADIUS)

__kernel void convolution(__global const int *in, __global const int *weights, __global int *out, int n)
{
    __local int area[AREA][AREA], factors[SIDE * SIDE];
    int x = get_local_id(0), y = get_local_id(1);
    int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    int width = n + 2 * RADIUS;
    __global const int *from = in + (top + y) * width + left + x;
    for (int row = 0; row < AREA; row += STEP) {
        area[y + row][x] = from[row * width];
        if (x < 2 * RADIUS)
            area[y + row][x + TILE] = from[row * width + TILE];
    }
    int me = y * TILE + x;
    if (me < SIDE * SIDE)
        factors[me] = weights[me];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sums[ROWS] = {0};
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++)
            for (int i = 0; i < ROWS; i++)
                sums[i] += area[y + i * STEP + row][x + column] * factors[row * SIDE + column];
    for (int i = 0; i < ROWS; i++)
        out[(top + y + i * STEP) * n + left + x] = sums[i];
}
#else
__kernel void convolution(__global const int *in, __global const int *weights, __global int *out, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    int width = n + 2 * RADIUS;
    int sum = 0;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++)
            sum += in[(y + row) * width + x + column] * weights[row * SIDE + column];
    out[y * n + x] = sum;
}
#endif
