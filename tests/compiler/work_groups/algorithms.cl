// What work-groups are used for.

#define START uint l = get_local_id(0), i = get_global_id(0), g = get_group_id(0), n = get_local_size(0);
#define MEET barrier(CLK_LOCAL_MEM_FENCE)

// run reduce_neighbours 512/128: out uint 4, in uint 512
__kernel void reduce_neighbours(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    t[l] = in[i];
    for (uint step = 1; step < n; step *= 2) {
        MEET;
        if (l % (2 * step) == 0) t[l] += t[l + step];
    }
    if (l == 0) out[g] = t[0];
}

// run reduce_strided 512/128: out uint 4, in uint 512
__kernel void reduce_strided(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    t[l] = in[i];
    for (uint step = 1; step < n; step *= 2) {
        MEET;
        uint at = 2 * step * l;
        if (at < n) t[at] += t[at + step];
    }
    if (l == 0) out[g] = t[0];
}

// run reduce_halves 1024/256: out uint 4, in uint 2048
__kernel void reduce_halves(__global uint *out, __global const uint *in)
{
    __local uint t[256];
    START
    t[l] = in[g * 2 * n + l] + in[g * 2 * n + n + l];
    MEET;
    for (uint step = n / 2; step > 0; step >>= 1) {
        if (l < step) t[l] += t[l + step];
        MEET;
    }
    if (l == 0) out[g] = t[0];
}

// run reduce_float 256/64: out float 4, in float 256, local 256
__kernel void reduce_float(__global float *out, __global const float *in, __local float *t)
{
    START
    t[l] = in[i];
    for (uint step = n / 2; step > 0; step >>= 1) {
        MEET;
        if (l < step) t[l] += t[l + step];
    }
    if (l == 0) out[g] = t[0];
}

// run reduce_vectors 128/64: out int4 2, in int4 128
__kernel void reduce_vectors(__global int4 *out, __global const int4 *in)
{
    __local int4 t[64];
    START
    t[l] = in[i] >> 4;
    for (uint step = n / 2; step > 0; step >>= 1) {
        MEET;
        if (l < step) t[l] = max(t[l], t[l + step]) + 1;
    }
    if (l == 0) out[g] = t[0];
}

// run reduce_many 64/64: out ulong 1, in uint 1000
__kernel void reduce_many(__global ulong *out, __global const uint *in)
{
    __local ulong t[64];
    START
    ulong sum = 0;
    for (uint j = l; j < 1000; j += n) sum += in[j];
    t[l] = sum;
    for (uint step = 32; step > 0; step >>= 1) {
        MEET;
        if (l < step) t[l] += t[l + step];
    }
    if (l == 0) out[g] = t[0];
}

// run index_of_most 256/128: out uint 4, in uint 256
__kernel void index_of_most(__global uint *out, __global const uint *in)
{
    __local uint value[128], index[128];
    START
    value[l] = in[i] >> 20;
    index[l] = l;
    for (uint step = n / 2; step > 0; step >>= 1) {
        MEET;
        if (l < step && (value[l + step] > value[l] || (value[l + step] == value[l] && index[l + step] < index[l]))) {
            value[l] = value[l + step];
            index[l] = index[l + step];
        }
    }
    if (l == 0) { out[2 * g] = value[0]; out[2 * g + 1] = index[0]; }
}

// run dot_product 256/64: out int 4, in short 256, in short 256
__kernel void dot_product(__global int *out, __global const short *a, __global const short *b)
{
    __local int t[64];
    START
    t[l] = (a[i] >> 4) * (b[i] >> 4);
    for (uint step = n / 2; step > 0; step >>= 1) {
        MEET;
        if (l < step) t[l] += t[l + step];
    }
    if (l == 0) out[g] = t[0];
}

// run scan_steps 256/128: out uint 256, in uint 256
__kernel void scan_steps(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    t[l] = in[i];
    MEET;
    for (uint step = 1; step < n; step *= 2) {
        uint before = l >= step ? t[l - step] : 0;
        MEET;
        t[l] += before;
        MEET;
    }
    out[i] = t[l] + g;
}

