// Shortest paths between all n nodes, n a multiple of 16, in blocks of 16 x 16 distances: for each block k of nodes the
// one on the diagonal, then the others of its row and column, then the rest.
#define TILE 16

// Work-group (0, 0).
__kernel void floydwarshall_diagonal(__global int *distances, int n, int k)
{
    __local int own[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int place = (k * TILE + y) * n + k * TILE + x;
    own[y][x] = distances[place];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int over = 0; over < TILE; over++) {
        own[y][x] = min(own[y][x], own[y][over] + own[over][x]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    distances[place] = own[y][x];
}

// Work-groups (i, 0) have the blocks of row k, (i, 1) those of column k.
__kernel void floydwarshall_cross(__global int *distances, int n, int k)
{
    __local int own[TILE][TILE], diagonal[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int block = get_group_id(0);
    bool is_row = get_group_id(1) == 0;
    if (block == k)
        return;
    int place = is_row ? (k * TILE + y) * n + block * TILE + x : (block * TILE + y) * n + k * TILE + x;
    int distance = distances[place];
    own[y][x] = distance;
    diagonal[y][x] = distances[(k * TILE + y) * n + k * TILE + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int over = 0; over < TILE; over++) {
        int there = is_row ? diagonal[y][over] + own[over][x] : own[y][over] + diagonal[over][x];
        distance = min(distance, there);
        own[y][x] = distance;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    distances[place] = distance;
}

__kernel void floydwarshall_rest(__global int *distances, int n, int k)
{
    __local int row[TILE][TILE], column[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    if (get_group_id(0) == k || get_group_id(1) == k)
        return;
    int place = get_global_id(1) * n + get_global_id(0);
    row[y][x] = distances[(k * TILE + y) * n + get_global_id(0)];
    column[y][x] = distances[get_global_id(1) * n + k * TILE + x];
    int distance = distances[place];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int over = 0; over < TILE; over++)
        distance = min(distance, column[y][over] + row[over][x]);
    distances[place] = distance;
}
