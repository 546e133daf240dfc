// A level of a breadth-first search: nodes that were reached in the last one reach their neighbours. `firsts` are where
// the neighbours of each node begin.
__kernel void bfs(__global const int *firsts, __global const int *neighbours, __global int *levels, int level)
{
    int node = get_global_id(0);
    if (levels[node] != level)
        return;
    for (int edge = firsts[node]; edge < firsts[node + 1]; edge++) {
        int other = neighbours[edge];
        if (levels[other] < 0)
            levels[other] = level + 1;
    }
}
