// A Verilator model and its test bench, run natively. `binding.h` is generated for the configuration
// (sim/verilator_build.py): it includes the model, and copies its ports from and to our structures.

#include <memory>
#include <new>
#include <sstream>
#include <string>

#include "binding.h"
#include "testbench.h"

using namespace fgpu;

namespace {

// Waveforms: of the units in a list with line breaks, or all; in the cycles of each launch from `first` up to, but not
// including, `end`, or, if there is no `end`, in all cycles.
struct Trace {
    const char *path, *units;
    uint64_t first, end;
};

constexpr int LEVELS = 99;

class Model {
public:
    Model(const BenchConfig &config, const Trace &asked, uint32_t wake_cycles, uint32_t power_up)
        : bench(config), trace(asked), top(powered(context, power_up)) {
#ifdef FGPU_TRACE
        if (trace.path) {
            context.traceEverOn(true);
            top.core.trace(&dump, LEVELS);
            std::istringstream units(trace.units);
            for (std::string unit; std::getline(units, unit);)
                dump.dumpvars(LEVELS, unit);
            dump.open(trace.path);
        }
#endif
        reset(wake_cycles);
    }

    // One cycle of reset must do. Then the bench does not count while the core clears its memories.
    void reset(uint32_t wake_cycles) {
        drive(top, bench.inputs);
        for (uint64_t i = 0; i < 1 + uint64_t(wake_cycles); i++) {
            top.core.rst = i == 0;
            fall();
            rise();
        }
        top.core.rst = 0;
        fall();
    }

    ~Model() {
        top.final();
#ifdef FGPU_TRACE
        dump.close();
#endif
    }

    // Run so many cycles, or fewer when the launch ends.
    uint32_t run(uint64_t cycles) {
        Status status = RUNNING;
        while (cycles-- && status == RUNNING) {
            sample(top, out);
            status = bench.step(out, bench.inputs);
#ifdef FGPU_TRACE
            is_recorded = !trace.end || bench.is_between(trace.first, trace.end);
#endif
            rise();
            // The inputs change with the falling edge: nothing in the hardware looks before the next rising one.
            drive(top, bench.inputs);
            fall();
            if (!top.settled)
                status = bench.unsettled();
        }
        return status;
    }

    uint64_t rested() const { return top.rested(); }

    Testbench bench;

private:
    // Registers and memories come up as zero, or with random contents of a seed.
    static VerilatedContext *powered(VerilatedContext &context, uint32_t power_up) {
        context.randReset(power_up ? 2 : 0);
        context.randSeed(int(power_up));
        return &context;
    }

    void rise() {
        top.rise();
        waveforms();
    }

    void fall() {
        top.fall();
        waveforms();
    }

    void waveforms() {
#ifdef FGPU_TRACE
        if (dump.isOpen() && is_recorded)
            dump.dump(context.time());
        context.timeInc(5);
#endif
    }

    PortsOut out{};
    Trace trace;
    VerilatedContext context;
    Design top;
#ifdef FGPU_TRACE
    VerilatedVcdC dump;
    bool is_recorded = !trace.end;
#endif
};

}  // namespace

extern "C" {

Model *fgpu_model_create(const BenchConfig *config, const char *trace, const char *units, uint64_t first, uint64_t end,
                         uint32_t wake_cycles, uint32_t power_up) {
    return new (std::nothrow) Model(*config, Trace{trace, units, first, end}, wake_cycles, power_up);
}

void fgpu_model_destroy(Model *model) { delete model; }

Testbench *fgpu_model_bench(Model *model) { return &model->bench; }

// The core, with `memory` the ports of memory too; its host forgets its operations.
void fgpu_model_reset(Model *model, uint32_t wake_cycles, uint32_t memory) {
    model->bench.reset(memory);
    model->reset(wake_cycles);
}

uint32_t fgpu_model_run(Model *model, uint64_t cycles) { return model->run(cycles); }

// For how many cycles compute units were not simulated since power-up, because nothing could change in them.
uint64_t fgpu_model_rested(const Model *model) { return model->rested(); }

}
