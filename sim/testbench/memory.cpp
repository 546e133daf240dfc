#include "memory.h"

#include <cstdio>
#include <cstring>

namespace fgpu {

using ull = unsigned long long;

constexpr uint8_t OKAY = 0, SLVERR = 2, DECERR = 3;     // AXI responses

void MemoryPort::configure(const BenchConfig &config, unsigned port) {
    memory = config.memory;
    base = config.base;
    size = config.size;
    beat_bytes = config.beat_bytes;
    index = port;
    timing = config.timing;
    random = Random(timing.seed * PORTS + port);
    errors = Random(~(timing.seed * PORTS + port));
}

void MemoryPort::reset() {
    reading = writing = responding = 0;
    current = -1;
    ar_since = aw_since = 0;
    order_head = order_count = 0;
}

// -- bursts -------------------------------------------------------------------------------------

void MemoryPort::begin(Burst &burst, const AxiAddress &a, const char *what, uint64_t now) {
    const uint32_t bytes = (a.len + 1u) * beat_bytes;
    burst.address = a.addr;
    burst.beats = a.len + 1u;
    burst.first = a.addr;
    burst.end = burst.first + bytes;
    burst.mapped = burst.first >= base && burst.end <= base + size;
    if (!burst.mapped && !*unmapped)
        std::snprintf(unmapped, sizeof unmapped, "%s of %u bytes at 0x%08X (AXI port %u, id %u, cycle %llu) is "
                      "outside memory, 0x%08llX to 0x%08llX", what, bytes, unsigned(a.addr), index, a.id, ull(now),
                      ull(base), ull(base + size - 1));
}

// AXI orders nothing between a read and a write to the same place, even with the same id: the master has
// to wait for the end of the first. Real memories show such bugs now and then, this one always.
void MemoryPort::check_hazard(const Burst &burst, uint64_t others, const Burst *bursts, const char *what,
                              uint64_t now) {
    for (; others; others &= others - 1) {
        const Burst &other = bursts[__builtin_ctzll(others)];
        if (burst.first < other.end && other.first < burst.end)
            failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: %s at 0x%08X is not yet complete",
                        index, ull(now), what, unsigned(other.first));
    }
}

// -- one cycle ----------------------------------------------------------------------------------

void MemoryPort::active_step(const AxiOut &out, AxiIn &in, uint64_t now) {
    const uint64_t next = now + 1;
    if (in.rvalid && out.rready) {
        in.rvalid = 0;
        counters.read_beats++;
        moved = now;
        counters.read_bytes += beat_bytes;
        if (in.rlast) {
            reading &= ~(uint64_t(1) << in.rid);
            current = -1;
        }
    }
    if (in.bvalid && out.bready) {
        in.bvalid = 0;
        responding &= ~(uint64_t(1) << in.bid);
        writing &= ~(uint64_t(1) << in.bid);
    }
    if (out.wvalid && in.wready)
        take_beat(out, now);

    if (out.ar.valid && in.arready) {
        in.arready = 0;
        accept_read(out.ar, now);
    } else {
        in.arready = ready_for(ar_since, out.ar.valid, reading >> (out.ar.id & 63) & 1, now);
    }
    if (out.aw.valid && in.awready) {
        in.awready = 0;
        accept_write(out.aw, now);
    } else {
        in.awready = ready_for(aw_since, out.aw.valid, writing >> (out.aw.id & 63) & 1, now);
    }

    in.wready = order_count != 0 && writes[order[order_head]].ready_at <= next;
    if (!in.rvalid && reading)
        offer_beat(in, next);
    if (!in.bvalid && responding)
        offer_response(in, next);
}

// Whether an address that is valid in this cycle is accepted in the next.
bool MemoryPort::ready_for(uint64_t &since, bool valid, bool busy, uint64_t now) {
    if (!valid) {
        since = 0;
        return false;
    }
    if (since == 0)
        since = now + pause();
    if (busy || now < since)
        return false;
    since = 0;
    return true;
}

