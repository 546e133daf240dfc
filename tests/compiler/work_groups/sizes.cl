// Work-groups of all sizes and dimensions, and many of them.

#define MEET barrier(CLK_LOCAL_MEM_FENCE)

// run one_dimension 12/1: out uint 12, in uint 12
// run one_dimension 12/2: out uint 12, in uint 12
// run one_dimension 12/3: out uint 12, in uint 12
// run one_dimension 25/5: out uint 25, in uint 25
// run one_dimension 51/17: out uint 51, in uint 51
// run one_dimension 126/63: out uint 126, in uint 126
// run one_dimension 192/64: out uint 192, in uint 192
// run one_dimension 195/65: out uint 195, in uint 195
// run one_dimension 300/100: out uint 300, in uint 300
// run one_dimension 254/127: out uint 254, in uint 254
// run one_dimension 512/256: out uint 512, in uint 512
// run one_dimension 1022/511: out uint 1022, in uint 1022
// run one_dimension 1024/512: out uint 1024, in uint 1024
__kernel void one_dimension(__global uint *out, __global const uint *in)
{
    __local uint t[512];
    uint l = get_local_id(0), i = get_global_id(0), n = get_local_size(0), x = in[i];
    for (uint j = 0; j < 3; j++) {
        t[l] = x;
        MEET;
        x = x * 3 + t[(l + 1) % n] + t[n - 1 - l];
        MEET;
    }
    out[i] = x;
}

// run with_offset 192/64+{1 64 1000}: out uint 2000, in uint 2000
__kernel void with_offset(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    uint l = get_local_id(0), i = get_global_id(0), n = get_local_size(0);
    t[l] = in[i];
    MEET;
    out[i] = t[n - 1 - l] + get_global_offset(0) + get_group_id(0);
}

// run two_dimensions 8x8/8x8: out uint 64, in uint 64
// run two_dimensions 16x16/4x8: out uint 256, in uint 256
// run two_dimensions 15x9/5x3: out uint 135, in uint 135
// run two_dimensions 34x6/17x3: out uint 204, in uint 204
// run two_dimensions 64x16/32x16: out uint 1024, in uint 1024
// run two_dimensions 130x2/65x1: out uint 260, in uint 260
// run two_dimensions 6x100/1x100: out uint 600, in uint 600
__kernel void two_dimensions(__global uint *out, __global const uint *in)
{
    __local uint t[512];
    uint x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
    uint i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    t[y * w + x] = in[i];
    MEET;
    out[i] = t[(h - 1 - y) * w + x] * 3 + t[y * w + (x + 1) % w];
}

// run two_dimensions_with_offset 16x8/8x4+{3x5 16x0}: out uint 1024, in uint 1024
__kernel void two_dimensions_with_offset(__global uint *out, __global const uint *in)
{
    __local uint t[4][8];
    uint x = get_local_id(0), y = get_local_id(1), i = get_global_id(1) * 32 + get_global_id(0);
    t[y][x] = in[i];
    MEET;
    out[i] = t[3 - y][7 - x] + get_group_id(0) * 10 + get_group_id(1);
}

// run three_dimensions 8x8x8/4x4x4: out uint 512, in uint 512
// run three_dimensions 6x10x14/3x5x7: out uint 840, in uint 840
// run three_dimensions 8x8x8/8x8x8: out uint 512, in uint 512
// run three_dimensions 4x2x65/1x1x65: out uint 520, in uint 520
// run three_dimensions 9x9x9/3x3x3: out uint 729, in uint 729
__kernel void three_dimensions(__global uint *out, __global const uint *in)
{
    __local uint t[512];
    uint x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    uint w = get_local_size(0), h = get_local_size(1), d = get_local_size(2);
    uint i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    t[(z * h + y) * w + x] = in[i];
    MEET;
    out[i] = t[(z * h + h - 1 - y) * w + x] * 3 + t[((d - 1 - z) * h + y) * w + (x + 1) % w];
}

// More work-groups than a compute unit holds; nobody sees another's local memory.
// run many_groups 4096/64: out uint 4096
// run many_groups 2048/16: out uint 2048
// run many_groups 3000/100: out uint 3000
// run many_groups 8192/512: out uint 8192
__kernel void many_groups(__global uint *out)
{
    __local uint t[512];
    uint l = get_local_id(0), i = get_global_id(0), g = get_group_id(0), n = get_local_size(0), x = 0;
    t[l] = g * 1000 + l;
    MEET;
    for (uint j = 0; j < (g & 3) * 5; j++) x = x * 3 + j;       // some take longer
    MEET;
    out[i] = t[(l + 1) % n] + x;
}

// run groups_in_local 64x6/16x2: out uint 384
__kernel void groups_in_local(__global uint *out)
{
    __local uint id[2];
    uint l = get_local_id(1) * 16 + get_local_id(0);
    if (l == 31) { id[0] = get_group_id(0); id[1] = get_group_id(1); }
    MEET;
    out[get_global_id(1) * 64 + get_global_id(0)] = id[1] * 100 + id[0];
}

// run large_groups 2048/{64 256 512}: out uint 2048
__kernel void large_groups(__global uint *out)
{
    __local uint t[4096];       // two of them fill 32 KiB
    uint l = get_local_id(0), i = get_global_id(0), n = get_local_size(0), sum = 0;
    for (uint j = l; j < 4096; j += n) t[j] = i * 5 + j;
    MEET;
    for (uint j = 0; j < 8; j++) sum = sum * 3 + t[(l * 67 + j * 509) & 4095];
    out[i] = sum;
}

// run required_size 128/32: out uint 128, in uint 128
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void required_size(__global uint *out, __global const uint *in)
{
    __local uint t[32];
    uint l = get_local_id(0), i = get_global_id(0);
    t[l] = in[i];
    MEET;
    out[i] = t[31 - l];
}

// run one_item_does_it 32/1: out uint 32, in uint 32
__kernel void one_item_does_it(__global uint *out, __global const uint *in)
{
    __local uint t[8];
    uint i = get_global_id(0);
    for (uint j = 0; j < 8; j++) { t[j] = in[i] >> j; MEET; }
    for (uint j = 1; j < 8; j++) { t[j] += t[j - 1]; MEET; }
    out[i] = t[7];
}

// run sum_of_group 30/{1 2 3 5 6 10 15}: out uint 30, in uint 30
__kernel void sum_of_group(__global uint *out, __global const uint *in)
{
    __local uint t[16];
    uint l = get_local_id(0), i = get_global_id(0), n = get_local_size(0);
    t[l] = in[i];
    for (uint left = n; left > 1;) {
        uint middle = (left + 1) / 2;
        MEET;
        if (l + middle < left) t[l] += t[l + middle];
        left = middle;
    }
    MEET;
    out[i] = t[0];
}
