// out[i] = sum of row i of in, which has so many words; a row a work-item.
__kernel void row_sum(__global const int *in, __global int *out, int words)
{
    size_t i = get_global_id(0);
    int sum = 0;
    for (int j = 0; j < words; j++)
        sum += in[i * words + j];
    out[i] = sum;
}
