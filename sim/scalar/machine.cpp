// A scalar processor (VexRiscv: RV32IM, five stages, 4 KiB of each cache) with memory at its two Wishbone ports.
//
// Memory has the timing of the FGPU's (sim/testbench/memory.h): the first word of a burst comes two cycles after
// its address and `read_latency`, then a word a cycle; a write is over two cycles after its address. Each
// port has a memory port of its own. A store of 1 to the control word starts the measurement, of 0 ends it.

#include <memory>

#include "VVexRiscv.h"
#include "random.h"
#include "verilated.h"

extern "C" {

struct ScalarRun {
    uint8_t *code, *data;
    uint32_t code_base, code_size, data_base, data_size;
    uint32_t latency_least, latency_greatest;
    uint64_t seed, max_cycles;
    uint64_t cycles;        // what comes out
    uint32_t bad_address;   // that stopped the program, if `stopped` is 3
    uint32_t stopped;       // 1: at its end, 2: by the limit, 3: by a bad address
};

}  // extern "C"

namespace {

constexpr uint32_t CONTROL = 0xF0000000;
constexpr unsigned FIRST_WORD = 2;
enum Cti { INCREMENTING = 2 };

class Machine {
public:
    explicit Machine(ScalarRun &run) : run(run), random(run.seed), top(&context, "scalar") {}

    void operate() {
        top.externalResetVector = run.code_base;
        top.reset = 1;
        for (int i = 0; i < 4; i++)
            clock();
        top.reset = 0;
        for (uint64_t now = 0; !run.stopped; now++) {
            if (now - begin >= run.max_cycles)
                run.stopped = 2;
            serve(instructions, top.iBusWishbone_CYC && top.iBusWishbone_STB, false, top.iBusWishbone_CTI,
                  top.iBusWishbone_ADR << 2, 0, 0, top.iBusWishbone_ACK, top.iBusWishbone_DAT_MISO, now);
            serve(loads, top.dBusWishbone_CYC && top.dBusWishbone_STB, top.dBusWishbone_WE, top.dBusWishbone_CTI,
                  top.dBusWishbone_ADR << 2, top.dBusWishbone_DAT_MOSI, top.dBusWishbone_SEL,
                  top.dBusWishbone_ACK, top.dBusWishbone_DAT_MISO, now);
            top.eval();
            clock();
        }
        top.final();
    }

private:
    struct Port {
        unsigned waited = 0, wait = 0;  // cycles of the access under way
        bool inside = false;            // a burst: the next word comes in the next cycle
    };

    void clock() {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
    }

    template <class Ack, class Data>
    void serve(Port &port, bool valid, bool write, unsigned cti, uint32_t address, uint32_t word, unsigned strobes,
               Ack &ack, Data &data, uint64_t now) {
        ack = 0;
        if (!valid)
            return;
        if (!port.inside && port.waited == 0)
            port.wait = FIRST_WORD + (write ? 0 : random.in({run.latency_least, run.latency_greatest}));
        if (!port.inside && port.waited++ < port.wait)
            return;
        ack = 1;
        port.waited = 0;
        port.inside = !write && cti == INCREMENTING;
        if (write && address == CONTROL) {
            if (word)
                begin = now;
            else
                run.cycles = now - begin, run.stopped = 1;
            return;
        }
        uint8_t *place = find(address);
        if (!place)
            return;
        if (write) {
            for (int i = 0; i < 4; i++)
                if (strobes >> i & 1)
                    place[i] = word >> 8 * i;
        } else {
            data = place[0] | place[1] << 8 | place[2] << 16 | uint32_t(place[3]) << 24;
        }
    }

    uint8_t *find(uint32_t address) {
        if (address - run.code_base < run.code_size)
            return run.code + (address - run.code_base);
        if (address - run.data_base < run.data_size)
            return run.data + (address - run.data_base);
        run.stopped = 3;
        run.bad_address = address;
        return nullptr;
    }

    ScalarRun &run;
    fgpu::Random random;
    VerilatedContext context;
    VVexRiscv top;
    Port instructions, loads;
    uint64_t begin = 0;
};

}  // namespace

extern "C" void scalar_run(ScalarRun *run) { std::make_unique<Machine>(*run)->operate(); }
