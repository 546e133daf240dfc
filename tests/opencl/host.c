/* Host programs in C, by the name of what they do. A header with the API's functions is made from fgpu's table. */

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#define CL_DEVICE_TYPE_DEFAULT 1
#define CL_DEVICE_NAME 0x102B
#define CL_PLATFORM_NAME 0x0902
#define CL_PROGRAM_SOURCE 0x1164
#define CL_MEM_READ_WRITE 1
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

static void *platform, *device, *context, *queue;

static void find_platform(void)
{
    void *platforms[16];
    uint32_t count;
    CHECK(clGetPlatformIDs(16, platforms, &count) == 0);
    for (uint32_t i = 0; i < count && !platform; i++) {
        char name[100];
        CHECK(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) == 0);
        if (!strcmp(name, "FGPU"))
            platform = platforms[i];
    }
    CHECK(platform);
}

static void start(void)
{
    int32_t status;
    find_platform();
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL) == 0);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    CHECK(context && status == 0);
    queue = clCreateCommandQueue(context, device, 0, &status);
    CHECK(queue && status == 0);
}

static void finish(void)
{
    CHECK(clReleaseCommandQueue(queue) == 0);
    CHECK(clReleaseContext(context) == 0);
}

/* Writes and reads a buffer. */
static void transfer(uint32_t seed)
{
    uint32_t written[16], read[16] = {0};
    int32_t status;
    for (uint32_t i = 0; i < 16; i++)
        written[i] = seed * 16 + i;
    void *buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof written, NULL, &status);
    CHECK(buffer && status == 0);
    CHECK(clEnqueueWriteBuffer(queue, buffer, 0, 0, sizeof written, written, 0, NULL, NULL) == 0);
    CHECK(clEnqueueReadBuffer(queue, buffer, 1, 0, sizeof read, read, 0, NULL, NULL) == 0);
    CHECK(!memcmp(written, read, sizeof read));
    CHECK(clReleaseMemObject(buffer) == 0);
}

static void *made_of(const char *source)
{
    int32_t status;
    void *program = clCreateProgramWithSource(context, 1, (void *)&source, NULL, &status);
    CHECK(program && status == 0);
    return program;
}

/* Denormal numbers, which the host loses, and rounding, which it does in another way, are the device's own affair. */
static void do_floats(void)
{
    float values[] = {0x1p-126f, 1, 0, 0};
    const uint32_t right[] = {0x00400000, 0x3eaaaaab, 0x000116c2, 0x80000001};
    int32_t status;
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    fesetround(FE_UPWARD);
    start();
    void *program = made_of("kernel void k(global float *x)"
                            "{ x[0] *= 0.5f; x[1] /= 3; x[2] = 1e-40f; x[3] = -1e-45f; }");
    CHECK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL) == 0);
    void *kernel = clCreateKernel(program, "k", &status);
    void *buffer = clCreateBuffer(context, 1 | 32 /* CL_MEM_COPY_HOST_PTR */, sizeof values, values, &status);
    CHECK(kernel && buffer && clSetKernelArg(kernel, 0, sizeof buffer, &buffer) == 0);
    CHECK(clEnqueueTask(queue, kernel, 0, NULL, NULL) == 0);
    CHECK(clEnqueueReadBuffer(queue, buffer, 1, 0, sizeof values, values, 0, NULL, NULL) == 0);
    CHECK(!memcmp(values, right, sizeof right));
    CHECK(fegetround() == FE_UPWARD);
    CHECK(clReleaseMemObject(buffer) == 0 && clReleaseKernel(kernel) == 0 && clReleaseProgram(program) == 0);
    finish();
}

