/* Times calls of the OpenCL platform through its dispatch table, as a program in C makes them under a loader.

   Lines of a name and a time, in microseconds. The argument is the platform's library. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void **table;
#define CALL(slot, type) ((type)table[slot])
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

typedef int32_t (*platform_ids)(uint32_t, void **, uint32_t *);
typedef int32_t (*device_ids)(void *, uint64_t, uint32_t, void **, uint32_t *);
typedef int32_t (*info)(void *, uint32_t, size_t, void *, size_t *);
typedef void *(*create_context)(void *, uint32_t, void **, void *, void *, int32_t *);
typedef void *(*create_queue)(void *, void *, uint64_t, int32_t *);
typedef void *(*create_buffer)(void *, uint64_t, size_t, void *, int32_t *);
typedef void *(*create_program)(void *, uint32_t, const char **, const size_t *, int32_t *);
typedef int32_t (*build_program)(void *, uint32_t, void **, const char *, void *, void *);
typedef void *(*create_kernel)(void *, const char *, int32_t *);
typedef int32_t (*set_argument)(void *, uint32_t, size_t, const void *);
typedef int32_t (*launch)(void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, void *,
                          void *);
typedef int32_t (*transfer)(void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *, void *);
typedef int32_t (*one)(void *);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

#define ROUNDS 101

/* The median of rounds of `count` times what is given. A round takes less than a time slice of the system's, so that
   few of them are interrupted by other work on the machine. */
#define MEASURE(name, count, ...) \
    do { \
        double rounds[ROUNDS]; \
        for (int i = 0; i < ROUNDS; i++) { \
            double start = now(); \
            for (int j = 0; j < (count); j++) { \
                __VA_ARGS__; \
            } \
            rounds[i] = (now() - start) / (count); \
        } \
        qsort(rounds, ROUNDS, sizeof rounds[0], compare); \
        printf("%s %.2f\n", name, rounds[ROUNDS / 2]); \
    } while (0)

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return difference < 0 ? -1 : difference > 0;
}

int main(int count, char **arguments)
{
    void *platform, *device;
    int32_t status;
    char text[200];
    uint32_t number;

    CHECK(count == 2);
    double start = now();
    void *library = dlopen(arguments[1], RTLD_NOW);
    CHECK(library);
    platform_ids find = (platform_ids)dlsym(library, "clIcdGetPlatformIDsKHR");
    CHECK(find && find(1, &platform, NULL) == 0);
    table = *(void ***)platform;
    CHECK(CALL(1, info)(platform, 0x902, sizeof text, text, NULL) == 0);
    printf("platform %.2f\n", now() - start);
    CHECK(CALL(2, device_ids)(platform, 1, 1, &device, NULL) == 0);
    CHECK(CALL(3, info)(device, 0x102B, sizeof text, text, NULL) == 0);
    printf("first_device %.2f\n", now() - start);
    printf("processor_time_then %.2f\n", 1e6 * clock() / CLOCKS_PER_SEC);

    void *context = CALL(4, create_context)(NULL, 1, &device, NULL, NULL, &status);
    CHECK(context);
    void *queue = CALL(9, create_queue)(context, device, 0, &status);
    CHECK(queue);
    void *buffer = CALL(14, create_buffer)(context, 1, 4096, NULL, &status);
    CHECK(buffer);
    printf("first_buffer %.2f\n", now() - start);
    const char *source = "__kernel void nothing(int number, __global int *words) { }";
    void *program = CALL(26, create_program)(context, 1, &source, NULL, &status);
    CHECK(program && CALL(30, build_program)(program, 0, NULL, "", NULL, NULL) == 0);
    printf("first_program %.2f\n", now() - start);
    void *kernel = CALL(34, create_kernel)(program, "nothing", &status);
    size_t one_item = 1;
    int argument = 3;
    CHECK(kernel && CALL(38, set_argument)(kernel, 0, 4, &argument) == 0);
    CHECK(CALL(38, set_argument)(kernel, 1, 8, &buffer) == 0);
    CHECK(CALL(59, launch)(queue, kernel, 1, NULL, &one_item, NULL, 0, NULL, NULL) == 0);
    CHECK(CALL(47, one)(queue) == 0);
    printf("first_launch %.2f\n", now() - start);
    printf("processor_time_till_then %.2f\n", 1e6 * clock() / CLOCKS_PER_SEC);

    MEASURE("clGetPlatformInfo", 100, CALL(1, info)(platform, 0x902, sizeof text, text, NULL));
    MEASURE("clGetDeviceInfo", 100, CALL(3, info)(device, 0x1002, 4, &number, NULL));
    MEASURE("clGetContextInfo", 100, CALL(8, info)(context, 0x1080, 4, &number, NULL));
    MEASURE("clRetainContext_clReleaseContext", 100, CALL(6, one)(context); CALL(7, one)(context));
    MEASURE("clSetKernelArg_of_a_number", 100, CALL(38, set_argument)(kernel, 0, 4, &argument));
    MEASURE("clSetKernelArg_of_a_buffer", 100, CALL(38, set_argument)(kernel, 1, 8, &buffer));
    MEASURE("clCreateBuffer_clReleaseMemObject", 50,
            CALL(18, one)(CALL(14, create_buffer)(context, 1, 4096, NULL, &status)));
    MEASURE("clFinish_of_an_empty_queue", 100, CALL(47, one)(queue));
    MEASURE("blocking_read_of_64_bytes", 20,
            CALL(48, transfer)(queue, buffer, 1, 0, 64, text, 0, NULL, NULL));
    MEASURE("blocking_write_of_64_bytes", 20,
            CALL(49, transfer)(queue, buffer, 1, 0, 64, text, 0, NULL, NULL));
    MEASURE("empty_kernel_and_clFinish", 5,
            CALL(59, launch)(queue, kernel, 1, NULL, &one_item, NULL, 0, NULL, NULL); CALL(47, one)(queue));
    return 0;
}
