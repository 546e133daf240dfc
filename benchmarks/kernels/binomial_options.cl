// Prices of European calls on a binomial tree (Cox, Ross and Rubinstein): a work-group an option, a work-item a node of
// the last level. An option is its price at the start and at exercise, the drift of a level, and the discounted
// probabilities of rise and fall.
#define STEPS 64

__kernel void binomial_options(__global const float *options, __global float *prices)
{
    __local float values[STEPS + 1];
    __global const float *option = options + 5 * get_group_id(0);
    int node = get_local_id(0);
    for (int i = node; i <= STEPS; i += STEPS) {
        float profit = option[0] * exp(option[2] * (2 * i - STEPS)) - option[1];
        values[i] = profit > 0 ? profit : 0;
    }
    for (int level = STEPS; level > 0; level--) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float value = 0;
        if (node < level)
            value = option[3] * values[node + 1] + option[4] * values[node];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (node < level)
            values[node] = value;
    }
    if (node == 0)
        prices[get_group_id(0)] = values[0];
}
