// The test bench of a whole FGPU: memory behind its AXI4 ports, a host at its control port, checkers of
// both protocols, a watchdog and counters. Both cycle-accurate engines use it, so that timing is written once.
//
// In every cycle an engine calls step() with the outputs as they are just before the rising clock edge, and
// drives the inputs that step() left just after that edge.

#pragma once

#include "access.h"
#include "axi_checker.h"
#include "host.h"
#include "memory.h"
#include "profiler.h"
#include "recorder.h"
#include "abi.h"

namespace fgpu {

class Testbench {
public:
    explicit Testbench(const BenchConfig &config);

    // Begin a launch: the operations of the host, and the most cycles from OP_START to the status bit.
    void launch(HostOp *operations, uint32_t count, uint64_t max_cycles);

    // One clock cycle; returns RUNNING until the host's last operation is done or something failed.
    Status step(const PortsOut &out, PortsIn &in) {
        const uint64_t cycle = now++;
        const bool counted = host.counting();
        lite_checker.step(out.lite, in.lite, cycle);
        uint32_t failed = lite_checker.failure.status;
        for (unsigned i = 0; i < config.ports; i++) {
            checkers[i].step(out.axi[i], in.axi[i], cycle);
            failed |= checkers[i].failure.status;
        }
        if (__builtin_expect(failed, 0))
            return stop(out, cycle);
        if (counted) {
            profiler.step(out, in, config);
            recorder.step(out, in, config, host.cycles(cycle));
        }
        host.step(out.lite, out.kernel_status, in.lite, cycle);
        for (unsigned i = 0; i < config.ports; i++)
            ports[i].step(out.axi[i], in.axi[i], cycle);
        if (counted)
            count(out);
        failed = host.failure.status | unsigned(accesses.step(out.access, cycle));
        for (unsigned i = 0; i < config.ports; i++)
            failed |= ports[i].failure.status;
        if (__builtin_expect(failed | unsigned(host.done()) | unsigned(host.late(cycle)), 0))
            return stop(out, cycle);
        return RUNNING;
    }

    // The core has no values that it could have at its ports: nothing that follows means anything.
    Status unsettled();

    // What a reset of the host, and of memory too, does: they forget whatever was under way.
    void reset(bool memory);

    // Whether the launch is in one of these cycles: 0 is the one after the write of the start register.
    bool is_between(uint64_t first, uint64_t end) const {
        return host.counting() && host.cycles(now) >= first && host.cycles(now) < end;
    }

    // Whether every request on the AXI ports was answered.
    bool quiet() const;

    // From now on read beats and writes are answered with SLVERR, with chances in 2**-53; see memory.h.
    void bus_errors(uint64_t reads, uint64_t writes) {
        for (MemoryPort &port : ports) {
            port.read_error = reads;
            port.write_error = writes;
        }
    }

    const Result &result();

    PortsIn inputs{};   // what the engine drives, for engines that keep it here
    AccessChecker accesses;
    Profiler profiler;
    Recorder recorder;

private:
    void count(const PortsOut &out) {
        for (unsigned i = 0; i < config.compute_units; i++) {
            const ProbeOut &probe = out.probe[i];
            UnitCounters &unit = outcome.unit[i];
            unit.buckets[probe.bucket & (BUCKETS - 1)]++;
            unit.instructions += probe.issue;
            unit.work_item_instructions += probe.issue ? probe.lanes : 0;
            unit.local_phases += probe.local_phase;
            unit.local_conflicts += probe.local_conflict;
            const uint32_t pairs = probe.states | probe.states >> 1;
            const uint32_t there = (pairs | pairs >> 2) & 0x11111111;   // not free
            unit.wavefront_cycles += unsigned(__builtin_popcount(there));
        }
        for (unsigned word = 0; word < EVENTS / 64; word++)
            for (uint64_t events = out.events[word]; events; events &= events - 1)
                outcome.events[64 * word + unsigned(__builtin_ctzll(events))]++;
    }

    Status stop(const PortsOut &out, uint64_t cycle);

    BenchConfig config;
    uint64_t now = 0;
    Host host;
    MemoryPort ports[PORTS];
    AxiChecker checkers[PORTS];
    LiteChecker lite_checker;
    Result outcome{};
};

}  // namespace fgpu
