#include "memory.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace fgpu {

using ull = unsigned long long;

constexpr uint8_t OKAY = 0, DECERR = 3;     // AXI responses

void Failure::set(Status kind, const char *format, ...) {
    if (*this)
        return;     // what follows from the first failure would only confuse
    status = kind;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
}

void MemoryPort::configure(const BenchConfig &config, unsigned port) {
    memory = config.memory;
    base = config.base;
    size = config.size;
    beat_bytes = config.beat_bytes;
    size_code = beat_bytes == 8 ? 3 : 2;
    ids = config.ids;
    index = port;
    timing = config.timing;
    random = Random(timing.seed * PORTS + port);
}

// -- checks -------------------------------------------------------------------------------------

static bool same(const AxiAddress &a, const AxiAddress &b) {
    return a.addr == b.addr && a.id == b.id && a.len == b.len && a.size == b.size && a.burst == b.burst;
}

// Whatever was valid without being accepted must still be there, unchanged.
void MemoryPort::check_held(const AxiOut &out, uint64_t now) {
    const char *changed = nullptr;
    if (held.ar.valid && !(out.ar.valid && same(out.ar, held.ar)))
        changed = "AR";
    if (held.aw.valid && !(out.aw.valid && same(out.aw, held.aw)))
        changed = "AW";
    if (held.wvalid && !(out.wvalid && out.wdata == held.wdata && out.wstrb == held.wstrb
                         && out.wlast == held.wlast))
        changed = "W";
    if (changed)
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: the %s channel changed before it was accepted",
                    index, ull(now), changed);
}

void MemoryPort::hold(const AxiOut &out, const AxiIn &in) {
    held.ar.valid = out.ar.valid && !in.arready;
    held.aw.valid = out.aw.valid && !in.awready;
    held.wvalid = out.wvalid && !in.wready;
    if (held.ar.valid)
        held.ar = out.ar;
    if (held.aw.valid)
        held.aw = out.aw;
    if (held.wvalid) {
        held.wdata = out.wdata;
        held.wstrb = out.wstrb;
        held.wlast = out.wlast;
    }
}

bool MemoryPort::check_burst(const AxiAddress &a, const char *what, uint64_t now) {
    const uint32_t bytes = (a.len + 1u) * beat_bytes;
    const char *wrong = nullptr;
    if (a.burst != 1)
        wrong = "is not an INCR burst";
    else if (a.size != size_code)
        wrong = "has beats that are not as wide as the bus";
    else if (a.addr % beat_bytes)
        wrong = "is not aligned to its beats";
    else if ((a.addr & 0xFFF) + bytes > 0x1000)
        wrong = "crosses a 4 KiB boundary";
    else if (a.id >= ids)
        wrong = "has an id out of range";
    if (wrong) {
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: %s of %u beats at 0x%08X with id %u, size %u, "
                    "burst type %u %s", index, ull(now), what, a.len + 1u, unsigned(a.addr), a.id, a.size,
                    a.burst, wrong);
        return false;
    }
    return true;
}

void MemoryPort::begin(Burst &burst, const AxiAddress &a, const char *what, uint64_t now) {
    const uint32_t bytes = (a.len + 1u) * beat_bytes;
    burst.address = burst.first = a.addr;
    burst.beats = a.len + 1u;
    burst.end = a.addr + bytes;
    burst.mapped = a.addr >= base && a.addr + uint64_t(bytes) <= base + size;
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
    check_held(out, now);
    hold(out, in);

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
    if (!check_burst(a, "read", now))
        return;
    Burst &burst = reads[a.id];
    burst.ready_at = now + 1 + random.in(timing.read_latency) + pause();
    begin(burst, a, "read", now);
    check_hazard(burst, writing, writes, "a read begins, but the write", now);
    reading |= uint64_t(1) << a.id;
    counters.read_bursts++;
}

void MemoryPort::accept_write(const AxiAddress &a, uint64_t now) {
    if (!check_burst(a, "write", now))
        return;
    Burst &burst = writes[a.id];
    burst.ready_at = now + 1 + pause();
    begin(burst, a, "write", now);
    check_hazard(burst, reading, reads, "a write begins, but the read", now);
    check_hazard(burst, writing, writes, "a write begins, but the write", now);
    writing |= uint64_t(1) << a.id;
    order[(order_head + order_count++) % IDS] = a.id;
    counters.write_bursts++;
}

void MemoryPort::take_beat(const AxiOut &out, uint64_t now) {
    const unsigned id = order[order_head];
    Burst &burst = writes[id];
    if (burst.mapped && out.wstrb == (1u << beat_bytes) - 1) {
        std::memcpy(memory + (burst.address - base), &out.wdata, beat_bytes);
        counters.write_bytes += beat_bytes;
    } else if (burst.mapped) {
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
    if (bool(out.wlast) != (burst.beats == 0))
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: WLAST is %u, but %u beats of the write with id %u "
                    "are left", index, ull(now), out.wlast, burst.beats, id);
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
    in.rvalid = 1;
    in.rid = uint8_t(current);
    in.rresp = burst.mapped ? OKAY : DECERR;
    in.rlast = --burst.beats == 0;
    burst.address += beat_bytes;
    burst.ready_at = next + 1 + pause();
}

void MemoryPort::offer_response(AxiIn &in, uint64_t next) {
    const uint64_t ready = eligible(responding, writes, next);
    if (!ready)
        return;
    in.bid = uint8_t(timing.reorder ? random.bit_of(ready) : unsigned(__builtin_ctzll(ready)));
    in.bresp = writes[in.bid].mapped ? OKAY : DECERR;
    in.bvalid = 1;
}

}  // namespace fgpu
