// Bound by divergence: neighbours take different numbers of steps, and each step goes one of two ways.
__kernel void collatz(__global int *steps) {
    int i = get_global_id(0);
    uint n = i + 1;
    int count = 0;
    while (n != 1) {
        if (n % 2)
            n = 3 * n + 1;
        else
            n /= 2;
        count++;
    }
    steps[i] = count;
}