void MemoryPort::accept_read(const AxiAddress &a, uint64_t now) {
    Burst &burst = reads[a.id];
    burst.ready_at = now + 1 + random.in(timing.read_latency) + pause();
    begin(burst, a, "read", now);
    check_hazard(burst, writing, writes, "a read begins, but the write", now);
    reading |= uint64_t(1) << a.id;
    counters.read_bursts++;
}

void MemoryPort::accept_write(const AxiAddress &a, uint64_t now) {
    Burst &burst = writes[a.id];
    burst.ready_at = now + 1 + pause();
    begin(burst, a, "write", now);
    burst.fails = burst.mapped && errors.chance(write_error);
    check_hazard(burst, reading, reads, "a write begins, but the read", now);
    check_hazard(burst, writing, writes, "a write begins, but the write", now);
    writing |= uint64_t(1) << a.id;
    order[(order_head + order_count++) % IDS] = a.id;
    counters.write_bursts++;
}

void MemoryPort::take_beat(const AxiOut &out, uint64_t now) {
    const unsigned id = order[order_head];
    Burst &burst = writes[id];
    const bool kept = burst.mapped && !(burst.fails && errors.chance(uint64_t(1) << 52));
    if (kept && out.wstrb == (1u << beat_bytes) - 1) {
        std::memcpy(memory + (burst.address - base), &out.wdata, beat_bytes);
        counters.write_bytes += beat_bytes;
    } else if (kept) {
        for (unsigned i = 0; i < beat_bytes; i++)
            if (out.wstrb >> i & 1) {
                memory[burst.address - base + i] = uint8_t(out.wdata >> 8 * i);
                counters.write_bytes++;
            }
    }
    counters.write_beats++;
    moved = now;
    burst.address += beat_bytes;
    burst.beats--;
    if (burst.beats) {
        burst.ready_at = now + 1 + pause();
        return;
    }
    burst.ready_at = now + 2 + random.in(timing.write_latency);
    responding |= uint64_t(1) << id;
    order_head = (order_head + 1) % IDS;
    order_count--;
}

// -- answers ------------------------------------------------------------------------------------

uint64_t MemoryPort::eligible(uint64_t mask, const Burst *bursts, uint64_t next) const {
    uint64_t found = 0;
    for (; mask; mask &= mask - 1) {
        const unsigned id = unsigned(__builtin_ctzll(mask));
        found |= uint64_t(bursts[id].ready_at <= next) << id;
    }
    return found;
}

void MemoryPort::offer_beat(AxiIn &in, uint64_t next) {
    if (current < 0 || timing.interleave) {
        const uint64_t ready = eligible(reading, reads, next);
        if (!ready)
            return;
        current = int(timing.interleave | timing.reorder ? random.bit_of(ready) : __builtin_ctzll(ready));
    }
    Burst &burst = reads[current];
    if (burst.ready_at > next)
        return;
    in.rdata = 0;
    if (burst.mapped)
        std::memcpy(&in.rdata, memory + (burst.address - base), beat_bytes);
    const bool fails = burst.mapped && errors.chance(read_error);
    if (fails)
        in.rdata = errors.next() >> (64 - 8 * beat_bytes);
    in.rvalid = 1;
    in.rid = uint8_t(current);
    in.rresp = !burst.mapped ? DECERR : fails ? SLVERR : OKAY;
    in.rlast = --burst.beats == 0;
    burst.address += beat_bytes;
    burst.ready_at = next + 1 + pause();
}

void MemoryPort::offer_response(AxiIn &in, uint64_t next) {
    const uint64_t ready = eligible(responding, writes, next);
    if (!ready)
        return;
    in.bid = uint8_t(timing.reorder ? random.bit_of(ready) : unsigned(__builtin_ctzll(ready)));
    in.bresp = !writes[in.bid].mapped ? DECERR : writes[in.bid].fails ? SLVERR : OKAY;
    in.bvalid = 1;
}

}  // namespace fgpu
