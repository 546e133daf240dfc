// Merge sort: a pass merges each two neighbouring runs of `length` sorted elements. A work-item finds by binary search
// how many elements of the other run come before its own; of equal ones those of the left run come first.
#ifdef LOCAL
// A block in one launch: an element for each work-item of the only work-group.
#define SPACE __local
#else
#define SPACE __global
#endif

bool is_before(uint other, uint value, bool is_right)
{
    return other < value || (is_right && other == value);
}

uint place_of(uint value, uint i, uint length, SPACE const uint *data)
{
    SPACE const uint *other = data + ((i ^ length) & -length);
    bool is_right = (i & length) != 0;
    uint rank = 0;
    for (uint step = length / 2; step > 0; step /= 2)
        if (is_before(other[rank + step - 1], value, is_right))
            rank += step;
    if (is_before(other[rank], value, is_right))
        rank++;
    return (i & -(2 * length)) + (i & (length - 1)) + rank;
}

#ifdef LOCAL
__kernel void mergesort(__global uint *data, __local uint *block)
{
    uint i = get_local_id(0), size = get_local_size(0);
    uint from = 0;      // passes go from one half of `block` to the other
    uint value = data[i];
    block[i] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint length = 1; length < size; length *= 2) {
        uint place = place_of(value, i, length, block + from);
        from = size - from;
        block[from + place] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        value = block[from + i];
    }
    data[i] = value;
}
#else
__kernel void mergesort(__global const uint *in, __global uint *out, uint length)
{
    uint i = get_global_id(0);
    uint value = in[i];
    out[place_of(value, i, length, in)] = value;
}
#endif