// run scan_two_buffers 200/100: out uint 200, in uint 200
__kernel void scan_two_buffers(__global uint *out, __global const uint *in)
{
    __local uint t[2][100];
    START
    uint from = 0;
    t[0][l] = in[i];
    MEET;
    for (uint step = 1; step < n; step *= 2) {
        t[1 - from][l] = t[from][l] + (l >= step ? t[from][l - step] : 0);
        from = 1 - from;
        MEET;
    }
    out[i] = t[from][l] + g;
}

// run scan_tree 256/64: out uint 512, in uint 512
__kernel void scan_tree(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    uint length = 2 * n, step = 1;
    t[2 * l] = in[2 * i];
    t[2 * l + 1] = in[2 * i + 1];
    for (uint d = n; d > 0; d >>= 1) {
        MEET;
        if (l < d) t[step * (2 * l + 2) - 1] += t[step * (2 * l + 1) - 1];
        step *= 2;
    }
    if (l == 0) t[length - 1] = 0;
    for (uint d = 1; d < length; d *= 2) {
        step >>= 1;
        MEET;
        if (l < d) {
            uint a = step * (2 * l + 1) - 1, b = step * (2 * l + 2) - 1, old = t[a];
            t[a] = t[b];
            t[b] += old;
        }
    }
    MEET;
    out[2 * i] = t[2 * l] + g;
    out[2 * i + 1] = t[2 * l + 1];
}

// run scan_segments 128/64: out uint 128, in uint 128
__kernel void scan_segments(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    __local uchar head[64];
    START
    t[l] = in[i] >> 8;
    head[l] = l == 0 || in[i] % 5 == 0;
    MEET;
    for (uint step = 1; step < n; step *= 2) {
        uint value = t[l], is_head = head[l];
        if (!is_head && l >= step) { value += t[l - step]; is_head |= head[l - step]; }
        MEET;
        t[l] = value;
        head[l] = is_head;
        MEET;
    }
    out[i] = t[l] + g;
}

// run scan_maximum 128/64: out int 128, in int 128
__kernel void scan_maximum(__global int *out, __global const int *in)
{
    __local int t[64];
    START
    t[l] = in[i];
    MEET;
    for (uint step = 1; step < n; step *= 2) {
        int value = l >= step ? max(t[l], t[l - step]) : t[l];
        MEET;
        t[l] = value;
        MEET;
    }
    out[i] = t[l] + (int)g;
}

// run compact 256/128: zero uint 256, out uint 2, in uint 256
__kernel void compact(__global uint *out, __global uint *counts, __global const uint *in)
{
    __local uint t[128];
    START
    uint keep = in[i] % 3 == 0;
    t[l] = keep;
    MEET;
    for (uint step = 1; step < n; step *= 2) {
        uint before = l >= step ? t[l - step] : 0;
        MEET;
        t[l] += before;
        MEET;
    }
    if (keep) out[g * n + t[l] - 1] = in[i];
    if (l == n - 1) counts[g] = t[l];
}

// run sort_bitonic 256/128: out uint 256, in uint 256
__kernel void sort_bitonic(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    t[l] = in[i];
    for (uint size = 2; size <= n; size *= 2)
        for (uint step = size / 2; step > 0; step >>= 1) {
            MEET;
            uint other = l ^ step;
            if (other > l && (t[l] > t[other]) == ((l & size) == 0)) {
                uint old = t[l];
                t[l] = t[other];
                t[other] = old;
            }
        }
    MEET;
    out[i] = t[l] + g;
}

// run sort_odd_even 100/50: out int 100, in int 100
__kernel void sort_odd_even(__global int *out, __global const int *in)
{
    __local int t[50];
    START
    t[l] = in[i];
    for (uint round = 0; round < n; round++) {
        MEET;
        if (l % 2 == round % 2 && l + 1 < n && t[l] > t[l + 1]) {
            int old = t[l];
            t[l] = t[l + 1];
            t[l + 1] = old;
        }
    }
    MEET;
    out[i] = t[l] + (int)g;
}

