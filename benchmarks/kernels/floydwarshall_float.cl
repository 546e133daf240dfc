// Step k of the shortest paths between all n nodes: distances are row-major, n x n.
__kernel void floydwarshall_float(__global float *distances, int n, int k)
{
    size_t x = get_global_id(0);
    size_t y = get_global_id(1);
    float there = distances[y * n + x];
    float over_k = distances[y * n + k] + distances[k * n + x];
    distances[y * n + x] = over_k < there ? over_k : there;
}
