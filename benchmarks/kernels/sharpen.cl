// A 5 x 5 filter that sharpens an n x n image of pixels from 0 to 255; the input has a border of two pixels.
#ifndef TYPE
#define TYPE int
#endif

__kernel void sharpen(__global const TYPE *in, __global TYPE *out, uint n)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    uint width = n + 4;
    __global const TYPE *p = in + y * width + x;
    int sum = 0;
    // Weights, in eighths: 8 at the centre, 2 around it, -1 at the edge.
    #pragma unroll
    for (int row = 0; row < 5; row++, p += width) {
        #pragma unroll
        for (int column = 0; column < 5; column++) {
            bool inner = row > 0 && row < 4 && column > 0 && column < 4;
            bool centre = row == 2 && column == 2;
            sum += p[column] * (centre ? 8 : inner ? 2 : -1);
        }
    }
    out[y * n + x] = clamp(sum >> 3, 0, 255);
}
