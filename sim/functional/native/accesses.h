// Accesses of a wavefront to memories: addresses, what they are held to, loads, stores and atomic operations.
#pragma once
#include "lanes.h"

namespace fgpu {

// A memory in which an instruction accesses: global, or the work-group's local one.
struct Memory {
    uint8_t *bytes;
    uint32_t base;      // the address of the first byte
    uint32_t wrap;      // bits of an offset that count

    uint32_t offset(uint32_t address) const { return (address - base) & wrap; }
    uint32_t word(uint32_t offset) const {
        uint32_t word;
        memcpy(&word, bytes + (offset & ~3u), 4);
        return word;
    }
    void put(uint32_t offset, uint32_t word) const { memcpy(bytes + (offset & ~3u), &word, 4); }
};

// Lanes whose addresses are the enabled ones' all have a good address, so that nothing need be masked before the end.
struct Addresses {
    Lanes lane;
    uint32_t least, greatest, bits;
    bool ascending;     // one word behind the other
};

template <bool Masked>
static inline Addresses addresses(const Step &step, const Job &job, const Lanes *registers, const Mask &mask,
                                  uint64_t enabled) {
    bool is_atomic = step.kind == kind::ATOMIC;
    const Lanes &base = registers[is_atomic ? step.rs : step.rt], &index = registers[is_atomic ? step.rt : step.rs];
    Addresses found;
    Words sum[LANES / WIDTH];
    // The immediate is 1 where there is no index, 2 where the base is a parameter.
    if (step.immediate == 2) {
        const uint32_t parameter = job.parameters[step.rt];
        EACH_PART(i) sum[i] = parameter + (index.part[i] << step.scale);
    } else {
        EACH_PART(i) sum[i] = step.immediate ? base.part[i] : base.part[i] + (index.part[i] << step.scale);
    }
    if (Masked) {
        unsigned lane = lowest_bit(enabled);
        Words first = all(sum[lane / WIDTH][lane % WIDTH]);
        EACH_PART(i) sum[i] = choose(mask.lanes.part[i], sum[i], first);
    }
    constexpr Words words = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60};
    Words least = sum[0], greatest = sum[0], bits = sum[0], differs = sum[0] ^ (words + sum[0][0]);
    found.lane.part[0] = sum[0];
    _Pragma("GCC unroll 4") for (unsigned i = 1; i < LANES / WIDTH; i++) {
        least = choose(Words(sum[i] < least), sum[i], least);
        greatest = choose(Words(sum[i] > greatest), sum[i], greatest);
        bits |= sum[i];
        differs |= sum[i] ^ (words + (sum[0][0] + 4 * WIDTH * i));
        found.lane.part[i] = sum[i];
    }
    found.least = ~0u, found.greatest = 0, found.bits = 0;
    uint32_t different = 0;
    for (unsigned i = 0; i < WIDTH; i++) {
        found.least = fgpu::least(found.least, uint32_t(least[i])), found.bits |= bits[i];
        found.greatest = fgpu::greatest(found.greatest, uint32_t(greatest[i])), different |= differs[i];
    }
    found.ascending = !different && found.greatest - found.least == 4 * (LANES - 1);
    return found;
}

// What accesses are held to.
class Fence {
public:
    explicit Fence(const Job &job)
        : base_(job.memory_base), size_(job.memory_size), firsts_(reinterpret_cast<const uint64_t *>(job.firsts)),
          ends_(reinterpret_cast<const uint64_t *>(job.ends)), ranges_(job.ranges), check_(job.check),
          local_used_(job.local_used) {}

    // Whether all are allowed. Mostly all are in one range; the hint is that of the last accesses of the instruction.
    bool allow(const Step &step, const Addresses &there, uint64_t enabled, uint32_t &hint) const {
        unsigned size = 1u << step.scale;
        if (check_ != check::NOTHING && (there.bits & (size - 1))) return false;
        if (step.local) {
            if (check_ == check::NOTHING) return true;
            if (there.least >= LOCAL_BASE && there.greatest - LOCAL_BASE + uint64_t(size) <= local_end(step)) return true;
        } else if (there.least >= base_ && there.greatest - base_ < size_) {
            if (check_ != check::RANGES || is_in(hint, step, there)) return true;
            hint = range_of(there.least);
            if (is_in(hint, step, there)) return true;
        }
        const uint32_t *lane = there.lane.words();
        for (; enabled; enabled &= enabled - 1)
            if (!allows(step, lane[lowest_bit(enabled)])) return false;
        return true;
    }

