// The amplitude of edges in an n x n image: the input has a border of one pixel. In floating point it is the
// gradient's length, in integers the sum of its parts.
#ifndef TYPE
#define TYPE int
#define WIDE int
#endif
#ifndef PIXEL
#define PIXEL TYPE
#endif

__kernel void sobel(__global const PIXEL *in, __global TYPE *out, uint n)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    uint width = n + 2;
    __global const PIXEL *p = in + y * width + x;
    WIDE top_left = p[0], top = p[1], top_right = p[2];
    p += width;
    WIDE left = p[0], right = p[2];
    p += width;
    WIDE bottom_left = p[0], bottom = p[1], bottom_right = p[2];
    WIDE across = (top_right - top_left) + 2 * (right - left) + (bottom_right - bottom_left);
    WIDE down = (bottom_left - top_left) + 2 * (bottom - top) + (bottom_right - top_right);
#ifdef PYTHAGORAS
    out[y * n + x] = sqrt(across * across + down * down);
#else
    out[y * n + x] = abs(across) + abs(down);
#endif
}
