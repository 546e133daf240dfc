// The median of each pixel and its neighbours in an n x n image; the input has a border of one pixel.
#ifndef TYPE
#define TYPE int
#endif

static void order(int *less, int *more)
{
    int a = *less, b = *more;
    *less = min(a, b);
    *more = max(a, b);
}

__kernel void median(__global const TYPE *in, __global TYPE *out, uint n)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    uint width = n + 2;
    __global const TYPE *p = in + y * width + x;
    int a = p[0], b = p[1], c = p[2];
    p += width;
    int d = p[0], e = p[1], f = p[2];
    p += width;
    int g = p[0], h = p[1], i = p[2];
    // Each row in order; then the greatest of the least, the median of the medians, the least of the greatest.
    order(&a, &b); order(&b, &c); order(&a, &b);
    order(&d, &e); order(&e, &f); order(&d, &e);
    order(&g, &h); order(&h, &i); order(&g, &h);
    int low = max(max(a, d), g);
    int high = min(min(c, f), i);
    order(&b, &e); order(&e, &h); order(&b, &e);
    order(&low, &e); order(&e, &high); order(&low, &e);
    out[y * n + x] = e;
}
