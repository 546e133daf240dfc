// Bound by memory: neighbours read words that are 128 bytes apart, so each needs a line of its own.
__kernel void columns(__global const int *in, __global int *out) {
    int column = get_global_id(0);
    int sum = 0;
    for (int row = 0; row < 8; row++)
        sum += in[32 * column + row * 32 * 2048];
    out[column] = sum;
}
