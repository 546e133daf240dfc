// Accelerations of n bodies (x, y, z, mass) by their gravity; `softening` keeps near ones apart.
__kernel void nbody(__global const float *bodies, __global float *pulls, uint n, float softening)
{
    uint i = get_global_id(0);
    float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    uint j = 0;
    do {
        float dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
        float square = dx * dx + dy * dy + dz * dz + softening;
        float pull = bodies[4 * j + 3] / (square * sqrt(square));
        ax += dx * pull;
        ay += dy * pull;
        az += dz * pull;
        j++;
    } while (j != n);
    pulls[4 * i] = ax;
    pulls[4 * i + 1] = ay;
    pulls[4 * i + 2] = az;
}

// They move for a short time: a work-item for each of their numbers. Masses have no velocity, and stay.
__kernel void nbody_move(__global float *bodies, __global float *velocities, __global const float *pulls, float time)
{
    uint i = get_global_id(0);
    float velocity = velocities[i] + pulls[i] * time;
    velocities[i] = velocity;
    bodies[i] += velocity * time;
}
