// Sorts n elements: a work-item counts those that come before its own and writes it to its place.
#ifndef TYPE
#define TYPE int
#endif

__kernel void selection(__global const TYPE *in, __global TYPE *out, uint n)
{
    uint i = get_global_id(0);
    TYPE mine = in[i];
    uint place = 0;
    uint j = 0;
    do {
        TYPE other = in[j];
        // Of equal elements the first comes first. No branches: work-items would part there.
        place += (other < mine) | ((other == mine) & (j < i));
        j++;
    } while (j != n);
    out[place] = mine;
}
