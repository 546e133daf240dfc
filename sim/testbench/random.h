// A random number generator of our own, so that every compiler and both engines draw equal numbers.

#pragma once

#include "abi.h"

namespace fgpu {

// SplitMix64 (Steele, Lea and Flood, 2014).
class Random {
public:
    explicit Random(uint64_t seed = 0) : state(seed) {}

    uint64_t next() {
        uint64_t z = state += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

    // A number of the range, both ends included. A range of one number draws nothing.
    uint32_t in(const Range &range) {
        if (range.greatest <= range.least)
            return range.least;
        return range.least + uint32_t(next() % (uint64_t(range.greatest) - range.least + 1));
    }

    // True with a chance of threshold / 2**53.
    bool chance(uint64_t threshold) { return threshold != 0 && (next() >> 11) < threshold; }

    // One of the bits set in mask, which is not 0.
    unsigned bit_of(uint64_t mask) {
        for (uint64_t skip = next() % uint64_t(__builtin_popcountll(mask)); skip != 0; skip--)
            mask &= mask - 1;
        return unsigned(__builtin_ctzll(mask));
    }

private:
    uint64_t state;
};

}  // namespace fgpu
