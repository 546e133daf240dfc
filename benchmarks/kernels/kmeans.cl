// A step of k-means in the plane. kmeans finds the nearest of eight centres (x, y) for each of n points (x, y), and sums
// for each centre: x and y of its points, and how many they are. kmeans_move puts it in the middle of its points.
#define CLUSTERS 8

__kernel void kmeans(__global const int *points, __global const int *centres, __global uint *nearest,
                     __global int *sums, uint n)
{
#ifdef LOCAL
    // Each work-group has a copy of the centres and sums of its own.
    __local int means[2 * CLUSTERS], own[3 * CLUSTERS];
    uint me = get_local_id(0);
    if (me < 2 * CLUSTERS)
        means[me] = centres[me];
    if (me < 3 * CLUSTERS)
        own[me] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    __global const int *means = centres;
    __global int *own = sums;
#endif
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        int x = points[2 * i], y = points[2 * i + 1];
        uint best = 0, least = UINT_MAX;
        for (uint cluster = 0; cluster < CLUSTERS; cluster++) {
            int dx = means[2 * cluster] - x, dy = means[2 * cluster + 1] - y;
            uint square = dx * dx + dy * dy;
            best = square < least ? cluster : best;
            least = min(least, square);
        }
        nearest[i] = best;
        atomic_add(&own[3 * best], x);
        atomic_add(&own[3 * best + 1], y);
        atomic_inc(&own[3 * best + 2]);
    }
#ifdef LOCAL
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < 3 * CLUSTERS)
        sums[get_group_id(0) * 3 * CLUSTERS + me] = own[me];
#endif
}

// A work-item a cluster, for which `groups` left sums; they are 0 then.
__kernel void kmeans_move(__global int *centres, __global int *sums, uint groups)
{
    uint cluster = get_global_id(0);
    int x = 0, y = 0, count = 0;
    for (uint group = 0; group < groups; group++) {
        __global int *own = sums + 3 * (group * CLUSTERS + cluster);
        x += own[0];
        y += own[1];
        count += own[2];
        own[0] = own[1] = own[2] = 0;
    }
    if (count > 0) {
        centres[2 * cluster] = x / count;
        centres[2 * cluster + 1] = y / count;
    }
}
