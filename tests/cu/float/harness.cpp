// Drives a compiled lane: one operation a cycle, and all words against the C compiler's own floats.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "Vlane.h"

double sc_time_stamp() { return 0; }

namespace {

float number(uint32_t word) {
    float value;
    std::memcpy(&value, &word, 4);
    return value;
}

uint32_t word(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return std::isnan(value) ? 0x7fc00000u : bits;
}

template <typename Integer>
uint32_t truncated(float value, double least, double greatest) {
    if (std::isnan(value)) return 0;
    const double exact = value;
    return static_cast<uint32_t>(static_cast<Integer>(exact < least ? least : exact > greatest ? greatest : exact));
}

uint32_t expected(unsigned operation, uint32_t a) {
    switch (operation) {
        case 0x3: return word(static_cast<float>(a));
        case 0x4: return word(std::sqrt(number(a)));
        case 0x5: return truncated<int32_t>(number(a), -2147483648.0, 2147483647.0);
        case 0x6: return truncated<uint32_t>(number(a), 0.0, 4294967295.0);
        case 0x9: return word(static_cast<float>(static_cast<int32_t>(a)));
        default: return 0xdeadbeef;
    }
}

uint32_t cycle(Vlane &lane, unsigned operation, uint32_t first, uint32_t second, unsigned select) {
    lane.operation = operation;
    lane.first = first;
    lane.second = second;
    lane.select = select;
    lane.clk = 0;
    lane.eval();
    const uint32_t result = lane.result;
    lane.clk = 1;
    lane.eval();
    return result;
}

}  // namespace

extern "C" {

void *lane_create() { return new Vlane; }

void lane_destroy(void *lane) { delete static_cast<Vlane *>(lane); }

void lane_run(void *lane, uint64_t cycles, const uint8_t *operation, const uint32_t *first, const uint32_t *second,
              const uint8_t *select, uint32_t *result) {
    for (uint64_t i = 0; i < cycles; ++i)
        result[i] = cycle(*static_cast<Vlane *>(lane), operation[i], first[i], second[i], select[i]);
}

// Goes through `count` words, which 2**32 are all words, and fewer of which lie evenly among all. Returns the first
// word whose result is wrong, or 2**32.
uint64_t lane_sweep(void *lane, unsigned operation, uint64_t latency, uint64_t count) {
    const uint32_t step = 0x9e3779b1;       // odd
    uint32_t word = 0, checked = 0;
    for (uint64_t i = 0; i < count + latency; ++i, word += step) {
        const uint32_t result = cycle(*static_cast<Vlane *>(lane), operation, word, ~word, operation);
        if (i < latency) continue;
        if (result != expected(operation, checked)) return checked;
        checked += step;
    }
    return uint64_t(1) << 32;
}

}