// run sort_by_rank 128/64: out uint 128, in uint 128
__kernel void sort_by_rank(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    uint x = in[i] >> 26, rank = 0;
    t[l] = x;
    MEET;
    for (uint j = 0; j < n; j++) rank += t[j] < x || (t[j] == x && j < l);
    MEET;
    t[rank] = x * 100 + l;
    MEET;
    out[i] = t[l] + g;
}

// run sort_radix 128/64: out uint 128, in uint 128
__kernel void sort_radix(__global uint *out, __global const uint *in)
{
    __local uint t[64], ones[64];
    START
    uint x = in[i] & 0xFFFF;
    for (uint bit = 0; bit < 16; bit++) {
        uint one = x >> bit & 1;
        ones[l] = one;
        MEET;
        for (uint step = 1; step < n; step *= 2) {
            uint before = l >= step ? ones[l - step] : 0;
            MEET;
            ones[l] += before;
            MEET;
        }
        uint zeros = n - ones[n - 1];
        t[one ? zeros + ones[l] - 1 : l - ones[l]] = x;
        MEET;
        x = t[l];
        MEET;
    }
    out[i] = x + g;
}

// run sort_merge 64/64: out uint 64, in uint 64
__kernel void sort_merge(__global uint *out, __global const uint *in)
{
    __local uint t[2][64];
    START
    uint from = 0;
    t[0][l] = in[i];
    MEET;
    for (uint size = 1; size < n; size *= 2) {
        uint x = t[from][l], start = (l ^ size) / size * size, first = l & size, low = 0, high = size;
        while (low < high) {
            uint middle = (low + high) / 2, y = t[from][start + middle];
            if (y < x || (first && y == x)) low = middle + 1; else high = middle;
        }
        t[1 - from][l / (2 * size) * 2 * size + l % size + low] = x;
        from = 1 - from;
        MEET;
    }
    out[i] = t[from][l] + g;
}

// run transpose 32x32/8x8: out uint 1024, in uint 1024
__kernel void transpose(__global uint *out, __global const uint *in)
{
    __local uint t[8][9];
    uint x = get_local_id(0), y = get_local_id(1), column = get_group_id(0) * 8, row = get_group_id(1) * 8;
    t[y][x] = in[(row + y) * 32 + column + x];
    MEET;
    out[(column + y) * 32 + row + x] = t[x][y];
}

// run transpose_bytes 32x32/16x16: out uchar 1024, in uchar 1024
__kernel void transpose_bytes(__global uchar *out, __global const uchar *in)
{
    __local uchar t[16][16];
    uint x = get_local_id(0), y = get_local_id(1), column = get_group_id(0) * 16, row = get_group_id(1) * 16;
    t[y][x] = in[(row + y) * 32 + column + x];
    MEET;
    out[(column + y) * 32 + row + x] = t[x][y];
}

// run transpose_rows 32x8/32x2: out float 1024, in float 1024
__kernel void transpose_rows(__global float *out, __global const float *in)
{
    __local float t[32][33];
    uint x = get_local_id(0), y = get_local_id(1), g = get_group_id(1);
    if (g == 0) {
        for (uint j = y; j < 32; j += 2) t[j][x] = in[j * 32 + x];
        MEET;
        for (uint j = y; j < 32; j += 2) out[j * 32 + x] = t[x][j];
    }
}

// run stencil 256/64: out uint 256, in uint 258
__kernel void stencil(__global uint *out, __global const uint *in)
{
    __local uint t[66];
    START
    t[l] = in[i];
    if (l < 2) t[64 + l] = in[g * n + 64 + l];
    MEET;
    out[i] = t[l] + 2 * t[l + 1] + t[l + 2];
}

// run stencil_in_rounds 64/64: out int 64, in int 64
__kernel void stencil_in_rounds(__global int *out, __global const int *in)
{
    __local int t[66];
    START
    t[l + 1] = in[i] >> 8;
    if (l == 0) t[0] = t[65] = 0;
    for (uint j = 0; j < 10; j++) {
        MEET;
        int value = (t[l] + 2 * t[l + 1] + t[l + 2]) / 4;
        MEET;
        t[l + 1] = value;
    }
    out[i] = t[l + 1] + (int)(g * n);
}

