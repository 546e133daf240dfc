// The ports of an FGPU as plain structures, and what passes between the test bench and Python.
//
// sim/testbench/abi.py mirrors every structure with ctypes; fgpu_abi_sizes() lets it check the sizes.

#pragma once

#include <cstdint>

namespace fgpu {

constexpr unsigned PORTS = 4;           // most AXI4 ports
constexpr unsigned COMPUTE_UNITS = 8;   // most compute units
constexpr unsigned WAVEFRONTS = 8;      // wavefronts of a compute unit
constexpr unsigned BUCKETS = 8;         // kinds of cycles of a compute unit
constexpr unsigned EVENTS = 64;         // kinds of cache events
constexpr unsigned IDS = 64;            // AXI identifiers
constexpr unsigned LANES = 8;           // processing elements of a compute unit, and phases of a wavefront

// -- what the hardware drives -------------------------------------------------------------------

struct AxiAddress {     // the AW or AR channel
    uint32_t addr;
    uint8_t id, len, size, burst;
    uint8_t valid;
};

struct AxiOut {
    uint64_t wdata;
    AxiAddress aw, ar;
    uint8_t wstrb, wlast, wvalid;
    uint8_t bready, rready;
};

struct LiteOut {
    uint32_t rdata;
    uint8_t awready, wready, bresp, bvalid, arready, rresp, rvalid;
};

struct ProbeOut {       // of one compute unit
    uint16_t pcs[WAVEFRONTS];
    uint32_t states;    // three bits for each wavefront
    uint8_t bucket, issue, lanes;
};

struct AccessOut {      // of one compute unit: fgpu/probe.py says what
    uint32_t addresses[LANES];
    uint32_t offsets[3];
    uint16_t pc;
    uint8_t valid, load, atomic, width, wavefront, number, phase, lanes, starts;
};

struct PortsOut {
    AxiOut axi[PORTS];
    uint64_t events;    // one bit for each kind of cache event
    ProbeOut probe[COMPUTE_UNITS];
    AccessOut access[COMPUTE_UNITS];
    LiteOut lite;
    uint16_t status;
};

// -- what the test bench drives -----------------------------------------------------------------

struct AxiIn {
    uint64_t rdata;
    uint8_t awready, wready, arready;
    uint8_t bid, bresp, bvalid;
    uint8_t rid, rresp, rlast, rvalid;
};

struct LiteIn {
    uint32_t wdata;
    uint16_t awaddr, araddr;
    uint8_t awvalid, wstrb, wvalid, bready, arvalid, rready;
};

struct PortsIn {
    AxiIn axi[PORTS];
    LiteIn lite;
};

// -- what Python hands over ---------------------------------------------------------------------

struct Range {
    uint32_t least, greatest;
};

struct Timing {         // MemoryTiming of sim/engine.py
    Range read_latency, write_latency, pause_cycles;
    uint32_t interleave, reorder;
    uint64_t pause_threshold;   // pause_probability of 2**53: no floating point here
    uint64_t seed;
};

struct BenchConfig {
    uint8_t *memory;
    uint64_t base, size;
    uint32_t ports, beat_bytes, ids, compute_units;
    Timing timing;
};

struct AddressRange {   // from first up to, but not including, end
    uint64_t first, end;
};

enum Check : uint32_t { CHECK_NOTHING, CHECK_ALIGNMENT, CHECK_ALL };    // of the accesses of kernels

struct HostOp {
    uint32_t kind;      // Op
    uint32_t address;
    uint32_t data;      // to write, or where a read puts its answer
};

// OP_WAIT: data is a bit of the status (of several, all are waited for at each); OP_PAUSE: data is a number of cycles.
enum Op : uint32_t { OP_WRITE, OP_READ, OP_START, OP_WAIT, OP_PAUSE };

// -- and what it gets back ----------------------------------------------------------------------

enum Status : uint32_t { RUNNING, DONE, PROTOCOL_ERROR, TIMEOUT, REFUSED_ACCESS };

struct PortCounters {
    uint64_t read_bursts, read_beats, read_bytes, write_bursts, write_beats, write_bytes;
};

struct UnitCounters {
    uint64_t buckets[BUCKETS];
    uint64_t instructions, work_item_instructions;
    uint64_t wavefront_cycles;  // the sum of the wavefronts that were there in each cycle
};

struct RefusedAccess {
    uint32_t address, pc;
    uint32_t item;          // number of the work-item in its work-group
    uint32_t offsets[3];    // of the work-group
    uint32_t misaligned;
    uint32_t happened;
};

struct Result {
    uint32_t status;
    uint32_t padding;
    uint64_t now;       // cycles since the bench was created
    uint64_t cycles;    // of the launch; until now if it still runs
    PortCounters port[PORTS];
    UnitCounters unit[COMPUTE_UNITS];
    uint64_t events[EVENTS];
    ProbeOut probe[COMPUTE_UNITS];  // of the last cycle, when the launch failed
    RefusedAccess refused;          // when the status is REFUSED_ACCESS
    char message[256];      // what failed; or, when DONE, the first burst ever where no memory is
};

}  // namespace fgpu
