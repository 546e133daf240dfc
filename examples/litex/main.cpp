// Runs the SoC until its program sends the byte 4 over the serial line, which is the standard output here.
#include <cstdio>

#include "Vsim.h"
#include "verilated.h"

int main()
{
    Vsim top;
    top.serial_source_ready = 1;
    for (long cycle = 0; cycle < 1000000; cycle++) {
        top.sys_clk = 0;
        top.eval();
        top.sys_clk = 1;
        if (top.serial_source_valid) {
            if (top.serial_source_data == 4) {
                std::printf("%ld cycles\n", cycle);
                return 0;
            }
            std::putchar(top.serial_source_data);
        }
        top.eval();
    }
    std::puts("the program did not end");
    return 1;
}