/* Where nobody waits for a child that has ended, the compiler's status is lost. */
static void do_no_children(void)
{
    char source[100], log[1000];
    signal(SIGCHLD, SIG_IGN);
    start();
    snprintf(source, sizeof source, "/* %d */ kernel void k(global double *x) { *x *= 2; }", getpid());
    void *program = made_of(source);
    CHECK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL) == 0 && clReleaseProgram(program) == 0);
    program = made_of("kernel void k(global int *x) { *x = none_such; }");
    CHECK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL) == -11);
    CHECK(clGetProgramBuildInfo(program, device, 0x1183 /* CL_PROGRAM_BUILD_LOG */, sizeof log, log, NULL) == 0);
    CHECK(strstr(log, "none_such") && clReleaseProgram(program) == 0);
    finish();
}

static void do_no_platform(void)
{
    uint32_t count = 7;
    for (int i = 0; i < 3; i++)
        CHECK(clGetPlatformIDs(0, NULL, &count) == -1001 && count == 0);
}

static void do_platform(void)
{
    find_platform();
    puts("found");
}

static void do_transfer(void)
{
    char name[100];
    setlocale(LC_ALL, "C");
    start();
    CHECK(!strcmp(setlocale(LC_CTYPE, NULL), "C"));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) == 0);
    transfer(1);
    finish();
    puts(name);
}

static void do_unsupported(void)
{
    typedef void *(*create)(void *, const uint64_t *, int32_t *);
    typedef int32_t (*info)(void *, uint32_t, size_t, void *, size_t *);
    typedef void *(*allocate)(void *, uint64_t, size_t, uint32_t);
    int32_t status = 0;
    start();
    void **table = *(void ***)context;
    CHECK(!((create)table[133])(context, NULL, &status));           /* clCreateSamplerWithProperties */
    CHECK(status == -59);
    CHECK(((info)table[125])(NULL, 0, 0, NULL, NULL) == -59);       /* clGetPipeInfo */
    CHECK(!((allocate)table[126])(context, 1, 4, 0));               /* clSVMAlloc */
    CHECK(!clGetExtensionFunctionAddressForPlatform(platform, "clNoneSuch"));
    for (int slot = 0; slot < 150; slot++)
        CHECK(table[slot]);
    finish();
}

/* As programs for later versions make their queues, and those that ask for the extension. */
static void do_properties(void)
{
    typedef void *(*create)(void *, void *, const uint64_t *, int32_t *);
    const uint64_t ordered[] = {0x1093 /* CL_QUEUE_PROPERTIES */, 3, 0}, on_device[] = {0x1093, 5, 0}, wrong[] = {1, 1, 0};
    const uint64_t *all[] = {NULL, ordered};
    uint64_t properties = 99;
    int32_t status;
    start();
    create make = (create)clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandQueueWithPropertiesKHR");
    CHECK(make);
    for (int i = 0; i < 2; i++) {
        void *made = make(context, device, all[i], &status), *other = queue;
        CHECK(made && status == 0);
        CHECK(clGetCommandQueueInfo(made, 0x1093, sizeof properties, &properties, NULL) == 0 && properties == 3 * i);
        queue = made;
        transfer(5);
        queue = other;
        CHECK(clReleaseCommandQueue(made) == 0);
    }
    CHECK(!make(context, device, on_device, &status) && status == -35);
    CHECK(!make(context, device, wrong, &status) && status == -30);
    CHECK(!make(NULL, device, NULL, &status) && status == -34);
    CHECK(!make(context, NULL, NULL, &status) && status == -33);
    finish();
}

static void *transfer_often(void *seed)
{
    for (uint32_t i = 0; i < 50; i++)
        transfer((uint32_t)(size_t)seed * 1000 + i);
    return NULL;
}

static void *start_and_transfer(void *seed)
{
    start();
    return transfer_often(seed);
}

/* Threads on one queue. */
static void do_threads(void)
{
    pthread_t threads[10];
    start();
    for (size_t i = 0; i < 10; i++)
        CHECK(!pthread_create(&threads[i], NULL, transfer_often, (void *)i));
    for (size_t i = 0; i < 10; i++)
        pthread_join(threads[i], NULL);
    finish();
}

static pthread_barrier_t together;

