#include "libfgpu.h"

#ifdef __linux__
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#endif

#define ABORT_LIMIT 10000 /* takes microseconds, where memory answers */
#define FIELD(value, name) (((uint32_t)(value) & ((1u << name##_BITS) - 1)) << name##_AT)

static void clear(fgpu *gpu)
{
    *gpu = (fgpu){.file = -1};
}

void fgpu_open_at(fgpu *gpu, volatile void *control)
{
    clear(gpu);
    gpu->control = (volatile uint32_t *)control;
}

void fgpu_open_bus(fgpu *gpu, const fgpu_bus *bus)
{
    clear(gpu);
    gpu->bus = *bus;
}

uint32_t fgpu_read(const fgpu *gpu, uint32_t address)
{
    return gpu->control ? gpu->control[address / 4] : gpu->bus.read(gpu->bus.context, address);
}

void fgpu_write(const fgpu *gpu, uint32_t address, uint32_t word)
{
    if (gpu->control)
        gpu->control[address / 4] = word;
    else
        gpu->bus.write(gpu->bus.context, address, word);
}

static uint32_t code_address(size_t index)
{
    return (index < FGPU_CRAM_WINDOW_WORDS ? FGPU_CRAM_BASE : FGPU_CODE_BASE) + 4 * (uint32_t)index;
}

int fgpu_load(const fgpu *gpu, const uint32_t *words, size_t count)
{
    if (count < 1 || count > 1u << FGPU_ENTRY_ENTRY_BITS ||
        (gpu->control_size && code_address(count - 1) >= gpu->control_size))
        return FGPU_ERROR_SIZE;
    for (size_t i = 0; i < count; i++)
        fgpu_write(gpu, code_address(i), words[i]);
    return FGPU_ERROR_NONE;
}

/* The work-items of a work-group, or 0 for a launch that cannot be. */
static uint32_t work_items(unsigned slot, const fgpu_launch *launch)
{
    uint32_t items = 1;
    if (slot >= FGPU_SLOTS || launch->dimensions < 1 || launch->dimensions > FGPU_DIMENSIONS ||
        launch->parameter_count > FGPU_PARAMETERS_MAX || launch->entry >> FGPU_ENTRY_ENTRY_BITS ||
        launch->local_rows >> FGPU_SIZE_LOCAL_ROWS_BITS || launch->local_groups >> FGPU_SIZE_LOCAL_GROUPS_BITS ||
        launch->place >> FGPU_SIZE_PLACE_BITS)
        return 0;
    for (uint32_t i = 0; i < launch->dimensions; i++) {
        uint32_t local = launch->local_size[i];
        if (local < 1 || local > FGPU_WORK_GROUP_MAX || !launch->global_size[i] || launch->global_size[i] % local)
            return 0;
        items *= local;
    }
    return items > FGPU_WORK_GROUP_MAX ? 0 : items;
}

int fgpu_start(fgpu *gpu, unsigned slot, const fgpu_launch *launch)
{
    uint32_t words[FGPU_DESCRIPTOR_WORDS] = {0}, items = work_items(slot, launch), flag = 1u << slot;
    gpu->fault = 0;
    if (!items)
        return FGPU_ERROR_SIZE;
    words[FGPU_WORD_ENTRY] =
        FIELD(launch->entry, FGPU_ENTRY_ENTRY) |
        FIELD((items + FGPU_WAVEFRONT_SIZE - 1) / FGPU_WAVEFRONT_SIZE - 1, FGPU_ENTRY_WAVEFRONTS_MINUS_1);
    words[FGPU_WORD_SHAPE] = FIELD(launch->dimensions - 1, FGPU_SHAPE_DIMENSIONS_MINUS_1);
    words[FGPU_WORD_SIZE] =
        FIELD(items, FGPU_SIZE_WORK_ITEMS) | FIELD(launch->local_rows, FGPU_SIZE_LOCAL_ROWS) |
        FIELD(launch->local_groups, FGPU_SIZE_LOCAL_GROUPS) | FIELD(launch->place, FGPU_SIZE_PLACE) |
        FIELD(launch->parameter_count, FGPU_SIZE_PARAMETERS);
    for (uint32_t i = 0; i < FGPU_DIMENSIONS; i++) {
        int is_there = i < launch->dimensions;
        uint32_t local = is_there ? launch->local_size[i] : 1, global = is_there ? launch->global_size[i] : 1;
        words[FGPU_WORD_GLOBAL_SIZE + i] = global;
        words[FGPU_WORD_GLOBAL_OFFSET + i] = is_there ? launch->global_offset[i] : 0;
        words[FGPU_WORD_WORK_GROUPS + i] = global / local - 1;
        words[FGPU_WORD_SHAPE] |= FIELD(local, FGPU_SHAPE_WORK_GROUP_SIZE)
                                  << (i * FGPU_SHAPE_WORK_GROUP_SIZE_BITS);
    }
    for (uint32_t i = 0; i < launch->parameter_count; i++)
        words[FGPU_WORD_PARAMETERS + i] = launch->parameters[i];
    for (uint32_t i = 0; i < FGPU_DESCRIPTOR_WORDS; i++)
        fgpu_write(gpu, FGPU_LRAM_BASE + 4 * (slot * FGPU_DESCRIPTOR_WORDS + i), words[i]);
    fgpu_write(gpu, FGPU_INITIALIZE, flag);
    fgpu_write(gpu, FGPU_CLEAN_CACHE, launch->keep_cache ? 0 : flag);
    __sync_synchronize(); /* what the program has written to memory is there */
    fgpu_write(gpu, FGPU_START, flag);
    return FGPU_ERROR_NONE;
}

