// How often each number from 0 to 255 is among n elements.
#define BINS 256

#ifdef LOCAL
// Each work-group, of 256, counts for itself in local memory; histogram_merge adds what they found.
__kernel void histogram(__global const uint *in, __global uint *found, uint n)
{
    __local uint bins[BINS];
    uint me = get_local_id(0);
    bins[me] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&bins[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    found[get_group_id(0) * BINS + me] = bins[me];
}

__kernel void histogram_merge(__global const uint *found, __global uint *bins, uint groups)
{
    uint bin = get_global_id(0);
    uint count = 0;
    for (uint group = 0; group < groups; group++)
        count += found[group * BINS + bin];
    bins[bin] = count;
}
#else
__kernel void histogram(__global const uint *in, __global uint *bins, uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&bins[in[i]]);
}
#endif