static void *first_call(void *unused)
{
    void *found[1];
    (void)unused;
    pthread_barrier_wait(&together);
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, found, NULL) == 0);
    return found[0];
}

/* Threads that all need Python for the first time. */
static void do_first_calls(void)
{
    pthread_t threads[10];
    void *found[10];
    find_platform();
    pthread_barrier_init(&together, NULL, 10);
    for (size_t i = 0; i < 10; i++)
        CHECK(!pthread_create(&threads[i], NULL, first_call, NULL));
    for (size_t i = 0; i < 10; i++) {
        pthread_join(threads[i], &found[i]);
        CHECK(found[i] == found[0]);
    }
}

/* The thread that starts Python ends before others call. */
static void do_short_thread(void)
{
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, start_and_transfer, (void *)1));
    pthread_join(thread, NULL);
    transfer_often((void *)2);
    finish();
}

static atomic_int told;

static void on_build(void *program, void *user_data)
{
    size_t size = 0;
    CHECK(user_data == &told);
    CHECK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size) == 0);
    CHECK(size > 1);
    told++;
}

/* The threads that call back are Python's, and end; what they call may call the API. */
static void do_build_callbacks(void)
{
    const char *source = "__kernel void k(__global int *a) { a[0] = 1; }";
    const struct timespec pause = {0, 20000000};
    start();
    for (int i = 0; i < 3; i++) {
        int32_t status;
        void *program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
        CHECK(program && status == 0);
        CHECK(clBuildProgram(program, 1, &device, NULL, on_build, &told) == 0);
        while (told == i)
            nanosleep(&pause, NULL);
        nanosleep(&pause, NULL);
        CHECK(clReleaseProgram(program) == 0);
    }
    finish();
}

/* -- the end of a process ------------------------------------------------------------------------ */

static void *blocked_buffer, *gate;
static uint32_t blocked_data[1024];

static void *wait_in_finish(void *unused)
{
    (void)unused;
    clFinish(queue);
    return NULL;
}

/* A command that waits for a user event, and a thread that waits for the command. */
static void leave_work(void)
{
    pthread_t thread;
    int32_t status;
    start();
    gate = clCreateUserEvent(context, &status);
    CHECK(gate);
    blocked_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof blocked_data, NULL, &status);
    CHECK(clEnqueueWriteBuffer(queue, blocked_buffer, 0, 0, sizeof blocked_data, blocked_data, 1, &gate, NULL) == 0);
    CHECK(!pthread_create(&thread, NULL, wait_in_finish, NULL));
    usleep(20000);
}

static void *transfer_forever(void *seed)
{
    for (;;)
        transfer_often(seed);
    return NULL;
}

static int releases_late;

__attribute__((destructor)) static void at_the_very_end(void)
{
    if (!releases_late)
        return;
    CHECK(clReleaseMemObject(blocked_buffer) == 0);
    CHECK(clReleaseEvent(gate) == 0);
    finish();
    puts("released");
}

static void release_at_exit(void)
{
    CHECK(clReleaseMemObject(blocked_buffer) == 0);
    puts("released");
}

static void do_return(void)
{
    leave_work();
}

static void do_exit(void)
{
    leave_work();
    exit(3);
}

static void do__exit(void)
{
    leave_work();
    _exit(3);
}

static void do_destructor(void)
{
    leave_work();
    releases_late = 1;
}

static void do_atexit(void)
{
    atexit(release_at_exit);
    leave_work();
}

static void do_busy_exit(void)
{
    pthread_t thread;
    start();
    for (size_t i = 0; i < 3; i++)
        CHECK(!pthread_create(&thread, NULL, transfer_forever, (void *)i));
    usleep(50000);
    exit(0);
}

/* -- forks --------------------------------------------------------------------------------------- */

