// An n x n image, n a multiple of 16, convolved with the same nine weights along rows, and then along columns; what is
// outside is zero. A work-group of 16 x 4 keeps its elements and a halo in local memory.
#define ACROSS 16
#define DOWN 4
#define RADIUS 4

__kernel void convolution_separable(__global const int *in, __global int *out, __constant int *weights, int n)
{
    __local int row[DOWN][ACROSS + 2 * RADIUS];
    int x = get_global_id(0), y = get_global_id(1), at = get_local_id(0);
    __local int *line = row[get_local_id(1)];
    line[at + RADIUS] = in[y * n + x];
    if (at < RADIUS)
        line[at] = x >= RADIUS ? in[y * n + x - RADIUS] : 0;
    else if (at >= ACROSS - RADIUS)
        line[at + 2 * RADIUS] = x + RADIUS < n ? in[y * n + x + RADIUS] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += line[at + k] * weights[k];
    out[y * n + x] = sum;
}

__kernel void convolution_columns(__global const int *in, __global int *out, __constant int *weights, int n)
{
    __local int column[DOWN + 2 * RADIUS][ACROSS];
    int x = get_global_id(0), y = get_global_id(1), at = get_local_id(1), me = get_local_id(0);
    column[at + RADIUS][me] = in[y * n + x];
    column[at][me] = y >= RADIUS ? in[(y - RADIUS) * n + x] : 0;
    column[at + 2 * RADIUS][me] = y + RADIUS < n ? in[(y + RADIUS) * n + x] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += column[at + k][me] * weights[k];
    out[y * n + x] = sum;
}
