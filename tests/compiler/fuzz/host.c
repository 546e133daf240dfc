/* Which work-item runs, and the others of its work-group, which wait at a barrier: variables that OpenCL C of version
   1.2 cannot have. */
#include <stdlib.h>
#include <ucontext.h>

enum { STACK_BYTES = 1 << 17, GROUP_MOST = 512 };

static unsigned item, group_size;
static ucontext_t scheduler, contexts[GROUP_MOST];
static char ended[GROUP_MOST];
static void (*kernel)(void *);
static void *arguments;

unsigned host_item(void) { return item; }
unsigned host_group_size(void) { return group_size; }

void host_barrier(void) { swapcontext(&contexts[item % group_size], &scheduler); }

static void start(void)
{
    kernel(arguments);
    ended[item % group_size] = 1;
}

/* One work-item after the other, up to the next barrier, the first ones first or last. */
static void run_group(unsigned first, char *stacks, int is_backwards)
{
    for (unsigned l = 0; l < group_size; l++) {
        getcontext(&contexts[l]);
        contexts[l].uc_stack.ss_sp = stacks + (size_t)l * STACK_BYTES;
        contexts[l].uc_stack.ss_size = STACK_BYTES;
        contexts[l].uc_link = &scheduler;
        makecontext(&contexts[l], start, 0);
        ended[l] = 0;
    }
    for (unsigned running = group_size; running > 0;) {
        running = 0;
        for (unsigned n = 0; n < group_size; n++) {
            unsigned l = is_backwards ? group_size - 1 - n : n;
            if (ended[l]) continue;
            item = first + l;
            swapcontext(&scheduler, &contexts[l]);
            running += !ended[l];
        }
    }
}

void host_run(void (*run)(void *), void *given, unsigned items, unsigned group, int is_backwards)
{
    char *stacks = group > 1 ? malloc((size_t)group * STACK_BYTES) : NULL;
    kernel = run;
    arguments = given;
    group_size = group;
    for (item = 0; item < items;) {
        if (group > 1) {
            unsigned first = item;
            run_group(first, stacks, is_backwards);
            item = first + group;
        } else {
            run(given);
            item++;
        }
    }
    free(stacks);
}
