#include "recorder.h"

namespace fgpu {

void Recorder::look(const PortsOut &out, unsigned units, uint64_t cycle) {
    for (unsigned i = 0; i < units; i++) {
        const ProbeOut &probe = out.probe[i];
        const AccessOut &access = out.access[i];
        for (uint32_t starts = access.starts; starts; starts &= starts - 1)
            events.push_back({cycle, EVENT_START, i, uint32_t(__builtin_ctz(starts)), 0, 0});
        for (unsigned slot = 0; slot < WAVEFRONTS; slot++) {
            const uint32_t state = probe.states >> 4 * slot & 15;
            const uint32_t pc = state == STATE_FREE ? 0 : uint32_t(probe.pcs[slot]);
            const uint32_t both = state << 16 | pc;
            const uint32_t before = last[i][slot], state_before = before >> 16, at = uint16_t(before - 1);
            if (both == before)
                continue;
            last[i][slot] = both;
            events.push_back({cycle, EVENT_STATE, i, slot, pc, state});
            if (state == state_before || !before)
                continue;
            if (state_before == STATE_BARRIER)
                events.push_back({cycle, EVENT_RELEASE, i, slot, at, 0});
            if (state == STATE_BARRIER)
                events.push_back({cycle, EVENT_ARRIVE, i, slot, uint16_t(pc - 1), 0});
            if (state == STATE_FREE)
                events.push_back({cycle, EVENT_END, i, slot, at, 0});
        }
        if (access.valid && !access.local)
            events.push_back({cycle, EVENT_ACCESS, i, access.wavefront, access.pc, access.lanes});
    }
    for (unsigned word = 0; word < EVENTS / 64; word++)
        for (uint64_t bits = out.events[word]; bits; bits &= bits - 1)
            events.push_back({cycle, EVENT_CACHE, 0, 64 * word + uint32_t(__builtin_ctzll(bits)), 0, 1});
}

// The log of a compute unit; before the first cycle that is recorded it says no more than what outcomes are of.
void Recorder::follow(const PortsOut &out, unsigned unit, uint64_t cycle) {
    const ProbeOut &probe = out.probe[unit];
    const LogOut &log = out.log[unit];
    const uint32_t slot = probe.issued_wavefront, pc = probe.issued_pc;
    const auto note = [this, cycle, unit](EventKind kind, uint32_t number, uint32_t place, uint64_t value) {
        if (cycle >= begin)
            events.push_back({cycle, kind, unit, number, place, value});
    };
    if (log.outcome) {
        const Asked &of = asked[unit][log.outcome_wavefront];
        const bool goes_on = log.outcome_kind != OUTCOME_RETIRE && log.outcome_kind != OUTCOME_OVERFLOW;
        if (goes_on && log.changes && log.goes_on != of.enabled) {
            const uint64_t both = log.goes_on & of.enabled;
            if (both == log.goes_on)
                note(EVENT_PUSH, log.outcome_wavefront, of.pc, of.enabled & ~both);
            else
                note(both ? EVENT_POP : EVENT_SWITCH, log.outcome_wavefront, of.pc, log.goes_on);
        }
    }
    if (log.flow)
        asked[unit][slot] = {log.enabled, pc};
    for (uint32_t groups = log.group_ends; groups; groups &= groups - 1)
        note(EVENT_GROUP_END, uint32_t(__builtin_ctz(groups)), 0, 0);
    if (log.group_begins)
        note(EVENT_GROUP, uint32_t(__builtin_ctz(log.group_begins)), uint32_t(log.offsets[2]),
             log.offsets[0] | uint64_t(log.offsets[1]) << 32);
    if (probe.issue)
        note(EVENT_ISSUE, slot, pc, log.enabled);
    if (log.refused | log.collides)
        note(EVENT_REFUSAL, slot, pc, log.collides ? COLLISION : NO_ROOM);
    if (log.load_done)
        note(EVENT_LOAD_DONE, log.load_done_wavefront, 0, log.load_done_local);
    if (log.load)
        note(EVENT_LOAD, slot, pc, log.load_local);
}

void Recorder::look_at_slice(const LineOut &out, unsigned slice, uint64_t cycle) {
    if (out.request) {
        const Access miss = out.op == LINE_READ ? READ_MISS : out.op == LINE_WRITE ? WRITE_MISS : ATOMIC_MISS;
        events.push_back({cycle, EVENT_REQUEST, slice, uint32_t(miss) + out.hit, out.unit, out.line});
    }
    if (out.fill)
        events.push_back({cycle, EVENT_FILL, slice, out.manager, 0, out.line});
    if (out.eviction)
        events.push_back({cycle, EVENT_EVICTION, slice, out.manager, 0, out.victim});
    if (out.write_back)
        events.push_back({cycle, EVENT_WRITE_BACK, slice, out.writes, 0, 0});
    if (out.filled)
        events.push_back({cycle, EVENT_FILLED, slice, out.fills, 0, 0});
    if (out.written)
        events.push_back({cycle, EVENT_WRITTEN, slice, out.wrote, 0, 0});
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
