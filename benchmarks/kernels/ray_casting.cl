// Rays from the middle of a maze of n x n cells go a step at a time until they come to a wall (1). A mirror (2) turns a
// ray, and the second one ends it. The result is the number of steps with the side of the wall, or minus the steps.
#define POINT 16

__kernel void ray_casting(__global const int *maze, __global const int *directions, __global int *out, int n, int most)
{
    int me = get_global_id(0);
    int dx = directions[2 * me], dy = directions[2 * me + 1];
    int x = (n << POINT) / 2 + 12345, y = (n << POINT) / 2 + 23456;
    int turned = 0, side = 0, steps = 0;
    while (steps < most) {
        int next_x = x + dx, next_y = y + dy;
        int cell_x = next_x >> POINT, cell_y = next_y >> POINT;
        if (cell_x != x >> POINT)
            side = dx > 0 ? 1 : 2;
        if (cell_y != y >> POINT)
            side = dy > 0 ? 3 : 0;
        int cell = maze[cell_y * n + cell_x];
        if (cell == 1)
            break;
        if (cell == 2) {
            if (turned) {
                out[me] = -steps;
                return;
            }
            turned = 1;
            int other = dx;
            dx = -dy;
            dy = other;
            steps++;
            continue;
        }
        x = next_x;
        y = next_y;
        steps++;
    }
    out[me] = steps * 4 + side;
}
