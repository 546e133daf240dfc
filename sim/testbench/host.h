// The host processor: AXI4-Lite accesses one at a time, and waiting for a kernel.

#pragma once

#include "failure.h"
#include "abi.h"

namespace fgpu {

class Host {
public:
    // Begin a list of operations, which the caller keeps until the last has finished.
    void begin(HostOp *operations, uint32_t count, uint64_t limit, uint64_t now);

    // One cycle. Nothing is driven that depends on `out` in the same cycle.
    void step(const LiteOut &out, uint16_t status, LiteIn &in, uint64_t now) {
        if (started && !finished)
            watch(status, now);
        if (position < count)
            access(out, in, now);
    }

    bool done() const { return position >= count; }
    bool counting() const { return started && !finished; }
    uint64_t start_cycle() const { return start; }
    uint64_t cycles(uint64_t now) const { return !started ? 0 : (finished ? finish : now) - start; }
    bool late(uint64_t now) const { return started && !finished && now - start >= limit; }

    Failure failure;

private:
    void watch(uint16_t status, uint64_t now);
    void access(const LiteOut &out, LiteIn &in, uint64_t now);
    void write(const LiteOut &out, LiteIn &in, HostOp &op, uint64_t now);
    void read(const LiteOut &out, LiteIn &in, HostOp &op, uint64_t now);
    void next_op(uint64_t now) {
        position++;
        begun = false;
        since = now;
    }

    HostOp *ops = nullptr;
    uint32_t position = 0, count = 0;
    uint64_t limit = 0;
    uint64_t since = 0;             // cycle in which the current operation began
    bool begun = false;             // the current operation's valid signals have been raised
    bool started = false, finished = false;
    uint16_t awaited = 0, cleared = 0;  // bits of the status register: of this launch's kernels; seen low since the start
    uint64_t start = 0, finish = 0;
};

}  // namespace fgpu
