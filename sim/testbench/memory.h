// Global memory behind one AXI4 port, cycle by cycle (dissertation, section 5.1.1).
//
// Without random timing: an address is accepted one cycle after it is valid, one burst of each kind
// outstanding for an id; the first beat of a read follows in the next cycle and then one beat a cycle,
// one burst after the other, lowest id first; write data is taken a beat a cycle from the cycle after its
// address was; B comes two cycles after the last beat.
//
// A burst where no memory is has the same timing and is answered with DECERR.
//
// Every output is a register: it depends on what was seen at earlier clock edges only, so that the
// engines need not settle combinational paths through the bench.

#pragma once

#include "failure.h"
#include "abi.h"
#include "random.h"

namespace fgpu {

class MemoryPort {
public:
    void configure(const BenchConfig &config, unsigned index);

    // One cycle: `out` is what the port drove in cycle `now`, `in` what memory drives, in and after it.
    void step(const AxiOut &out, AxiIn &in, uint64_t now) {
        // Most cycles of most kernels leave memory alone.
        if (out.ar.valid | out.aw.valid | out.wvalid || ar_since | aw_since | reading | writing)
            active_step(out, in, now);
    }

    // Forget what is outstanding; what memory holds stays.
    void reset();

    // Chances to be answered with SLVERR, in 2**-53: of a read's beat, whose data is then anything, and of a write, of
    // whose beats each is then kept or not.
    uint64_t read_error = 0, write_error = 0;
    PortCounters counters{};
    uint64_t moved = 0;     // last cycle in which a beat passed
    Failure failure;
    char unmapped[sizeof Result::message] = {};     // the first burst where no memory is

private:
    struct Burst {
        uint64_t ready_at;  // cycle in which the next beat, or B, may be seen
        uint32_t address;
        uint32_t beats;     // left
        uint64_t first, end;
        bool mapped;
        bool fails;         // a write that is answered with SLVERR
    };

    void active_step(const AxiOut &out, AxiIn &in, uint64_t now);
    void begin(Burst &burst, const AxiAddress &address, const char *what, uint64_t now);
    void check_hazard(const Burst &burst, uint64_t others, const Burst *bursts, const char *what, uint64_t now);
    bool ready_for(uint64_t &since, bool valid, bool busy, uint64_t now);
    void accept_read(const AxiAddress &address, uint64_t now);
    void accept_write(const AxiAddress &address, uint64_t now);
    void take_beat(const AxiOut &out, uint64_t now);
    void offer_beat(AxiIn &in, uint64_t next);
    void offer_response(AxiIn &in, uint64_t next);
    uint64_t eligible(uint64_t mask, const Burst *bursts, uint64_t next) const;
    uint32_t pause() { return random.chance(timing.pause_threshold) ? random.in(timing.pause_cycles) : 0; }

    uint8_t *memory = nullptr;
    uint64_t base = 0, size = 0;
    uint32_t beat_bytes = 8;
    unsigned index = 0;
    Timing timing{};
    Random random, errors;  // of their own: errors change no timing

    uint64_t reading = 0, writing = 0;  // ids with a burst outstanding
    uint64_t responding = 0;            // ids whose last write beat has come, but whose B was not taken
    int current = -1;                   // id of the read burst that has the R channel
    uint64_t ar_since = 0, aw_since = 0;    // cycle from which a waiting address may be accepted
    uint8_t order[IDS] = {};            // ids of accepted writes in the order of their data
    unsigned order_head = 0, order_count = 0;
    Burst reads[IDS] = {}, writes[IDS] = {};
};

}  // namespace fgpu
