// What happens at each instruction of a program, cycle by cycle. It observes only.

#pragma once

#include <cstdint>
#include <unordered_map>

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
        touched.clear();
    }

    // One cycle of a launch, before memory and host see it.
    void step(const PortsOut &out, const PortsIn &in, const BenchConfig &config) {
        if (!table)
            return;
        for (unsigned i = 0; i < config.compute_units; i++)
            look(out.probe[i], out.access[i]);
        for (unsigned i = 0; i < config.ports; i++)
            if (out.axi[i].ar.valid && in.axi[i].arready)
                fill(uint32_t(out.axi[i].ar.addr) >> shift);
    }

private:
    struct Line {
        uint32_t pc;        // of the instruction that accessed it last
        bool was_filled;
    };

    void look(const ProbeOut &probe, const AccessOut &access);
    void fill(uint32_t line);
    ProfileEntry &at(uint32_t pc) { return table[pc < last ? pc : last]; }

    ProfileEntry *table = nullptr;
    uint32_t last = 0, shift = 0;
    std::unordered_map<uint32_t, Line> touched;     // by their numbers, the lines of the cache that were accessed
};

}  // namespace fgpu
