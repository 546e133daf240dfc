// As nbody.cl, but a work-group brings as many bodies as it has work-items to local memory at a time.
__kernel void nbody_local(__global const float *bodies, __global float *pulls, uint n, float softening,
                          __local float *tile)
{
    uint i = get_global_id(0), me = get_local_id(0), size = get_local_size(0);
    float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint first = 0; first < 4 * n; first += 4 * size) {
        for (uint number = me; number < 4 * size; number += size)
            tile[number] = bodies[first + number];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < 4 * size; j += 4) {
            float dx = tile[j] - x, dy = tile[j + 1] - y, dz = tile[j + 2] - z;
            float square = dx * dx + dy * dy + dz * dz + softening;
            float pull = tile[j + 3] / (square * sqrt(square));
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    pulls[4 * i] = ax;
    pulls[4 * i + 1] = ay;
    pulls[4 * i + 2] = az;
}

__kernel void nbody_move(__global float *bodies, __global float *velocities, __global const float *pulls, float time)
{
    uint i = get_global_id(0);
    float velocity = velocities[i] + pulls[i] * time;
    velocities[i] = velocity;
    bodies[i] += velocity * time;
}
