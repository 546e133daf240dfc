// A model in one piece, as `Split` in split.h is one in parts.

#pragma once

#include <cstdint>

#include "verilated.h"

namespace fgpu {

template <typename Core> class Whole {
public:
    explicit Whole(VerilatedContext *context) : core(context, "fgpu") {}

    void rise() {
        core.clk = 1;
        core.eval();
    }

    void fall() {
        core.clk = 0;
        core.eval();
    }

    void final() { core.final(); }

    uint64_t rested() const { return 0; }

    Core core;
    static constexpr bool settled = true;
};

}  // namespace fgpu