// run stencil_plane 16x16/8x8: out uint 256, in uint 256
__kernel void stencil_plane(__global uint *out, __global const uint *in)
{
    __local uint t[10][10];
    int lx = get_local_id(0), ly = get_local_id(1), x0 = get_group_id(0) * 8 - 1, y0 = get_group_id(1) * 8 - 1;
    for (int j = ly * 8 + lx; j < 100; j += 64) {
        int x = x0 + j % 10, y = y0 + j / 10;
        t[j / 10][j % 10] = x >= 0 && x < 16 && y >= 0 && y < 16 ? in[y * 16 + x] : 0;
    }
    MEET;
    out[get_global_id(1) * 16 + get_global_id(0)] =
        4 * t[ly + 1][lx + 1] - t[ly][lx + 1] - t[ly + 2][lx + 1] - t[ly + 1][lx] - t[ly + 1][lx + 2];
}

// run life 8x8/8x8: out uchar 64, in uchar 64 below 2
__kernel void life(__global uchar *out, __global const uchar *in)
{
    __local uchar t[8][8];
    uint x = get_local_id(0), y = get_local_id(1);
    t[y][x] = in[8 * y + x];
    for (uint round = 0; round < 5; round++) {
        MEET;
        uint count = 0;
        for (uint j = 0; j < 9; j++) if (j != 4) count += t[(y + j / 3 + 7) & 7][(x + j % 3 + 7) & 7];
        uchar next = count == 3 || (count == 2 && t[y][x]);
        MEET;
        t[y][x] = next;
    }
    out[8 * y + x] = t[y][x];
}

// run convolution 192/64: out int 192, in short 200, in short 9
__kernel void convolution(__global int *out, __global const short *in, __global const short *weights)
{
    __local short t[72], w[9];
    START
    for (uint j = l; j < 72; j += n) t[j] = in[g * n + j];
    if (l < 9) w[l] = weights[l] >> 4;
    MEET;
    int sum = 0;
    for (uint j = 0; j < 9; j++) sum += t[l + j] * w[j];
    out[i] = sum;
}

// run product 16x16/8x8: out float 256, in float 256, in float 256
__kernel void product(__global float *out, __global const float *a, __global const float *b)
{
    __local float s[8][8], t[8][8];
    uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (uint j = 0; j < 16; j += 8) {
        s[y][x] = a[row * 16 + j + x];
        t[y][x] = b[(j + y) * 16 + column];
        MEET;
        for (uint k = 0; k < 8; k++) sum += s[y][k] * t[k][x];
        MEET;
    }
    out[row * 16 + column] = sum;
}

// run product_of_ints 12x12/4x4: out uint 144, in uint 144, in uint 144, local 64, local 64
__kernel void product_of_ints(__global uint *out, __global const uint *a, __global const uint *b, __local uint *s,
                              __local uint *t)
{
    uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1), sum = 0;
    for (uint j = 0; j < get_num_groups(0); j++) {
        s[4 * y + x] = a[row * 12 + 4 * j + x];
        t[4 * y + x] = b[(4 * j + y) * 12 + column];
        MEET;
        for (uint k = 0; k < 4; k++) sum += s[4 * y + k] * t[4 * k + x];
        MEET;
    }
    out[row * 12 + column] = sum;
}

// run matrix_vector 128/32: out uint 4, in uint 256, in uint 64
__kernel void matrix_vector(__global uint *out, __global const uint *matrix, __global const uint *vector)
{
    __local uint t[32];
    START
    t[l] = matrix[64 * g + l] * vector[l] + matrix[64 * g + 32 + l] * vector[32 + l];
    for (uint step = n / 2; step > 0; step /= 2) {
        MEET;
        if (l < step) t[l] += t[l + step];
    }
    if (l == 0) out[g] = t[0];
}

// run shortest_paths 8x8/8x8: out uint 64, in uint 64 below 100
__kernel void shortest_paths(__global uint *out, __global const uint *in)
{
    __local uint t[8][8];
    uint x = get_local_id(0), y = get_local_id(1);
    t[y][x] = x == y ? 0 : in[8 * y + x] + 1;
    for (uint k = 0; k < 8; k++) {
        MEET;
        uint other = t[y][k] + t[k][x];
        MEET;
        t[y][x] = min(t[y][x], other);
    }
    out[8 * y + x] = t[y][x];
}

