/* Which work-item runs: a variable that OpenCL C of version 1.2 cannot have. */
static unsigned item;

void host_start(unsigned number) { item = number; }
unsigned host_item(void) { return item; }
