/* What OpenCL C has beyond the language, as far as the generator's programs use it, on the host. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __UINTPTR_TYPE__ uintptr_t;

#define HOST_VECTORS(type) \
    typedef type type##2 __attribute__((ext_vector_type(2))); \
    typedef type type##3 __attribute__((ext_vector_type(3))); \
    typedef type type##4 __attribute__((ext_vector_type(4))); \
    typedef type type##8 __attribute__((ext_vector_type(8))); \
    typedef type type##16 __attribute__((ext_vector_type(16)));
HOST_VECTORS(uchar) HOST_VECTORS(short) HOST_VECTORS(int) HOST_VECTORS(uint)

#define NULL ((void *)0)
#define get_global_id(dimension) host_item()
#define get_local_id(dimension) (host_item() % host_group_size())
#define get_group_id(dimension) (host_item() / host_group_size())
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(fences) host_barrier()
#define HOST_ATOMIC(word, value) ({ __local uint *w = word; uint old = *w; *w = value; old; })
#define atomic_add(word, value) HOST_ATOMIC(word, old + (value))
#define atomic_sub(word, value) HOST_ATOMIC(word, old - (value))
#define atomic_inc(word) HOST_ATOMIC(word, old + 1)
#define atomic_dec(word) HOST_ATOMIC(word, old - 1)
#define atomic_max(word, value) HOST_ATOMIC(word, host_max(old, value))
#define atomic_min(word, value) HOST_ATOMIC(word, host_min(old, value))
#define atomic_and(word, value) HOST_ATOMIC(word, old & (value))
#define atomic_or(word, value) HOST_ATOMIC(word, old | (value))
#define atomic_xor(word, value) HOST_ATOMIC(word, old ^ (value))
#define as_uint(value) __builtin_astype(value, uint)
#define as_uint4(value) __builtin_astype(value, uint4)
#define fabs(value) __builtin_fabsf(value)
#define sqrt(value) __builtin_sqrtf(value)
#define vload4(at, from) \
    ((uint4)((from)[4 * (at)], (from)[4 * (at) + 1], (from)[4 * (at) + 2], (from)[4 * (at) + 3]))
#define vstore4(value, at, to) \
    ((to)[4 * (at)] = (value).x, (to)[4 * (at) + 1] = (value).y, (to)[4 * (at) + 2] = (value).z, \
     (to)[4 * (at) + 3] = (value).w)

uint host_item(void);
uint host_group_size(void);
void host_barrier(void);
static inline uint host_max(uint a, uint b) { return a > b ? a : b; }
static inline uint host_min(uint a, uint b) { return a < b ? a : b; }
