/* As much of OpenCL C as the benchmarks need, as plain C for a scalar processor: a kernel is a function, its ids
 * are variables. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef __SIZE_TYPE__ size_t;
typedef float float2 __attribute__((ext_vector_type(2)));

#define __kernel static inline __attribute__((always_inline))
#define __global
#define INT_MIN (-2147483647 - 1)

static uint scalar_id_0, scalar_id_1, scalar_size_0;
#define get_global_id(dimension) scalar_id_##dimension
#define get_global_size(dimension) scalar_size_##dimension

#define SCALAR_PICK(a, b, compare) \
    ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ compare b_ ? a_ : b_; })
#define min(a, b) SCALAR_PICK(a, b, <)
#define max(a, b) SCALAR_PICK(a, b, >)
#define clamp(x, low, high) min(max(x, low), high)
#define abs(x) __builtin_abs(x)
#define sqrt(x) __builtin_sqrtf(x)

/* What the host program of a benchmark does: launches one after the other. */
typedef union { uint u; float f; } ScalarWord;
typedef struct { uint kernel, first[2], end[2]; ScalarWord args[11]; } ScalarStep;
#define SCALAR_STEPS ((const ScalarStep *)SCALAR_STEPS_ADDRESS)
#define SCALAR_CONTROL (*(volatile uint *)0xF0000000)
#define SCALAR_LAUNCH(number, call) \
    case number: \
        for (scalar_id_1 = now.first[1]; scalar_id_1 != now.end[1]; scalar_id_1++) \
            for (scalar_id_0 = now.first[0]; scalar_id_0 != now.end[0]; scalar_id_0++) \
                call; \
        break;
