/* 6.12.10: copies between global and local memory by all work-items of a work-group, and prefetches. A copy is done when
   the work-items have come to the barrier in wait_group_events, so there is nothing that an event has to tell. */
#include "async_copy.h"

COPIES_OF(char) COPIES_OF(uchar) COPIES_OF(short) COPIES_OF(ushort) COPIES_OF(int) COPIES_OF(uint) COPIES_OF(long)
COPIES_OF(ulong) COPIES_OF(float)

void OVERLOAD wait_group_events(int count, event_t *events) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
