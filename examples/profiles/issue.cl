// Bound by issue: each work-item computes for long on two words.
__kernel void hash(__global const uint *in, __global uint *out) {
    uint i = get_global_id(0);
    uint h = in[i];
    for (int round = 0; round < 16; round++) {
        h ^= h >> 16;
        h *= 0x7feb352d;
        h ^= h >> 15;
        h += round;
    }
    out[i] = h;
}