    // Whether one is.
    bool allows(const Step &step, uint32_t address) const {
        unsigned size = 1u << step.scale;
        if (check_ != check::NOTHING && (address & (size - 1))) return false;
        if (step.local)
            return check_ == check::NOTHING || uint64_t(uint32_t(address - LOCAL_BASE)) + size <= local_end(step);
        if (address < base_ || address - base_ >= size_) return false;
        if (check_ != check::RANGES) return true;
        uint32_t range = range_of(address);
        return range < ranges_ && address + uint64_t(size) <= end(range, step);
    }

private:
    bool is_in(uint32_t range, const Step &step, const Addresses &there) const {
        return range < ranges_ && there.least >= firsts_[range]
            && there.greatest + (uint64_t(1) << step.scale) <= end(range, step);
    }
    // The last one that begins at the address or before; if there is none, one that is not there.
    uint32_t range_of(uint32_t address) const {
        uint32_t low = 0, high = ranges_;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (firsts_[middle] <= address) low = middle + 1;
            else high = middle;
        }
        return low - 1;
    }
    // A load of a word may take the whole word in which a range ends.
    static uint64_t rounded(const Step &step, uint64_t end) {
        return step.kind == kind::LOAD && step.scale == 2 ? (end + 3) & ~uint64_t(3) : end;
    }
    uint64_t local_end(const Step &step) const { return rounded(step, local_used_); }
    uint64_t end(unsigned range, const Step &step) const { return rounded(step, ends_[range]); }

    uint64_t base_, size_;
    const uint64_t *firsts_, *ends_;
    uint32_t ranges_, check_, local_used_;
};

// A function by itself, as compilers otherwise take the offsets out of vectors one by one.
__attribute__((noinline)) static void gather(const uint8_t *bytes, const uint32_t *offset, uint32_t *words) {
    _Pragma("GCC unroll 8") for (unsigned lane = 0; lane < LANES; lane++)
        memcpy(&words[lane], bytes + offset[lane], 4);
}

// Loads of a part of a word bring the whole one.
template <bool Masked>
static inline void load(const Memory &memory, const Addresses &from, Lanes &rd, const Mask &mask) {
    Lanes value;
    if (from.least == from.greatest) {
        Words word = all(memory.word(memory.offset(from.least)));
        for (Words &part : value.part) part = word;
    } else if (from.ascending && !(from.least & 3) && memory.wrap == ~0u) {
        memcpy(&value, memory.bytes + memory.offset(from.least), sizeof value);
    } else {
        Lanes offset;
        EACH_PART(i) offset.part[i] = (from.lane.part[i] - memory.base) & (memory.wrap & ~3u);
        gather(memory.bytes, offset.words(), Masked ? value.words() : rd.words());
        if (!Masked) return;
    }
    put<Masked>(rd, value, mask);
}

// Where several work-items write the same bytes, the last one wins.
static inline void store(const Memory &memory, const Step &step, const Addresses &to, const Lanes &value,
                         uint64_t enabled) {
    const uint32_t *address = to.lane.words(), *word = value.words();
    if (step.scale == 2 && to.ascending && !(to.least & 3) && memory.wrap == ~0u && enabled == ~uint64_t(0)) {
        memcpy(memory.bytes + memory.offset(to.least), &value, sizeof value);
        return;
    }
    for (; enabled; enabled &= enabled - 1) {
        unsigned lane = lowest_bit(enabled);
        uint32_t offset = memory.offset(address[lane]);
        if (step.scale == 2) memory.put(offset, word[lane]);
        else if (step.scale == 1) memcpy(memory.bytes + (offset & ~1u), &word[lane], 2);
        else memory.bytes[offset] = uint8_t(word[lane]);
    }
}

// One work-item after the other, the lowest first. Operations are those of local memory with the same code.
static inline uint32_t updated(unsigned opcode, uint32_t old, uint32_t operand, uint32_t expected) {
    switch (opcode) {
    case op::AADD: case op::LAADD: return old + operand;
    case op::AMAX: case op::LAMAX: return greatest(int32_t(old), int32_t(operand));
    case op::AMIN: case op::LAMIN: return least(int32_t(old), int32_t(operand));
    case op::AUMAX: case op::LAUMAX: return greatest(old, operand);
    case op::AUMIN: case op::LAUMIN: return least(old, operand);
    case op::AAND: case op::LAAND: return old & operand;
    case op::AOR: case op::LAOR: return old | operand;
    case op::AXOR: case op::LAXOR: return old ^ operand;
    case op::AXCHG: case op::LAXCHG: return operand;
    default: return old == expected ? operand : old;
    }
}

static inline void atomic(const Memory &memory, const Step &step, const Addresses &at, const Lanes &operand,
                          const Lanes &expected, Lanes &rd, uint64_t enabled) {
    const uint32_t *address = at.lane.words(), *first = operand.words(), *second = expected.words();
    uint32_t *result = rd.words();
    for (; enabled; enabled &= enabled - 1) {
        unsigned lane = lowest_bit(enabled);
        uint32_t offset = memory.offset(address[lane]), old = memory.word(offset);
        memory.put(offset, updated(step.opcode, old, first[lane], second[lane]));
        result[lane] = old;     // may be the operand's register, of which this lane is not read any more
    }
}

}
