#include "host.h"

namespace fgpu {

using ull = unsigned long long;

constexpr uint64_t PATIENCE = 10000;    // cycles for which a control access may take no step forward

void Host::begin(HostOp *operations, uint32_t operation_count, uint64_t cycle_limit, uint64_t now) {
    ops = operations;
    count = operation_count;
    position = 0;
    limit = cycle_limit;
    since = now;
    begun = started = finished = false;
    awaited = cleared = 0;
    for (uint32_t i = 0; i < count; i++)
        if (ops[i].kind == OP_WAIT)
            awaited |= uint16_t(1u << ops[i].data);
}

// A status bit still set by the previous launch does not count: it has to be cleared first.
void Host::watch(uint16_t status, uint64_t now) {
    cleared |= uint16_t(~status);
    if ((status & cleared & awaited) == awaited) {
        finished = true;
        finish = now;
    }
}

void Host::access(const LiteOut &out, LiteIn &in, uint64_t now) {
    HostOp &op = ops[position];
    switch (op.kind) {
    case OP_WRITE:
    case OP_START:
        write(out, in, op, now);
        break;
    case OP_READ:
        read(out, in, op, now);
        break;
    case OP_PAUSE:
        if (now - since >= op.data)
            next_op(now);
        return;
    default:
        if (finished)
            next_op(now);
        return;     // the watchdog guards this wait
    }
    if (now - since > PATIENCE)
        failure.set(PROTOCOL_ERROR, "cycle %llu: no answer to the control %s at 0x%04X for %llu cycles", ull(now),
                    op.kind == OP_READ ? "read" : "write", unsigned(op.address), ull(PATIENCE));
}

void Host::write(const LiteOut &out, LiteIn &in, HostOp &op, uint64_t now) {
    if (!begun) {
        begun = true;
        in.awvalid = in.wvalid = in.bready = 1;
        in.awaddr = op.address;
        in.wdata = op.data;
        in.wstrb = 0xF;
        return;
    }
    if (in.awvalid | in.wvalid) {
        if (in.awvalid && out.awready)
            in.awvalid = 0;
        if (in.wvalid && out.wready)
            in.wvalid = 0;
        if (!(in.awvalid | in.wvalid) && op.kind == OP_START) {
            started = true;
            start = now;
        }
    } else if (out.bvalid) {
        if (out.bresp)
            failure.set(PROTOCOL_ERROR, "cycle %llu: the control write at 0x%04X was answered with error %u",
                        ull(now), unsigned(op.address), out.bresp);
        in.bready = 0;
        next_op(now);
        if (position < count && ops[position].kind <= OP_START)
            access(out, in, now);   // raises the next one's valid signals at once
    }
}

void Host::read(const LiteOut &out, LiteIn &in, HostOp &op, uint64_t now) {
    if (!begun) {
        begun = true;
        in.arvalid = in.rready = 1;
        in.araddr = op.address;
        return;
    }
    if (in.arvalid) {
        if (out.arready)
            in.arvalid = 0;
    } else if (out.rvalid) {
        if (out.rresp)
            failure.set(PROTOCOL_ERROR, "cycle %llu: the control read at 0x%04X was answered with error %u",
                        ull(now), unsigned(op.address), out.rresp);
        op.data = out.rdata;
        in.rready = 0;
        next_op(now);
    }
}

}  // namespace fgpu
