"""A small kernel with barriers, for measurements and tests of the engines."""

from typing import Final

__all__ = ["TREE_REDUCTION"]

TREE_REDUCTION: Final = """
kernel void reduce(global const int *in, global int *out, local int *sums) {
    size_t i = get_local_id(0);
    sums[i] = in[get_global_id(0)];
    for (size_t some = get_local_size(0) / 2; some > 0; some /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < some) sums[i] += sums[i + some];
    }
    if (i == 0) out[get_group_id(0)] = sums[0];
}
"""
"""``reduce``: the sum of each work-group, whose size is a power of two, by a tree in local memory of a word for each
work-item."""
