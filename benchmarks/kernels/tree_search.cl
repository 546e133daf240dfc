// Looks keys up in a search tree, of which each node has its key and the numbers of two others; -1 is none. Returns where
// the key is, or how deep the search went.
__kernel void tree_search(__global const int *tree, __global const int *keys, __global int *out)
{
    int me = get_global_id(0), key = keys[me], node = 0, depth = 0;
    while (node >= 0) {
        int here = tree[3 * node];
        if (key == here) {
            out[me] = node;
            return;
        }
        node = tree[3 * node + (key < here ? 1 : 2)];
        depth++;
    }
    out[me] = -depth;
}
