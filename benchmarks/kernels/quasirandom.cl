// A low-discrepancy sequence (radical inverse, scrambled), and the inverse of the normal distribution of each point, by
// the rational approximations of Moro's algorithm. What is no probability returns from within the conditions.
__kernel void quasirandom(__global uint *points, uint scramble, uint first)
{
    uint me = get_global_id(0), index = me + first, word = 0;
    for (int bit = 31; index; bit--, index >>= 1)
        if (index & 1)
            word ^= 1u << bit;
    points[me] = word ^ scramble;
}

__kernel void inverse_cnd(__global const uint *points, __global float *normal, uint edge)
{
    uint me = get_global_id(0), point = points[me];
    if (point >= 0x80000000u) {
        point = ~point;
        if (point < edge) {
            normal[me] = 4.0f;
            return;
        }
    } else if (point < edge) {
        normal[me] = -4.0f;
        return;
    }
    int upper = point != points[me];
    float y = point * 0x1p-32f - 0.5f, z;
    if (y > -0.42f) {
        float s = y * y;
        z = y * (((-25.44106049637f * s + 41.39119773534f) * s + -18.61500062529f) * s + 2.50662823884f)
            / ((((3.13082909833f * s + -21.06224101826f) * s + 23.08336743743f) * s + -8.47351093090f) * s + 1.0f);
    } else {
        float s = log(-log(y + 0.5f));
        z = 0.0000003960315187f;
        z = z * s + 0.0000002888167364f;
        z = z * s + 0.0000321767881768f;
        z = z * s + 0.0003951896511919f;
        z = z * s + 0.0038405729373609f;
        z = z * s + 0.0276438810333863f;
        z = z * s + 0.1607979714918209f;
        z = z * s + 0.9761690190917186f;
        z = -(z * s + 0.3374754822726147f);
    }
    normal[me] = upper ? -z : z;
}
