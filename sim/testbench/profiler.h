// What happens at each instruction of a program, cycle by cycle. It observes only.

#pragma once

#include <cstdint>

#include "abi.h"

namespace fgpu {

class Profiler {
public:
    // From now on count in `table`, for the instructions 0 to `count` - 2; all behind them share the last entry. Lines
    // of the cache have 2**line_shift bytes. No table: count nothing.
    void watch(ProfileEntry *entries, uint32_t count, uint32_t line_shift) {
        table = entries;
        last = count - 1;
        shift = line_shift;
    }

    // One cycle of a launch.
    void step(const PortsOut &out, unsigned units) {
        if (table)
            for (unsigned i = 0; i < units; i++)
                look(out.probe[i], out.access[i]);
    }

private:
    void look(const ProbeOut &probe, const AccessOut &access);
    ProfileEntry &at(uint32_t pc) { return table[pc < last ? pc : last]; }

    ProfileEntry *table = nullptr;
    uint32_t last = 0, shift = 0;
};

}  // namespace fgpu
