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
        begin = first;
        end = end_cycle;
        events.clear();
        for (auto &unit : last)
            for (uint32_t &state : unit)
                state = 0;
    }

    // One cycle of a launch, before memory and host see it: what both sides of the ports drive in it.
    void step(const PortsOut &out, const PortsIn &in, const BenchConfig &config, uint64_t cycle) {
        if (cycle >= begin && cycle < end) {
            look(out, config.compute_units, cycle);
            for (unsigned i = 0; i < config.ports; i++)
                look_at_port(out.axi[i], in.axi[i], i, cycle);
        }
    }

    std::vector<Event> events;

private:
    void look(const PortsOut &out, unsigned units, uint64_t cycle);
    void look_at_port(const AxiOut &out, const AxiIn &in, unsigned port, uint64_t cycle);

    uint64_t begin = 0, end = 0;
    uint32_t last[COMPUTE_UNITS][WAVEFRONTS] = {};  // state and program counter
};

}  // namespace fgpu
