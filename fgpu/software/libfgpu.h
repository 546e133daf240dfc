/* Runs kernels on FGPU: on Linux by UIO or /dev/mem, and without an operating system.
 *
 *     #include <stdio.h>
 *     #include "libfgpu.h"
 *
 *     static const uint32_t words[] = {
 *     #include "vec_add.inc"
 *     };
 *
 *     int main(void)
 *     {
 *         fgpu gpu;
 *         if (fgpu_open_uio(&gpu, "/dev/uio0", NULL)) {
 *             perror("/dev/uio0");
 *             return 1;
 *         }
 *         int32_t *a = (int32_t *)gpu.memory, *b = a + 1024, *c = b + 1024;
 *         for (int i = 0; i < 1024; i++)
 *             a[i] = b[i] = i;
 *         uint32_t at = gpu.memory_address;
 *         fgpu_launch launch = {.entry = 0, .dimensions = 1, .global_size = {1024}, .local_size = {64},
 *                               .parameter_count = 3, .parameters = {at, at + 4096, at + 8192}};
 *         int error = fgpu_load(&gpu, words, sizeof words / sizeof *words);
 *         if (!error)
 *             error = fgpu_run(&gpu, 0, &launch, 1000);
 *         if (error)
 *             printf("error %d: %s\n", error, fgpu_fault_text(&gpu));
 *         else
 *             printf("%d\n", c[1023]);
 *         fgpu_close(&gpu);
 *         return error;
 *     }
 *
 * Parameters are words: addresses of memory as the FGPU sees it, or numbers. Functions that can fail return 0, or one
 * of FGPU_ERROR_... below. A core is used by one thread at a time.
 */
#ifndef LIBFGPU_H
#define LIBFGPU_H

#include <stddef.h>
#include <stdint.h>

#include "fgpu_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FGPU_ERROR_NONE,
    FGPU_ERROR_OPEN,    /* no such device, or not one of these */
    FGPU_ERROR_SIZE,    /* a launch, or a program, that no core takes */
    FGPU_ERROR_TIMEOUT, /* the kernel has not finished; it may still run: fgpu_abort */
    FGPU_ERROR_FAULT    /* the hardware stopped the kernel: fgpu_fault, fgpu_fault_text */
};

/* How to reach the control interface where it is not mapped. */
typedef struct {
    uint32_t (*read)(void *context, uint32_t address);
    void (*write)(void *context, uint32_t address, uint32_t word);
    void *context;
} fgpu_bus;

typedef struct {
    volatile uint32_t *control; /* or NULL, with a bus */
    fgpu_bus bus;
    uint8_t *memory;            /* what kernels and this program share, if it was opened with it: */
    uint32_t memory_address;    /* where kernels see its first byte */
    size_t memory_size;
    uint32_t fault;             /* the fault register after the last kernel */
    size_t control_size;
    int file;
} fgpu;

typedef struct {
    uint32_t entry; /* of the kernel, in words of the program */
    uint32_t dimensions;
    uint32_t global_size[FGPU_DIMENSIONS]; /* a multiple of the local size, which has up to 512 work-items */
    uint32_t local_size[FGPU_DIMENSIONS];
    uint32_t global_offset[FGPU_DIMENSIONS];
    uint32_t local_rows, local_groups, place; /* see the descriptor's word 11 */
    uint32_t parameter_count;
    uint32_t parameters[FGPU_PARAMETERS_MAX];
    int keep_cache; /* leave results in the cache, for the next kernel */
} fgpu_launch;

/* A core whose control interface is mapped at an address; or which is reached by a bus. */
void fgpu_open_at(fgpu *gpu, volatile void *control);
void fgpu_open_bus(fgpu *gpu, const fgpu_bus *bus);

#ifdef __linux__
/* A UIO device: map 0 is the control interface, map 1 memory. NULL for sysfs: /sys/class/uio. */
int fgpu_open_uio(fgpu *gpu, const char *path, const char *sysfs);
/* Physical addresses, by /dev/mem (or another path). */
int fgpu_open_mem(fgpu *gpu, const char *path, uint32_t control_address, size_t control_size, uint32_t memory_address,
                  size_t memory_size);
void fgpu_close(fgpu *gpu);
#endif

/* Words of the control interface. */
uint32_t fgpu_read(const fgpu *gpu, uint32_t address);
void fgpu_write(const fgpu *gpu, uint32_t address, uint32_t word);

/* Write a program to the code RAM; no kernel may run. */
int fgpu_load(const fgpu *gpu, const uint32_t *words, size_t count);
/* Describe a kernel in a slot, 0 to 15, and start it. */
int fgpu_start(fgpu *gpu, unsigned slot, const fgpu_launch *launch);
int fgpu_is_done(const fgpu *gpu, unsigned slot);
/* Wait for the kernel of a slot, at most for so many milliseconds (on Linux; elsewhere reads of the status register);
 * 0: without end. */
int fgpu_wait(fgpu *gpu, unsigned slot, uint32_t limit);
/* Start and wait; a kernel that is late is aborted. */
int fgpu_run(fgpu *gpu, unsigned slot, const fgpu_launch *launch, uint32_t limit);
void fgpu_abort(const fgpu *gpu, unsigned slot);
/* What went wrong with the last kernel. */
const char *fgpu_fault_text(const fgpu *gpu);

#ifdef __cplusplus
}
#endif
#endif
