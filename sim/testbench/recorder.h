// A log of what happens in some cycles of a launch. It observes only.

#pragma once

#include <cstdint>
#include <vector>

#include "abi.h"

namespace fgpu {

class Recorder {
public:
    // Forget what there is, and record the cycles from `first` up to, but not including, `end_cycle`.
    void record(uint64_t first, uint64_t end_cycle) {
        *this = Recorder{};
        begin = first;
        end = end_cycle;
    }

    // One cycle of a launch, before memory and host see it: what both sides of the ports drive in it.
    void step(const PortsOut &out, const PortsIn &in, const BenchConfig &config, uint64_t cycle) {
        if (cycle >= end)
            return;
        for (unsigned i = 0; i < config.compute_units; i++)
            if (out.log[i].valid)
                follow(out, i, cycle);
        if (cycle >= begin) {
            look(out, config.compute_units, cycle);
            for (unsigned i = 0; i < SLICES; i++)
                if (out.lines[i].valid)
                    look_at_slice(out.lines[i], i, cycle);
            for (unsigned i = 0; i < config.ports; i++)
                look_at_port(out.axi[i], in.axi[i], i, cycle);
        }
    }

    std::vector<Event> events;

private:
    // A control instruction whose outcome is awaited.
    struct Asked {
        uint64_t enabled;
        uint32_t pc;
    };

    void look(const PortsOut &out, unsigned units, uint64_t cycle);
    void follow(const PortsOut &out, unsigned unit, uint64_t cycle);
    void look_at_slice(const LineOut &out, unsigned slice, uint64_t cycle);
    void look_at_port(const AxiOut &out, const AxiIn &in, unsigned port, uint64_t cycle);

    uint64_t begin = 0, end = 0;
    uint32_t last[COMPUTE_UNITS][WAVEFRONTS] = {};  // state and program counter
    Asked asked[COMPUTE_UNITS][WAVEFRONTS] = {};
};

}  // namespace fgpu
