// Accelerations of n bodies (x, y, z, mass) by their gravity; `softening` keeps near ones apart.
__kernel void nbody_float(__global const float *bodies, __global float *out, int n, float softening)
{
    size_t i = get_global_id(0);
    float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    int j = 0;
    do {
        float dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
        float square = dx * dx + dy * dy + dz * dz + softening;
        float pull = bodies[4 * j + 3] / (square * sqrt(square));
        ax += dx * pull;
        ay += dy * pull;
        az += dz * pull;
        j++;
    } while (j != n);
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
}
