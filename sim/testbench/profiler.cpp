#include "profiler.h"

namespace fgpu {

namespace {

// The state of a wavefront to which each bucket of a compute unit's cycles is due.
uint32_t cause(uint32_t bucket) {
    switch (bucket) {
    case BUCKET_FETCH: return STATE_FETCH;
    case BUCKET_BRANCH: return STATE_BRANCH;
    case BUCKET_MEMORY_READ: return STATE_MEMORY_READ;
    case BUCKET_WRITE_PRESSURE: return STATE_WRITE_PRESSURE;
    case BUCKET_BARRIER: return STATE_BARRIER;
    default: return STATE_EXECUTE;
    }
}

}  // namespace

void Profiler::look(const ProbeOut &probe, const AccessOut &access) {
    if (probe.issue) {
        ProfileEntry &entry = at(probe.issued_pc);
        entry.issues++;
        entry.work_items += probe.lanes;
    }
    const uint32_t wanted = cause(probe.bucket);
    bool found = probe.bucket == BUCKET_NO_WAVEFRONT;
    if (probe.bucket == BUCKET_ISSUE) {
        at(probe.executed_pc).cycles[BUCKET_ISSUE]++;
        found = true;
    }
    uint32_t other = last;
    for (unsigned i = 0; i < WAVEFRONTS; i++) {
        const uint32_t state = probe.states >> 4 * i & 15;
        if (state == STATE_FREE)
            continue;
        // Behind a branch or a barrier the program counter has gone on already.
        const bool moved = state == STATE_BRANCH || state == STATE_BARRIER;
        const uint32_t pc = uint16_t(probe.pcs[i] - moved);
        at(pc).waits[state]++;
        if (!found && state == wanted) {
            at(pc).cycles[probe.bucket]++;
            found = true;
        }
        other = pc;
    }
    if (!found)     // they are ready, and none was picked
        at(other).cycles[probe.bucket]++;
    if (access.valid && !access.local) {
        ProfileEntry &entry = at(access.pc);
        uint32_t lines[LANES];
        unsigned different = 0;
        entry.phases++;
        for (unsigned lane = 0; lane < LANES; lane++) {
            if (!(access.lanes >> lane & 1))
                continue;
            entry.accesses++;
            const uint32_t line = uint32_t(access.addresses[lane]) >> shift;
            unsigned i = 0;
            while (i < different && lines[i] != line)
                i++;
            if (i == different)
                lines[different++] = line;
        }
        entry.lines += different;
        for (unsigned i = 0; i < different; i++)
            touched[lines[i]].pc = access.pc;
    }
}

void Profiler::fill(uint32_t number) {
    const auto found = touched.find(number);
    if (found == touched.end()) {
        table[last].fills++;
        return;
    }
    Line &line = found->second;
    ProfileEntry &entry = at(line.pc);
    entry.fills++;
    entry.refills += line.was_filled;
    line.was_filled = true;
}

}  // namespace fgpu
