/* Atomic operations on local memory that is global memory, where the hardware has none: one work-item at a time.

   The wavefronts of a work-group take turns, by Lamport's bakery: each has a word that says that it draws a number, and
   a word with the number, 0 while it wants none. Memory is sequentially consistent, and of a wavefront that parted one
   part runs after the other, so that no part comes between. lock() returns when all work-items that called it may go
   on, as every subroutine does, though one may see sooner than its neighbour that it is its turn. */

#define WAVEFRONT 64
#define WAVEFRONTS 8

typedef volatile __global uint *words;

static inline uint local_id(void)
{ return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0); }

static inline uint wavefronts(void)
{ return (get_local_size(0) * get_local_size(1) * get_local_size(2) + WAVEFRONT - 1) / WAVEFRONT; }

void fgpu_lock_begin(words lock)
{
    uint own = local_id() / WAVEFRONT;
    lock[own] = lock[WAVEFRONTS + own] = 0;
}

void fgpu_lock(words lock)
{
    words numbers = lock + WAVEFRONTS;
    uint count = wavefronts(), own = local_id() / WAVEFRONT, last = 0;
    if (count == 1)
        return;
    lock[own] = 1;
    for (uint other = 0; other < count; other++) {
        uint number = numbers[other];
        last = number > last ? number : last;
    }
    numbers[own] = last + 1;
    uint number = numbers[own];     /* one for all work-items, whatever each of them saw */
    lock[own] = 0;
    for (uint other = 0; other < count; other++) {
        if (other == own)
            continue;
        while (lock[other]) {}
        for (;;) {
            uint before = numbers[other];
            if (before == 0 || before > number || (before == number && other > own))
                break;
        }
    }
}

void fgpu_unlock(words lock) { lock[WAVEFRONTS + local_id() / WAVEFRONT] = 0; }

/* Those whose turn it is not store to a place that nobody reads: work-items that part in a loop would go through what
   is left of it one by one. */
#define ONE_BY_ONE(result) \
    uint own = local_id() % WAVEFRONT; \
    uint old = 0; \
    for (uint i = 0; i < WAVEFRONT; i++) { \
        uint word = *p; \
        *(i == own ? p : lock + 2 * WAVEFRONTS) = result; \
        old = i == own ? word : old; \
    } \
    return old;

uint fgpu_locked_add(words lock, words p, uint x) { ONE_BY_ONE(word + x) }
uint fgpu_locked_max(words lock, words p, uint x) { ONE_BY_ONE((int)word > (int)x ? word : x) }
uint fgpu_locked_umax(words lock, words p, uint x) { ONE_BY_ONE(word > x ? word : x) }
uint fgpu_locked_min(words lock, words p, uint x) { ONE_BY_ONE((int)word < (int)x ? word : x) }
uint fgpu_locked_umin(words lock, words p, uint x) { ONE_BY_ONE(word < x ? word : x) }
uint fgpu_locked_and(words lock, words p, uint x) { ONE_BY_ONE(word & x) }
uint fgpu_locked_or(words lock, words p, uint x) { ONE_BY_ONE(word | x) }
uint fgpu_locked_xor(words lock, words p, uint x) { ONE_BY_ONE(word ^ x) }
uint fgpu_locked_xchg(words lock, words p, uint x) { ONE_BY_ONE(x) }
uint fgpu_locked_cmpxchg(words lock, words p, uint expected, uint x) { ONE_BY_ONE(word == expected ? x : word) }
