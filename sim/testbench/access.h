// Accesses of kernels that are outside what they may use, or misaligned: seen at the compute units' memory stage,
// before the cache. It observes only.

#pragma once

#include <cstddef>
#include <vector>

#include "abi.h"

namespace fgpu {

class AccessChecker {
public:
    void configure(unsigned compute_units) { units = compute_units; }

    // What to check in the next launch, and what its kernel may use, in ascending order; so many bytes of local memory.
    void allow(const AddressRange *ranges, uint32_t count, uint32_t local_bytes, Check what);

    // One cycle; returns whether an access is refused, of which `refused` then tells.
    bool step(const AccessOut *out, uint64_t now) {
        if (check == CHECK_NOTHING)
            return false;
        bool wrong = false;
        for (unsigned i = 0; i < units; i++)
            if (out[i].starts | out[i].valid)
                wrong |= look(i, out[i], now);
        return wrong;
    }

    RefusedAccess refused{};
    uint64_t started = 0;   // wavefronts of this launch

private:
    // Offsets of the work-groups whose wavefronts have a slot. What the one before it issued may still be in the
    // pipeline when a wavefront starts.
    struct Slot {
        uint64_t since = 0;
        uint32_t offsets[3] = {}, before[3] = {};
    };

    bool look(unsigned unit, const AccessOut &out, uint64_t now);
    bool is_inside(uint32_t address, uint32_t size, bool takes_word);
    bool is_allowed(const AccessOut &out, uint32_t address);

    unsigned units = 0;
    Check check = CHECK_NOTHING;
    std::vector<AddressRange> allowed;
    AddressRange local{};     // from LOCAL_BASE on
    size_t last = 0;    // the range that was found before: most accesses are close to each other
    Slot slots[COMPUTE_UNITS][WAVEFRONTS];
};

}  // namespace fgpu
