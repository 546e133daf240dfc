// Each work-item has a twisted generator of its own, with 19 words of state, and makes a row of numbers; `box_muller`
// makes normally distributed ones of pairs of them.
#define WORDS 19
#define MIDDLE 9
#define LOWER 0x1FFFFu

__kernel void mersenne_twister(__global const uint *seeds, __global uint *numbers, int count)
{
    int me = get_global_id(0), items = get_global_size(0);
    uint state[WORDS];
    state[0] = seeds[me];
    for (int i = 1; i < WORDS; i++)
        state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    int at = 0;
    for (int made = 0; made < count; made++) {
        int next = at + 1, middle = at + MIDDLE;
        if (next >= WORDS)
            next -= WORDS;
        if (middle >= WORDS)
            middle -= WORDS;
        uint word = (state[at] & ~LOWER) | (state[next] & LOWER);
        word = state[middle] ^ (word >> 1) ^ (word & 1 ? 0xE4BD75F5u : 0);
        state[at] = word;
        at = next;
        word ^= word >> 12;
        word ^= (word << 7) & 0x655E5280u;
        word ^= (word << 15) & 0xFFD58000u;
        word ^= word >> 18;
        numbers[made * items + me] = word;
    }
}

__kernel void box_muller(__global const uint *numbers, __global float *normal, int half_)
{
    int me = get_global_id(0);
    float u = ((numbers[me] >> 8) + 1) * 0x1p-24f, v = (numbers[me + half_] >> 8) * 0x1p-24f;
    float radius = sqrt(-2.0f * log(u)), angle = 6.2831853f * v;
    normal[me] = radius * cos(angle);
    normal[me + half_] = radius * sin(angle);
}
