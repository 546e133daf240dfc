// The Mandelbrot set: a byte for each pixel, how soon its number leaves the circle.
__kernel void mandelbrot(__global uchar *picture, float left, float top, float step, uint limit)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    float2 c = (float2)(left + step * x, top - step * y);
    float2 z = c;
    uint n = 0;

    while (n < limit && dot(z, z) <= 4.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        n++;
    }
    picture[y * get_global_size(0) + x] = 255 - 255 * n / limit;
}
