// Step k of the shortest paths between all n nodes: distances are row-major, n x n.
#ifndef TYPE
#define TYPE int
#define WIDE int
#endif

__kernel void floydwarshall(__global TYPE *distances, int n, int k)
{
    size_t x = get_global_id(0);
    size_t y = get_global_id(1);
    WIDE there = distances[y * n + x];
    WIDE over_k = distances[y * n + k] + distances[k * n + x];
    distances[y * n + x] = over_k < there ? over_k : there;
}