int fgpu_is_done(const fgpu *gpu, unsigned slot)
{
    return fgpu_read(gpu, FGPU_STATUS) >> slot & 1;
}

#ifdef __linux__
static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000 * (uint64_t)now.tv_sec + now.tv_nsec / 1000000;
}
#endif

int fgpu_wait(fgpu *gpu, unsigned slot, uint32_t limit)
{
#ifdef __linux__
    uint64_t end = milliseconds() + limit;
    for (long pause = 1000; !fgpu_is_done(gpu, slot); pause = pause < 1000000 ? 2 * pause : pause) {
        if (limit && milliseconds() > end)
            return FGPU_ERROR_TIMEOUT;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
#else
    for (uint32_t reads = 0; !fgpu_is_done(gpu, slot); reads++)
        if (limit && reads == limit)
            return FGPU_ERROR_TIMEOUT;
#endif
    __sync_synchronize();
    gpu->fault = fgpu_read(gpu, FGPU_FAULT);
    return gpu->fault ? FGPU_ERROR_FAULT : FGPU_ERROR_NONE;
}

void fgpu_abort(const fgpu *gpu, unsigned slot)
{
    fgpu_write(gpu, FGPU_ABORT, 1u << slot);
}

int fgpu_run(fgpu *gpu, unsigned slot, const fgpu_launch *launch, uint32_t limit)
{
    int error = fgpu_start(gpu, slot, launch);
    if (error)
        return error;
    error = fgpu_wait(gpu, slot, limit);
    if (error == FGPU_ERROR_TIMEOUT) {
        fgpu_abort(gpu, slot);
        fgpu_wait(gpu, slot, ABORT_LIMIT);
    }
    return error;
}

const char *fgpu_fault_text(const fgpu *gpu)
{
    static const char *const texts[1 << FGPU_FAULT_CAUSE_BITS] = {
        [FGPU_CAUSE_NONE] = "no fault",
        [FGPU_CAUSE_ILLEGAL_INSTRUCTION] = "an instruction that this core does not have",
        [FGPU_CAUSE_INSTRUCTION_ADDRESS] = "an instruction address outside the code RAM",
        [FGPU_CAUSE_STACK_OVERFLOW] = "the link stack overflowed",
        [FGPU_CAUSE_SCRATCHPAD_BOUNDS] = "an access outside the work-item's part of the scratchpad",
        [FGPU_CAUSE_BUS_ERROR] = "memory answered an access with an error",
        [FGPU_CAUSE_CONTROL_ACCESS] = "a refused access of the control interface",
        [FGPU_CAUSE_ABORTED] = "the host aborted the kernel",
    };
    return texts[gpu->fault >> FGPU_FAULT_CAUSE_AT & ((1u << FGPU_FAULT_CAUSE_BITS) - 1)];
}

#ifdef __linux__
static int map(fgpu *gpu, const char *path, off_t control_offset, size_t control_size, off_t memory_offset,
               size_t memory_size)
{
    void *control, *memory;
    gpu->file = open(path, O_RDWR | O_SYNC);
    if (gpu->file < 0)
        return FGPU_ERROR_OPEN;
    control = mmap(NULL, control_size, PROT_READ | PROT_WRITE, MAP_SHARED, gpu->file, control_offset);
    memory = mmap(NULL, memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, gpu->file, memory_offset);
    if (control != MAP_FAILED) {
        gpu->control = (volatile uint32_t *)control;
        gpu->control_size = control_size;
    }
    if (memory != MAP_FAILED) {
        gpu->memory = (uint8_t *)memory;
        gpu->memory_size = memory_size;
    }
    if (gpu->control && gpu->memory)
        return FGPU_ERROR_NONE;
    fgpu_close(gpu);
    return FGPU_ERROR_OPEN;
}

static int number(const char *sysfs, const char *device, const char *entry, unsigned long long *value)
{
    char path[512];
    FILE *file;
    int found;
    if (snprintf(path, sizeof path, "%s/%s/maps/%s", sysfs, device, entry) >= (int)sizeof path)
        return 0;
    file = fopen(path, "r");
    if (!file)
        return 0;
    found = fscanf(file, "%llx", value); /* Linux writes 0x and hexadecimal digits */
    fclose(file);
    return found == 1;
}

int fgpu_open_uio(fgpu *gpu, const char *path, const char *sysfs)
{
    const char *slash = strrchr(path, '/'), *device = slash ? slash + 1 : path;
    unsigned long long control_size, memory_size, memory_address;
    clear(gpu);
    sysfs = sysfs ? sysfs : "/sys/class/uio";
    if (!number(sysfs, device, "map0/size", &control_size) || !number(sysfs, device, "map1/size", &memory_size) ||
        !number(sysfs, device, "map1/addr", &memory_address) || memory_address > UINT32_MAX)
        return FGPU_ERROR_OPEN; /* kernels have addresses of 32 bits */
    gpu->memory_address = (uint32_t)memory_address;
    /* Map n of a UIO device begins at the offset of n pages. */
    return map(gpu, path, 0, (size_t)control_size, sysconf(_SC_PAGESIZE), (size_t)memory_size);
}

int fgpu_open_mem(fgpu *gpu, const char *path, uint32_t control_address, size_t control_size, uint32_t memory_address,
                  size_t memory_size)
{
    clear(gpu);
    gpu->memory_address = memory_address;
    return map(gpu, path, control_address, control_size, memory_address, memory_size);
}

void fgpu_close(fgpu *gpu)
{
    if (gpu->control)
        munmap((void *)gpu->control, gpu->control_size);
    if (gpu->memory)
        munmap(gpu->memory, gpu->memory_size);
    if (gpu->file >= 0)
        close(gpu->file);
    clear(gpu);
}
#endif
