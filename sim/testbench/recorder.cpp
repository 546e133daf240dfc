#include "recorder.h"

namespace fgpu {

void Recorder::look(const PortsOut &out, unsigned units, uint64_t cycle) {
    for (unsigned i = 0; i < units; i++) {
        const ProbeOut &probe = out.probe[i];
        const AccessOut &access = out.access[i];
        for (unsigned slot = 0; slot < WAVEFRONTS; slot++) {
            const uint32_t state = probe.states >> 4 * slot & 15;
            const uint32_t pc = state == STATE_FREE ? 0 : uint32_t(probe.pcs[slot]);
            const uint32_t both = state << 16 | pc;
            if (both != last[i][slot]) {
                last[i][slot] = both;
                events.push_back({cycle, EVENT_STATE, i, slot, pc, state});
            }
        }
        if (probe.issue)
            events.push_back({cycle, EVENT_ISSUE, i, probe.issued_wavefront, probe.issued_pc, probe.lanes});
        if (access.valid)
            events.push_back({cycle, EVENT_ACCESS, i, access.wavefront, access.pc, access.lanes});
    }
    for (unsigned word = 0; word < EVENTS / 64; word++)
        for (uint64_t bits = out.events[word]; bits; bits &= bits - 1)
            events.push_back({cycle, EVENT_CACHE, 0, 64 * word + uint32_t(__builtin_ctzll(bits)), 0, 1});
}

void Recorder::look_at_port(const AxiOut &out, const AxiIn &in, unsigned port, uint64_t cycle) {
    if (out.ar.valid && in.arready)
        events.push_back({cycle, EVENT_READ, port, out.ar.id, 0, out.ar.addr});
    if (in.rvalid && out.rready && in.rlast)
        events.push_back({cycle, EVENT_READ_END, port, in.rid, 0, 0});
    if (out.aw.valid && in.awready)
        events.push_back({cycle, EVENT_WRITE, port, out.aw.id, 0, out.aw.addr});
    if (in.bvalid && out.bready)
        events.push_back({cycle, EVENT_WRITE_END, port, in.bid, 0, 0});
}

}  // namespace fgpu
