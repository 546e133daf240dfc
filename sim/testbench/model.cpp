// A Verilator model and its test bench, run natively. `binding.h` is generated for the configuration
// (sim/verilator_build.py): it includes the model, and copies its ports from and to our structures.

#include <memory>
#include <new>

#include "binding.h"
#include "testbench.h"

using namespace fgpu;

namespace {

class Model {
public:
    Model(const BenchConfig &config, const char *trace) : bench(config), top(&context, "fgpu") {
#ifdef FGPU_TRACE
        if (trace) {
            context.traceEverOn(true);
            top.trace(&dump, 99);
            dump.open(trace);
        }
#else
        (void)trace;
#endif
        top.rst = 1;
        drive(top, bench.inputs);
        for (int i = 0; i < 2; i++) {
            top.clk = 0;
            eval();
            top.clk = 1;
            eval();
        }
        top.rst = 0;
        top.clk = 0;
        eval();
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
            top.clk = 1;
            eval();
            // The inputs change with the falling edge: nothing in the hardware looks before the next rising one.
            top.clk = 0;
            drive(top, bench.inputs);
            eval();
        }
        return status;
    }

    Testbench bench;

private:
    void eval() {
        top.eval();
#ifdef FGPU_TRACE
        if (dump.isOpen())
            dump.dump(context.time());
        context.timeInc(5);
#endif
    }

    PortsOut out{};
    VerilatedContext context;
    Vfgpu top;
#ifdef FGPU_TRACE
    VerilatedVcdC dump;
#endif
};

}  // namespace

extern "C" {

Model *fgpu_model_create(const BenchConfig *config, const char *trace) {
    return new (std::nothrow) Model(*config, trace);
}

void fgpu_model_destroy(Model *model) { delete model; }

Testbench *fgpu_model_bench(Model *model) { return &model->bench; }

uint32_t fgpu_model_run(Model *model, uint64_t cycles) { return model->run(cycles); }

}
