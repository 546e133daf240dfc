#include "testbench.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace fgpu {

void Failure::set(Status kind, const char *format, ...) {
    if (*this)
        return;     // what follows from the first failure would only confuse
    status = kind;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
}

Testbench::Testbench(const BenchConfig &bench_config) : config(bench_config) {
    for (unsigned i = 0; i < config.ports; i++)
        ports[i].configure(config, i), checkers[i].configure(config, i);
    accesses.configure(config.compute_units);
}

void Testbench::launch(HostOp *operations, uint32_t count, uint64_t max_cycles) {
    outcome = Result{};
    for (MemoryPort &port : ports)
        port.counters = PortCounters{};
    host.begin(operations, count, max_cycles, now);
}

void Testbench::reset(bool memory) {
    host = Host{};
    lite_checker = LiteChecker{};
    inputs.lite = LiteIn{};
    for (unsigned i = 0; i < config.ports && memory; i++) {
        ports[i].reset();
        checkers[i] = AxiChecker{};
        checkers[i].configure(config, i);
        inputs.axi[i] = AxiIn{};
    }
}

bool Testbench::quiet() const {
    bool all = true;
    for (unsigned i = 0; i < config.ports; i++)
        all &= checkers[i].quiet();
    return all;
}

const Result &Testbench::result() {
    outcome.now = now;
    outcome.cycles = host.cycles(now);
    for (unsigned i = 0; i < PORTS; i++)
        outcome.port[i] = ports[i].counters;
    return outcome;
}

Status Testbench::unsettled() {
    outcome.status = UNSETTLED;
    std::snprintf(outcome.message, sizeof outcome.message,
                  "cycle %llu: the compute units and the rest of the core do not settle; there must be a combinational "
                  "loop through both", (unsigned long long)now);
    return UNSETTLED;
}

Status Testbench::stop(const PortsOut &out, uint64_t cycle) {
    const Failure *failure = nullptr;
    const auto look = [&failure](const Failure &one) {
        if (one && !failure)
            failure = &one;
    };
    look(lite_checker.failure);
    for (unsigned i = 0; i < config.ports; i++)
        look(checkers[i].failure);
    look(host.failure);
    for (unsigned i = 0; i < config.ports; i++)
        look(ports[i].failure);
    if (failure) {
        outcome.status = failure->status;
        std::memcpy(outcome.message, failure->message, sizeof outcome.message);
    } else if (accesses.refused.happened) {
        outcome.status = REFUSED_ACCESS;
        outcome.refused = accesses.refused;
    } else if (host.done()) {
        outcome.status = DONE;
        for (unsigned i = 0; i < config.ports && !*outcome.message; i++)
            std::memcpy(outcome.message, ports[i].unmapped, sizeof outcome.message);
    } else if (host.late(cycle)) {
        outcome.status = TIMEOUT;
        uint64_t moved = 0, beats = 0;
        for (const MemoryPort &port : ports) {
            moved = std::max(moved, port.moved);
            beats += port.counters.read_beats + port.counters.write_beats;
        }
        std::snprintf(outcome.message, sizeof outcome.message,
                      beats ? "memory moved its last word %llu cycles before the end" : "memory moved no word",
                      (unsigned long long)(cycle - moved));
    }
    if (outcome.status != DONE)
        std::memcpy(outcome.probe, out.probe, sizeof outcome.probe);
    return Status(outcome.status);
}

}  // namespace fgpu

// -- the interface for Python (sim/testbench/abi.py) -----------------------------------------------

using namespace fgpu;

extern "C" {

Testbench *fgpu_bench_create(const BenchConfig *config) { return new (std::nothrow) Testbench(*config); }

void fgpu_bench_destroy(Testbench *bench) { delete bench; }

void fgpu_bench_launch(Testbench *bench, HostOp *operations, uint32_t count, uint64_t max_cycles) {
    bench->launch(operations, count, max_cycles);
}

void fgpu_bench_profile(Testbench *bench, ProfileEntry *entries, uint32_t count, uint32_t line_shift) {
    bench->profiler.watch(entries, count, line_shift);
}

void fgpu_bench_record(Testbench *bench, uint64_t first, uint64_t end) { bench->recorder.record(first, end); }

const Event *fgpu_bench_events(Testbench *bench, uint64_t *count) {
    *count = bench->recorder.events.size();
    return bench->recorder.events.data();
}

uint32_t fgpu_bench_step(Testbench *bench, const PortsOut *out, PortsIn *in) { return bench->step(*out, *in); }

uint32_t fgpu_bench_quiet(Testbench *bench) { return bench->quiet(); }

void fgpu_bench_bus_errors(Testbench *bench, uint64_t reads, uint64_t writes) { bench->bus_errors(reads, writes); }

const Result *fgpu_bench_result(Testbench *bench) { return &bench->result(); }

}