// run walsh 128/64: out int 128, in short 128
__kernel void walsh(__global int *out, __global const short *in)
{
    __local int t[64];
    START
    t[l] = in[i];
    for (uint step = 1; step < n; step *= 2) {
        MEET;
        int mine = t[l], other = t[l ^ step];
        MEET;
        t[l] = l & step ? other - mine : mine + other;
    }
    out[i] = t[l] + (int)g;
}

// The butterflies of a fast Fourier transform, in numbers modulo 257.
// run transform 64/32: out uint 128, in uint 128 below 257
__kernel void transform(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    for (uint j = 0; j < 2; j++) t[(2 * l + j) * 5 & 63] = in[64 * g + 2 * l + j];
    for (uint size = 1; size < 64; size *= 2) {
        MEET;
        uint at = l / size * 2 * size + l % size, power = 1;
        for (uint j = 0; j < l % size; j++) power = power * (3 + size) % 257;
        uint a = t[at], b = t[at + size] * power % 257;
        t[at] = (a + b) % 257;
        t[at + size] = (a + 257 - b) % 257;
    }
    MEET;
    out[64 * g + l] = t[l];
    out[64 * g + l + n] = t[l + n];
}

// run forces 64/32: out int 64, in short 64
__kernel void forces(__global int *out, __global const short *in)
{
    __local short t[32];
    START
    int mine = in[i], force = 0;
    for (uint tile = 0; tile < 64; tile += n) {
        t[l] = in[tile + l];
        MEET;
        for (uint j = 0; j < n; j++) {
            int d = t[j] - mine;
            force += d / (1 + (d < 0 ? -d : d) / 64);
        }
        MEET;
    }
    out[i] = force + (int)g;
}

// run nearest_centre 128/64: out uint 8, in uchar 128, in uchar 4
__kernel void nearest_centre(__global uint *out, __global const uchar *in, __global const uchar *centres)
{
    __local int centre[4];
    __local uint sum[4], count[4];
    START
    if (l < 4) centre[l] = centres[l];
    for (uint round = 0; round < 4; round++) {
        if (l < 4) sum[l] = count[l] = 0;
        MEET;
        int x = in[i], best = 0;
        for (int j = 1; j < 4; j++) if (abs(x - centre[j]) < abs(x - centre[best])) best = j;
        atomic_add(&sum[best], (uint)x);
        atomic_inc(&count[best]);
        MEET;
        if (l < 4 && count[l]) centre[l] = sum[l] / count[l];
        MEET;
    }
    if (l < 4) out[4 * g + l] = centre[l] + n;
}

// run labels 64/64: out uint 64, in uint 64
__kernel void labels(__global uint *out, __global const uint *in)
{
    __local uint label[2][64], changed;
    START
    uint other = in[i] % (l + 1), round = 0;
    label[0][l] = l;
    do {
        uint from = round++ & 1, to = from ^ 1;
        label[to][l] = label[from][l];
        if (l == 0) changed = 0;
        MEET;
        atomic_min(&label[to][l], label[from][other]);
        atomic_min(&label[to][other], label[from][l]);
        MEET;
        if (label[to][l] != label[from][l]) changed = 1;
        MEET;
        if (!changed) break;
        MEET;
    } while (1);
    out[i] = label[round & 1][l] + g * n;
}

// run breadth_first 64/64: out uint 64, in uint 128
__kernel void breadth_first(__global uint *out, __global const uint *in)
{
    __local uint distance[64], is_done;
    START
    distance[l] = l == 0 ? 0 : 99;
    for (uint level = 0;; level++) {
        if (l == 0) is_done = 1;
        MEET;
        if (distance[l] == level)
            for (uint j = 0; j < 2; j++) {
                uint to = in[2 * l + j] & 63;
                if (atomic_min(&distance[to], level + 1) == 99) is_done = 0;
            }
        MEET;
        uint stop = is_done;
        MEET;
        if (stop) break;
    }
    out[i] = distance[l] + g * n;
}

