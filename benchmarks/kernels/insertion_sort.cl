// Each work-item sorts its own eight elements by insertion, which ends as soon as the place is found; those of equal
// position in their rows are neighbours in memory.
#define EACH 8

__kernel void insertion_sort(__global int *data)
{
    int me = get_global_id(0), items = get_global_size(0);
    for (int i = 1; i < EACH; i++) {
        int value = data[i * items + me], j = i;
        while (j > 0) {
            int other = data[(j - 1) * items + me];
            if (other <= value)
                break;
            data[j * items + me] = other;
            j--;
        }
        data[j * items + me] = value;
    }
}
