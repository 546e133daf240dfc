#include "access.h"

#include <algorithm>
#include <cstring>

namespace fgpu {

constexpr uint32_t WORD = 4;

namespace {

bool holds(const AddressRange &range, uint32_t address, uint32_t size, bool takes_word) {
    const uint64_t end = takes_word ? (range.end + WORD - 1) / WORD * WORD : range.end;
    return range.first <= address && address + uint64_t(size) <= end;
}

}  // namespace

void AccessChecker::allow(const AddressRange *ranges, uint32_t count, uint32_t local_bytes, Check what) {
    allowed.assign(ranges, ranges + count);
    local = {0, local_bytes};
    last = 0;
    check = what;
    refused = RefusedAccess{};
    started = 0;
}

bool AccessChecker::is_inside(uint32_t address, uint32_t size, bool takes_word) {
    if (allowed.empty())
        return false;
    if (holds(allowed[last], address, size, takes_word))
        return true;
    const auto after = std::upper_bound(allowed.begin(), allowed.end(), uint64_t(address),
                                        [](uint64_t at, const AddressRange &range) { return at < range.first; });
    if (after == allowed.begin() || !holds(*(after - 1), address, size, takes_word))
        return false;
    last = size_t(after - 1 - allowed.begin());
    return true;
}

bool AccessChecker::is_allowed(const AccessOut &out, uint32_t address) {
    const uint32_t size = 1u << out.width;
    const bool takes_word = out.load && size == WORD && !out.atomic;
    if (address & (size - 1))
        return false;
    if (out.local)      // a work-group's local memory may go on behind address 0
        return holds(local, address - LOCAL_BASE, size, takes_word);
    return check != CHECK_ALL || is_inside(address, size, takes_word);
}

bool AccessChecker::look(unsigned unit, const AccessOut &out, uint64_t now) {
    for (unsigned slot = 0; slot < WAVEFRONTS; slot++)
        if (out.starts >> slot & 1) {
            Slot &place = slots[unit][slot];
            std::memcpy(place.before, place.offsets, sizeof place.before);
            std::memcpy(place.offsets, out.offsets, sizeof place.offsets);
            place.since = now;
            started++;
        }
    if (!out.valid)
        return false;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint32_t address = out.addresses[lane];
        if (!(out.lanes >> lane & 1) || refused.happened)
            continue;
        if (is_allowed(out, address))
            continue;
        const Slot &slot = slots[unit][out.wavefront];
        refused = RefusedAccess{};
        refused.address = address;
        refused.pc = out.pc;
        refused.item = (out.number * LANES + out.phase) * LANES + lane;
        refused.elsewhere = !out.local && !(address & ((1u << out.width) - 1));
        refused.happened = 1;
        std::memcpy(refused.offsets, now < slot.since + MEMORY_STAGE ? slot.before : slot.offsets, sizeof refused.offsets);
        return true;
    }
    return false;
}

}  // namespace fgpu

// -- the interface for Python (sim/testbench/abi.py) -----------------------------------------------

#include "testbench.h"

extern "C" void fgpu_bench_allow(fgpu::Testbench *bench, const fgpu::AddressRange *ranges, uint32_t count,
                                 uint32_t local_bytes, uint32_t check) {
    bench->accesses.allow(ranges, count, local_bytes, fgpu::Check(check));
}

// Wavefronts that the launch has started so far, if its accesses are checked.
extern "C" uint64_t fgpu_bench_wavefronts(fgpu::Testbench *bench) { return bench->accesses.started; }
