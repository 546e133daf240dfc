// The mean payoff of an option over random paths, and of its square: a work-group an option, a work-item every 64th path.
#define GROUP 64

__kernel void monte_carlo(__global const float *options, __global const float *samples, __global float *sums, int paths)
{
    __local float first[GROUP], second[GROUP];
    __global const float *option = options + 4 * get_group_id(0);
    int me = get_local_id(0);
    float sum = 0, squares = 0;
    for (int i = me; i < paths; i += GROUP) {
        float payoff = option[0] * exp(option[2] + option[3] * samples[i]) - option[1];
        if (payoff > 0) {
            sum += payoff;
            squares += payoff * payoff;
        }
    }
    first[me] = sum;
    second[me] = squares;
    for (int half_ = GROUP / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < half_) {
            first[me] += first[me + half_];
            second[me] += second[me + half_];
        }
    }
    if (me == 0) {
        sums[2 * get_group_id(0)] = first[0];
        sums[2 * get_group_id(0) + 1] = second[0];
    }
}
