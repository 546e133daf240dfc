// One pass of a bitonic sort: work-item i compares, and if need be exchanges, one pair of words.
// In stage s (from 0) the passes p = 0 .. s have pairs at a distance of 2^(s - p). `direction` is 1
// for an ascending sort, 0 for a descending one.
__kernel void bitonic(__global uint *data, uint stage, uint pass, uint direction)
{
    uint i = get_global_id(0);
    uint distance = 1u << (stage - pass);
    uint left = 2 * i - (i & (distance - 1));
    uint right = left + distance;
    uint a = data[left];
    uint b = data[right];
    // Blocks of 2^(stage + 1) words are sorted up and down in turns.
    bool ascending = (i >> stage & 1) != direction;
    uint low = a < b ? a : b;
    uint high = a < b ? b : a;
    if (ascending) {
        data[left] = low;
        data[right] = high;
    } else {
        data[left] = high;
        data[right] = low;
    }
}
