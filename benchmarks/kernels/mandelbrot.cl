// Iterations of z * z + c, in numbers with 12 bits behind the point, until |z| > 2, at most `limit`, for n x n points c.
#define POINT 12

__kernel void mandelbrot(__global int *out, int n, int limit)
{
    int column = get_global_id(0), row = get_global_id(1);
    int cx = (3 << POINT) * column / n - (2 << POINT), cy = (2 << POINT) * row / n - (1 << POINT);
    int x = 0, y = 0, count = 0;
    while (count < limit) {
        int xx = x * x >> POINT, yy = y * y >> POINT;
        if (xx + yy > 4 << POINT)
            break;
        y = (x * y >> (POINT - 1)) + cy;
        x = xx - yy + cx;
        count++;
    }
    out[row * n + column] = count;
}
