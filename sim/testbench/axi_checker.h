// The rules of AXI4 and AXI4-Lite, checked on every port in every cycle, for both sides of each channel.
//
// A checker sees what was on the wires in a cycle and keeps what is outstanding. It changes nothing.
// That no answer is combinational cannot be seen here: tests/lint/test_combinational.py walks the netlist.

#pragma once

#include "failure.h"
#include "abi.h"

namespace fgpu {

// First in, first out, of few.
template <typename T, unsigned DEPTH> class Ring {
public:
    bool full() const { return count == DEPTH; }
    bool empty() const { return count == 0; }
    void push(const T &value) { values[(head + count++) % DEPTH] = value; }
    void pop() {
        head = (head + 1) % DEPTH;
        count--;
    }
    T &front() { return values[head]; }

private:
    T values[DEPTH] = {};
    unsigned head = 0, count = 0;
};

class AxiChecker {
public:
    void configure(const BenchConfig &config, unsigned index);

    // One cycle: `out` is what the core drove in it, `in` what memory drove in it.
    void step(const AxiOut &out, const AxiIn &in, uint64_t now) {
        // Most cycles of most kernels leave memory alone.
        if (out.ar.valid | out.aw.valid | out.wvalid | in.rvalid | in.bvalid | waits)
            active_step(out, in, now);
    }

    // Whether every request was answered.
    bool quiet() const { return open == 0 && !waits; }

    Failure failure;

private:
    static constexpr unsigned DEEP = 16;    // most bursts outstanding: of reads, with one id
    struct Write {
        uint8_t id;
        uint16_t beats;
    };

    void active_step(const AxiOut &out, const AxiIn &in, uint64_t now);
    void check_held(const AxiOut &out, const AxiIn &in, uint64_t now);
    void hold(const AxiOut &out, const AxiIn &in);
    void check_burst(const AxiAddress &address, const char *what, uint64_t now);
    void check_read(const AxiIn &in, uint64_t now);
    void check_response(const AxiIn &in, uint64_t now);
    void take_address(const AxiAddress &address, uint64_t now);
    void take_data(const AxiOut &out, uint64_t now);
    void check_last(bool last, const Write &write, uint64_t now);

    unsigned index = 0;
    uint32_t beat_bytes = 8, size_code = 3, ids = IDS;
    bool waits = false;                 // something is valid and not yet accepted
    uint32_t open = 0;                  // bursts outstanding
    Ring<uint16_t, DEEP> reads[IDS];    // beats that are left
    Ring<Write, IDS> writes;            // whose data are not complete, in the order of their addresses
    Ring<uint16_t, IDS> early;          // beats of bursts whose data came before their address
    uint16_t sent = 0;                  // beats of the burst that is being written
    uint8_t complete[IDS] = {};         // writes of an id that wait for their response only
    AxiOut held_out{};                  // what must stay: valid means that it was not accepted
    AxiIn held_in{};
};

class LiteChecker {
public:
    void step(const LiteOut &out, const LiteIn &in, uint64_t now) {
        if (in.awvalid | in.wvalid | in.arvalid | out.bvalid | out.rvalid | waits)
            active_step(out, in, now);
    }

    Failure failure;

private:
    void active_step(const LiteOut &out, const LiteIn &in, uint64_t now);
    void check_held(const LiteOut &out, const LiteIn &in, uint64_t now);

    bool waits = false;
    uint64_t addresses = 0, data = 0, responses = 0, requests = 0, answers = 0;     // handshakes of each channel
    LiteOut held_out{};
    LiteIn held_in{};
};

}  // namespace fgpu
