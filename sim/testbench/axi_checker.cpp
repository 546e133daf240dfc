#include "axi_checker.h"

namespace fgpu {

using ull = unsigned long long;

constexpr uint8_t EXOKAY = 1;   // of exclusive accesses, which nobody makes

static bool same(const AxiAddress &a, const AxiAddress &b) {
    return a.addr == b.addr && a.id == b.id && a.len == b.len && a.size == b.size && a.burst == b.burst
           && a.cache == b.cache && a.prot == b.prot;
}

// -- AXI4 ---------------------------------------------------------------------------------------

void AxiChecker::configure(const BenchConfig &config, unsigned port) {
    index = port;
    beat_bytes = config.beat_bytes;
    size_code = beat_bytes == 8 ? 3 : 2;
    ids = config.ids;
}

void AxiChecker::active_step(const AxiOut &out, const AxiIn &in, uint64_t now) {
    if (waits)
        check_held(out, in, now);
    // What waited was looked at when it came.
    const bool new_read = out.ar.valid && !held_out.ar.valid, new_write = out.aw.valid && !held_out.aw.valid;
    hold(out, in);
    // A response of this cycle answers what was accepted before it.
    if (in.rvalid)
        check_read(in, now);
    if (in.bvalid)
        check_response(in, now);
    if (new_read)
        check_burst(out.ar, "read", now);
    if (new_write)
        check_burst(out.aw, "write", now);
    if (failure)
        return;
    if (in.rvalid && out.rready) {
        if (--reads[in.rid].front() == 0) {
            reads[in.rid].pop();
            open--;
        }
    }
    if (in.bvalid && out.bready) {
        complete[in.bid]--;
        open--;
    }
    if (out.ar.valid && in.arready) {
        if (reads[out.ar.id].full())
            failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: more than %u reads with id %u are outstanding", index,
                        ull(now), DEEP, out.ar.id);
        else
            reads[out.ar.id].push(uint16_t(out.ar.len + 1));
        open++;
    }
    if (out.aw.valid && in.awready)
        take_address(out.aw, now);
    if (out.wvalid && in.wready)
        take_data(out, now);
}

// Whatever was valid without being accepted must still be there, unchanged.
void AxiChecker::check_held(const AxiOut &out, const AxiIn &in, uint64_t now) {
    const char *changed = nullptr;
    if (held_out.ar.valid && !(out.ar.valid && same(out.ar, held_out.ar)))
        changed = "AR";
    if (held_out.aw.valid && !(out.aw.valid && same(out.aw, held_out.aw)))
        changed = "AW";
    if (held_out.wvalid && !(out.wvalid && out.wdata == held_out.wdata && out.wstrb == held_out.wstrb
                             && out.wlast == held_out.wlast))
        changed = "W";
    if (held_in.rvalid && !(in.rvalid && in.rid == held_in.rid && in.rdata == held_in.rdata
                            && in.rresp == held_in.rresp && in.rlast == held_in.rlast))
        changed = "R";
    if (held_in.bvalid && !(in.bvalid && in.bid == held_in.bid && in.bresp == held_in.bresp))
        changed = "B";
    if (changed)
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: the %s channel changed before it was accepted", index,
                    ull(now), changed);
}

void AxiChecker::hold(const AxiOut &out, const AxiIn &in) {
    const bool ar = out.ar.valid && !in.arready, aw = out.aw.valid && !in.awready, w = out.wvalid && !in.wready;
    const bool r = in.rvalid && !out.rready, b = in.bvalid && !out.bready;
    waits = ar | aw | w | r | b;
    if (waits) {
        held_out = out;
        held_in = in;
    }
    held_out.ar.valid = ar;
    held_out.aw.valid = aw;
    held_out.wvalid = w;
    held_in.rvalid = r;
    held_in.bvalid = b;
}

void AxiChecker::check_burst(const AxiAddress &a, const char *what, uint64_t now) {
    const char *wrong = nullptr;
    if (a.burst != 1)
        wrong = "is not an INCR burst";
    else if (a.size != size_code)
        wrong = "has beats that are not as wide as the bus";
    else if (a.addr % beat_bytes)
        wrong = "is not aligned to its beats";
    else if ((a.addr & 0xFFF) + (a.len + 1u) * beat_bytes > 0x1000)
        wrong = "crosses a 4 KiB boundary";
    else if (a.id >= ids)
        wrong = "has an id out of range";
    if (wrong)
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: %s of %u beats at 0x%08X with id %u, size %u, "
                    "burst type %u %s", index, ull(now), what, a.len + 1u, unsigned(a.addr), a.id, a.size, a.burst,
                    wrong);
}