static void expect_success(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The child does what the parent does. */
static void do_fork(void)
{
    start();
    transfer(1);
    pid_t child = fork();
    transfer(2);
    if (child == 0)
        exit(0);
    expect_success(child);
    finish();
}

/* ... while threads of the parent are in calls; the child has a context of its own. */
static void do_fork_busy(void)
{
    pthread_t thread;
    start();
    transfer(1);
    for (size_t i = 0; i < 3; i++)
        CHECK(!pthread_create(&thread, NULL, transfer_forever, (void *)i));
    for (int i = 0; i < 5; i++) {
        usleep(10000);
        pid_t child = fork();
        if (child == 0) {
            alarm(50);
            start();
            transfer_often((void *)9);
            finish();
            exit(0);
        }
        expect_success(child);
    }
    exit(0);
}

static void do_fork_first(void)
{
    find_platform();
    pid_t child = fork();
    start();
    transfer(3);
    if (child == 0)
        exit(0);
    expect_success(child);
}

/* -- signals ------------------------------------------------------------------------------------- */

static void do_interrupt(void)
{
    start();
    transfer(1);
    raise(SIGINT);
}

static volatile sig_atomic_t interrupts;

static void count_interrupt(int number)
{
    interrupts += number == SIGINT;
}

static void do_own_interrupt(void)
{
    signal(SIGINT, count_interrupt);
    start();
    raise(SIGINT);
    transfer(1);
    CHECK(interrupts == 1);
}

/* -- leaks --------------------------------------------------------------------------------------- */

static size_t resident_pages(void)
{
    size_t all, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%zu %zu", &all, &resident) == 2);
    fclose(file);
    return resident;
}

static void call_all(int times)
{
    for (int i = 0; i < times; i++) {
        char name[100];
        int32_t status;
        CHECK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) == 0);
        CHECK(clRetainContext(context) == 0);
        CHECK(clReleaseContext(context) == 0);
        CHECK(clGetContextInfo(context, 0, 0, NULL, NULL) == -30);      /* errors do not stay, either */
        CHECK(clRetainEvent(context) == -58);
        if (i % 10)
            continue;
        void *event = clCreateUserEvent(context, &status);
        CHECK(event && clSetUserEventStatus(event, 0) == 0 && clReleaseEvent(event) == 0);
        void *buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &status);
        CHECK(buffer && clReleaseMemObject(buffer) == 0);
        void *other = clCreateCommandQueue(context, device, 0, &status);
        CHECK(other && clReleaseCommandQueue(other) == 0);
        transfer((uint32_t)i);
    }
}

/* Prints the growth in pages over as many rounds as the second argument says, each of nine calls on average. */
static void do_leak(int rounds)
{
    start();
    call_all(2000);
    size_t before = resident_pages();
    call_all(rounds);
    printf("%zd\n", (ssize_t)(resident_pages() - before));
    finish();
}

int main(int count, char **arguments)
{
    static const struct { const char *name; void (*run)(void); } programs[] = {
        {"platform", do_platform}, {"no_platform", do_no_platform}, {"transfer", do_transfer}, {"unsupported", do_unsupported},
        {"properties", do_properties}, {"floats", do_floats}, {"no_children", do_no_children},
        {"threads", do_threads}, {"first_calls", do_first_calls}, {"short_thread", do_short_thread},
        {"build_callbacks", do_build_callbacks},
        {"return", do_return}, {"exit", do_exit}, {"_exit", do__exit}, {"destructor", do_destructor},
        {"atexit", do_atexit}, {"busy_exit", do_busy_exit}, {"fork", do_fork}, {"fork_busy", do_fork_busy},
        {"fork_first", do_fork_first}, {"interrupt", do_interrupt}, {"own_interrupt", do_own_interrupt},
    };
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (count == 2 && !strcmp(arguments[1], programs[i].name)) {
            programs[i].run();
            return 0;
        }
    if (count == 3 && !strcmp(arguments[1], "leak")) {
        do_leak(atoi(arguments[2]));
        return 0;
    }
    fprintf(stderr, "there is no program %s\n", count > 1 ? arguments[1] : "without a name");
    return 2;
}
