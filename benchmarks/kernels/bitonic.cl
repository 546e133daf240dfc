// One pass of a bitonic sort: work-item i compares, and if need be exchanges, one pair of elements.
// In stage s (from 0) the passes p = 0 .. s have pairs at a distance of 2^(s - p). `direction` is 1
// for an ascending sort, 0 for a descending one.
#ifndef TYPE
#define TYPE uint
#endif

__kernel void bitonic(__global TYPE *data, uint stage, uint pass, uint direction)
{
    uint i = get_global_id(0);
    uint distance = 1u << (stage - pass);
    uint left = i + (i & -distance);
    uint right = left + distance;
    TYPE a = data[left];
    TYPE b = data[right];
    // Blocks of 2^(stage + 1) elements are sorted up and down in turns.
    uint ascending = (i >> stage ^ direction) & 1;
    bool exchange = (a < b) ^ ascending;
    data[left] = exchange ? b : a;
    data[right] = exchange ? a : b;
}
