/* Room for the records of printf. What is where in the buffer, legalize/printf.py says.

   A record begins with its format and the complement of the work-item's linear id: where a kernel was stopped, no word
   of zeros is a record. Where there is no room, records go to a place that nobody reads, so that those who write them
   need not ask. */

#define HEADER 4
enum { SCRAP, ROOM, SHARE, FIRST };         /* of the buffer */
#define REGION_HEADER 3
enum { USED, LOST_CALLS, LOST_WORDS };      /* of a region */
#define FULL 0x40000000

static inline uint linear_id(void)
{ return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0); }

static inline __global uint *begun(__global uint *record, uint format, uint id)
{
    record[0] = format;
    record[1] = ~id;
    return record;
}

/* One region for all work-items. */
__global uint *fgpu_printf_begin(__global uint *buffer, uint words, uint format)
{
    __global uint *region = buffer + HEADER, *record = (__global uint *)buffer[SCRAP];
    uint at = atomic_add(&region[USED], words);
    if (at + words > buffer[ROOM]) {
        atomic_inc(&region[LOST_CALLS]);
        atomic_add(&region[LOST_WORDS], words);
        if ((int)at < 0)    /* before it begins again at 0; so many are far from here at once */
            region[USED] = FULL;
    } else
        record = region + REGION_HEADER + at;
    return begun(record, format, linear_id());
}

/* One for each, without atomic operations. */
__global uint *fgpu_printf_begin_own(__global uint *buffer, uint words, uint format)
{
    uint id = linear_id();
    __global uint *region = buffer + HEADER + (id - buffer[FIRST]) * buffer[SHARE];
    __global uint *record = (__global uint *)buffer[SCRAP];
    uint at = region[USED];
    if (at + words > buffer[ROOM]) {
        region[LOST_CALLS]++;
        region[LOST_WORDS] += words;
        region[USED] = FULL;
    } else {
        region[USED] = at + words;
        record = region + REGION_HEADER + at;
    }
    return begun(record, format, id);
}