// run string_search 128/64: out int 2, in uchar 128 below 3, in uchar 3 below 3
__kernel void string_search(__global int *out, __global const uchar *in, __global const uchar *wanted)
{
    __local uchar text[64], word[3];
    __local int first;
    START
    text[l] = in[i];
    if (l < 3) word[l] = wanted[l];
    if (l == 0) first = n;
    MEET;
    uint same = l + 3 <= n;
    for (uint j = 0; same && j < 3; j++) same = text[l + j] == word[j];
    if (same) atomic_min(&first, (int)l);
    MEET;
    if (l == 0) out[g] = first;
}

// run edit_distance 16/16: out uint 17, in uchar 16 below 4, in uchar 16 below 4
__kernel void edit_distance(__global uint *out, __global const uchar *a, __global const uchar *b)
{
    __local uint t[17][17];
    START
    t[0][l + 1] = t[l + 1][0] = l + 1;
    if (l == 0) t[0][0] = 0;
    for (uint d = 0; d < 31; d++) {         // along the diagonals
        MEET;
        uint y = l, x = d - l;
        if (x < 16) {
            uint best = t[y][x] + (a[y] != b[x]);
            best = min(best, min(t[y + 1][x], t[y][x + 1]) + 1);
            t[y + 1][x + 1] = best;
        }
    }
    MEET;
    out[l] = t[16][l] + g;
    if (l == 0) out[16] = t[16][16] + i * n;
}

// run elimination 8x8/8x8: out uint 64, in uint 64 below 251
__kernel void elimination(__global uint *out, __global const uint *in)
{
    __local uint t[8][8];
    uint x = get_local_id(0), y = get_local_id(1);
    t[y][x] = in[8 * y + x];
    for (uint k = 0; k < 8; k++) {
        MEET;
        uint value = t[y][x];
        if (y > k) value = (value * t[k][k] + (251 - t[y][k]) * t[k][x]) % 251;
        MEET;
        t[y][x] = value;
    }
    out[8 * y + x] = t[y][x];
}

// run polynomial 128/64: out uint 2, in uint 128
__kernel void polynomial(__global uint *out, __global const uint *in)
{
    __local uint t[64];
    START
    t[l] = in[i] % 65521;
    uint base = 17;
    for (uint step = 1; step < n; step *= 2) {
        MEET;
        if (l % (2 * step) == 0) t[l] = (uint)((t[l] + (ulong)t[l + step] * base) % 65521);
        base = base * base % 65521;
    }
    if (l == 0) out[g] = t[0];
}

// run run_lengths 128/64: zero uint 128, in uchar 128 below 2
__kernel void run_lengths(__global uint *out, __global const uchar *in)
{
    __local uchar t[64];
    __local uint place[64];
    START
    t[l] = in[i];
    MEET;
    uint is_first = l == 0 || t[l - 1] != t[l];
    place[l] = is_first;
    MEET;
    for (uint step = 1; step < n; step *= 2) {
        uint before = l >= step ? place[l - step] : 0;
        MEET;
        place[l] += before;
        MEET;
    }
    if (is_first) {
        uint length = 1;
        while (l + length < n && t[l + length] == t[l]) length++;
        out[g * n + place[l] - 1] = length * 2 + t[l];
    }
}

// run random_walk 64/64: out uint 64
__kernel void random_walk(__global uint *out)
{
    __local uint t[64];
    START
    uint state = i * 2654435761u + 1;
    t[l] = 0;
    MEET;
    for (uint j = 0; j < 10; j++) {
        state = state * 1664525 + 1013904223;
        atomic_add(&t[state >> 26], j + 1);
        MEET;
        state ^= t[l];
        MEET;
    }
    out[i] = t[l] + g * n;
}

// run pyramid 64/64: out uint 127, in uint 64
__kernel void pyramid(__global uint *out, __global const uint *in)
{
    __local uint t[128];
    START
    t[64 + l] = in[i];
    for (uint level = 32; level > 0; level /= 2) {
        MEET;
        if (l < level) t[level + l] = max(t[2 * (level + l)], t[2 * (level + l) + 1]) / 2 + g * n;
    }
    MEET;
    for (uint j = l; j < 127; j += n) out[j] = t[j + 1];
}