void AxiChecker::check_read(const AxiIn &in, uint64_t now) {
    if (in.rid >= ids || reads[in.rid].empty())
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: a read beat with id %u answers no read", index, ull(now),
                    in.rid);
    else if (bool(in.rlast) != (reads[in.rid].front() == 1))
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: RLAST is %u, but %u beats of the read with id %u are left",
                    index, ull(now), in.rlast, reads[in.rid].front() - 1u, in.rid);
    else if (in.rresp == EXOKAY)
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: RRESP is EXOKAY", index, ull(now));
}

void AxiChecker::check_response(const AxiIn &in, uint64_t now) {
    if (in.bid >= ids || !complete[in.bid])
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: a write response with id %u answers no complete write",
                    index, ull(now), in.bid);
    else if (in.bresp == EXOKAY)
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: BRESP is EXOKAY", index, ull(now));
}

void AxiChecker::take_address(const AxiAddress &a, uint64_t now) {
    const Write write{a.id, uint16_t(a.len + 1)};
    open++;
    if (!early.empty()) {
        if (early.front() != write.beats)
            failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: %u beats came before their address, which is of %u",
                        index, ull(now), early.front(), write.beats);
        early.pop();
        complete[a.id]++;
        return;
    }
    if (writes.full()) {
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: more than %u writes wait for data", index, ull(now), IDS);
        return;
    }
    if (writes.empty() && sent >= write.beats)
        check_last(false, write, now);
    writes.push(write);
}

void AxiChecker::take_data(const AxiOut &out, uint64_t now) {
    sent++;
    if (beat_bytes < 8 && out.wstrb >> beat_bytes)
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: WSTRB is 0x%02X", index, ull(now), out.wstrb);
    if (!writes.empty())
        check_last(out.wlast, writes.front(), now);
    if (!out.wlast)
        return;
    if (!writes.empty()) {
        complete[writes.front().id]++;
        writes.pop();
    } else if (early.full()) {
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: more than %u writes wait for an address", index, ull(now),
                    IDS);
    } else {
        early.push(sent);
    }
    sent = 0;
}

void AxiChecker::check_last(bool last, const Write &write, uint64_t now) {
    if (last != (sent == write.beats))
        failure.set(PROTOCOL_ERROR, "AXI port %u, cycle %llu: WLAST is %u, but %d beats of the write with id %u are left",
                    index, ull(now), last, int(write.beats) - int(sent), write.id);
}

// -- AXI4-Lite ----------------------------------------------------------------------------------

void LiteChecker::active_step(const LiteOut &out, const LiteIn &in, uint64_t now) {
    check_held(out, in, now);
    if (out.bvalid && (responses >= addresses || responses >= data))
        failure.set(PROTOCOL_ERROR, "cycle %llu: answer to a control write before it was accepted", ull(now));
    if (out.rvalid && answers >= requests)
        failure.set(PROTOCOL_ERROR, "cycle %llu: answer to a control read before it was accepted", ull(now));
    if ((out.bvalid && out.bresp == EXOKAY) || (out.rvalid && out.rresp == EXOKAY))
        failure.set(PROTOCOL_ERROR, "cycle %llu: the control port answers EXOKAY", ull(now));
    addresses += in.awvalid && out.awready;
    data += in.wvalid && out.wready;
    requests += in.arvalid && out.arready;
    responses += out.bvalid && in.bready;
    answers += out.rvalid && in.rready;
}

void LiteChecker::check_held(const LiteOut &out, const LiteIn &in, uint64_t now) {
    const char *changed = nullptr;
    if (held_in.awvalid && !(in.awvalid && in.awaddr == held_in.awaddr && in.awprot == held_in.awprot))
        changed = "AW";
    if (held_in.wvalid && !(in.wvalid && in.wdata == held_in.wdata && in.wstrb == held_in.wstrb))
        changed = "W";
    if (held_in.arvalid && !(in.arvalid && in.araddr == held_in.araddr && in.arprot == held_in.arprot))
        changed = "AR";
    if (held_out.bvalid && !(out.bvalid && out.bresp == held_out.bresp))
        changed = "B";
    if (held_out.rvalid && !(out.rvalid && out.rdata == held_out.rdata && out.rresp == held_out.rresp))
        changed = "R";
    if (changed)
        failure.set(PROTOCOL_ERROR, "cycle %llu: the control port's %s channel changed before it was accepted",
                    ull(now), changed);
    held_in = in;
    held_out = out;
    held_in.awvalid = in.awvalid && !out.awready;
    held_in.wvalid = in.wvalid && !out.wready;
    held_in.arvalid = in.arvalid && !out.arready;
    held_out.bvalid = out.bvalid && !in.bready;
    held_out.rvalid = out.rvalid && !in.rready;
    waits = held_in.awvalid | held_in.wvalid | held_in.arvalid | held_out.bvalid | held_out.rvalid;
}

}  // namespace fgpu
