// Convolution of an n x n image with 5 x 5 weights; `in` has a border of two on each side.
#define RADIUS 2
#define SIDE (2 * RADIUS + 1)

#ifdef LOCAL
// In work-groups of 16 x 16, which bring their pixels, the halo around them and the weights to local memory.
#define TILE 16
#define AREA (TILE + 2 * RADIUS)

__kernel void convolution(__global const int *in, __global const int *weights, __global int *out, int n)
{
    __local int area[AREA][AREA], factors[SIDE * SIDE];
    int x = get_local_id(0), y = get_local_id(1);
    int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    int width = n + 2 * RADIUS;
    for (int row = y; row < AREA; row += TILE)
        for (int column = x; column < AREA; column += TILE)
            area[row][column] = in[(top + row) * width + left + column];
    if (y * TILE + x < SIDE * SIDE)
        factors[y * TILE + x] = weights[y * TILE + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++)
            sum += area[y + row][x + column] * factors[row * SIDE + column];
    out[(top + y) * n + left + x] = sum;
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
