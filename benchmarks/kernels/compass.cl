// Edges in an n x n image by the strongest of eight directions, each 45 degrees on: how strong it is, and which.
// The input has a border of one pixel.
#ifndef TYPE
#define TYPE int
#endif

__kernel void compass(__global const TYPE *in, __global TYPE *amplitude, __global TYPE *angle, uint n)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    uint width = n + 2;
    __global const TYPE *p = in + y * width + x;
    // The neighbours from the top left one clockwise.
    int ring[8] = {
        p[0], p[1], p[2], p[width + 2], p[2 * width + 2], p[2 * width + 1], p[2 * width], p[width],
    };
    int strongest = INT_MIN;
    int direction = 0;
    #pragma unroll
    for (int d = 0; d < 8; d++) {
        int edge = ring[d] + 2 * ring[(d + 1) % 8] + ring[(d + 2) % 8]
                 - ring[(d + 4) % 8] - 2 * ring[(d + 5) % 8] - ring[(d + 6) % 8];
        direction = edge > strongest ? d : direction;
        strongest = max(edge, strongest);
    }
    amplitude[y * n + x] = strongest;
    angle[y * n + x] = direction;
}
