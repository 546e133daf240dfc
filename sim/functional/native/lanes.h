// The 64 words of a register, a wavefront's, as four vectors; what instructions compute on them.
#pragma once
#include "array.h"
#include "job.h"

namespace fgpu {

constexpr unsigned WIDTH = 16;  // lanes of a vector
#define EACH_PART(i) _Pragma("GCC unroll 4") for (unsigned i = 0; i < LANES / WIDTH; i++)
typedef uint32_t Words __attribute__((vector_size(4 * WIDTH)));
typedef int32_t Signed __attribute__((vector_size(4 * WIDTH)));
typedef float Floats __attribute__((vector_size(4 * WIDTH)));

struct alignas(64) Lanes {
    Words part[LANES / WIDTH];

    uint32_t *words() { return reinterpret_cast<uint32_t *>(part); }
    const uint32_t *words() const { return reinterpret_cast<const uint32_t *>(part); }
};

static inline Words all(uint32_t word) { return Words{} + word; }
static inline Words truth(Signed condition) { return Words(condition) & 1; }
static inline Words choose(Words mask, Words there, Words elsewhere) { return (there & mask) | (elsewhere & ~mask); }

constexpr Words BITS = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};

// Ones in the lanes of the set bits.
static inline Lanes expanded(uint64_t mask) {
    Lanes lanes;
    EACH_PART(i)
        lanes.part[i] = Words((all(uint32_t(mask >> WIDTH * i) & 0xFFFF) & BITS) != 0);
    return lanes;
}

// The inverse.
static inline uint64_t packed(const Lanes &lanes) {
    Words low = (lanes.part[0] & BITS) | (lanes.part[1] & BITS) << WIDTH;
    Words high = (lanes.part[2] & BITS) | (lanes.part[3] & BITS) << WIDTH;
    uint32_t mask[2] = {0, 0};
    for (unsigned i = 0; i < WIDTH; i++) mask[0] |= low[i], mask[1] |= high[i];
    return mask[0] | uint64_t(mask[1]) << 32;
}

// Which lanes are enabled, and a bit for each part in which some are.
struct Mask {
    Lanes lanes;
    uint32_t parts;

    Mask() = default;
    explicit Mask(uint64_t enabled) : lanes(expanded(enabled)), parts(0) {
        EACH_PART(i) parts |= uint32_t((enabled >> WIDTH * i & 0xFFFF) != 0) << i;
    }
};

// Writes what f makes of a part, by its index, to the enabled lanes.
template <bool Masked, typename F> static inline void write(Lanes &rd, const Mask &mask, F f) {
    if (Masked) {
        for (uint32_t left = mask.parts; left; left &= left - 1) {
            unsigned i = lowest_bit(left);
            rd.part[i] = choose(mask.lanes.part[i], f(i), rd.part[i]);
        }
    } else {
        EACH_PART(i) rd.part[i] = f(i);
    }
}

// What f makes of rs, rt and the old rd.
template <bool Masked, typename F>
static inline void compute(Lanes &rd, const Lanes &rs, const Lanes &rt, const Mask &mask, F f) {
    write<Masked>(rd, mask, [&](unsigned i) { return f(rs.part[i], rt.part[i], rd.part[i]); });
}

// The same with one word instead of rt.
template <bool Masked, typename F>
static inline void compute(Lanes &rd, const Lanes &rs, uint32_t second, const Mask &mask, F f) {
    Words word = all(second);
    write<Masked>(rd, mask, [&](unsigned i) { return f(rs.part[i], word, rd.part[i]); });
}

template <bool Masked> static inline void put(Lanes &rd, const Lanes &value, const Mask &mask) {
    write<Masked>(rd, mask, [&](unsigned i) { return value.part[i]; });
}

// -- floating point: IEEE 754 binary32, rounded to nearest even, with one NaN ---------------------

constexpr uint32_t SIGN = 0x80000000, EXPONENT = 0x7F800000, CANONICAL_NAN = 0x7FC00000, LEAST_NORMAL = 0x00800000;

static inline Words flushed(Words x) { return x & ~(Words((x & EXPONENT) == 0) & ~SIGN); }
static inline Words canonical(Floats x) { return choose(Words(x != x), all(CANONICAL_NAN), Words(x)); }

// Where a result is the least normal number, whether it is one before it is rounded to what subnormals have.
template <typename F> static Words flushed_before_rounding(Words result, Words a, Words b, F f) {
    constexpr double tiny = 0x1p-126 * (1 - 0x1p-25);
    Floats x = Floats(a), y = Floats(b);
    for (unsigned i = 0; i < WIDTH; i++)
        if ((result[i] & ~SIGN) == LEAST_NORMAL && __builtin_fabs(f(double(x[i]), double(y[i]))) < tiny) result[i] &= SIGN;
    return result;
}

template <typename F> static inline Words arithmetic(Words a, Words b, bool subnormals, F f) {
    if (subnormals) return canonical(f(Floats(a), Floats(b)));
    a = flushed(a), b = flushed(b);
    Words result = canonical(f(Floats(a), Floats(b)));
    uint32_t least = 0;
    for (unsigned i = 0; i < WIDTH; i++) least |= (result[i] & ~SIGN) == LEAST_NORMAL;
    if (least) result = flushed_before_rounding(result, a, b, f);
    return flushed(result);
}

struct Root {
    double operator()(double x, double) const { return __builtin_sqrt(x); }
    Floats operator()(Floats x, Floats) const {
        for (unsigned i = 0; i < WIDTH; i++) x[i] = __builtin_sqrtf(x[i]);
        return x;
    }
};

// The nearest integers towards zero that there are; 0 for a NaN.
static inline Words to_signed(Words words) {
    Floats x = Floats(words);
    Words result;
    for (unsigned i = 0; i < WIDTH; i++)
        result[i] = x[i] != x[i] ? 0 : x[i] >= 0x1p31f ? 0x7FFFFFFF : x[i] < -0x1p31f ? SIGN : uint32_t(int32_t(x[i]));
    return result;
}

static inline Words to_unsigned(Words words) {
    Floats x = Floats(words);
    Words result;
    for (unsigned i = 0; i < WIDTH; i++)
        result[i] = !(x[i] > 0) ? 0 : x[i] >= 0x1p32f ? 0xFFFFFFFF : uint32_t(x[i]);
    return result;
}

}
