/* Runs on the SoC's RISC-V processor: starts a kernel, and compares what it computes. */
#include "libfgpu.h"
#include "generated/mem.h"
#include "generated/csr.h"
#include "kernel.h"

#define COUNT 128

__attribute__((section(".start"), naked)) void _start(void)
{
    asm volatile("la sp, stack_end\n j main");
}

/* There is no C library; compilers call this one for what is zero at first. */
void *memset(void *to, int byte, size_t length)
{
    for (volatile char *at = to; length; length--)
        *at++ = (char)byte;
    return to;
}

static void print(const char *text)
{
    for (; *text; text++) {
        while (uart_txfull_read())
            ;
        uart_rxtx_write(*text);
    }
}

static int run(void)
{
    volatile int32_t *numbers = (volatile int32_t *)MAIN_RAM_BASE;
    fgpu gpu;
    fgpu_launch launch = {.entry = kernel_entry, .dimensions = 1, .global_size = {COUNT}, .local_size = {64},
                          .parameter_count = 2, .parameters = {MAIN_RAM_BASE, 5}};
    fgpu_open_at(&gpu, (volatile void *)FGPU_BASE);
    fgpu_write(&gpu, FGPU_INTERRUPT_ENABLE, FGPU_INTERRUPT_KERNEL_END);
    fgpu_load(&gpu, kernel_words, sizeof kernel_words / sizeof kernel_words[0]);
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    if (fgpu_run(&gpu, 0, &launch, 0)) {
        print(fgpu_fault_text(&gpu));
        return 1;
    }
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] != i * i + 5)
            return 2;
    if (!(fgpu_ev_status_read() & 1)) /* the core's interrupt is at the processor */
        return 3;
    fgpu_write(&gpu, FGPU_INTERRUPT_STATUS, FGPU_INTERRUPT_KERNEL_END);
    return fgpu_ev_status_read() & 1 ? 4 : 0;
}

int main(void)
{
    int error;
    print("FGPU in LiteX: ");
    error = run();
    print(error ? "wrong " : "right ");
    print((char[]){'0' + error, '\n', 4, 0}); /* the simulation ends at the byte 4 */
    for (;;)
        ;
}
