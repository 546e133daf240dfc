// What instructions do to one wavefront.
#pragma once
#include "accesses.h"

namespace fgpu {

// The wavefront's registers, scratchpad and memories, and what it reads of the launch.
struct Wavefront {
    Mask mask;
    uint64_t enabled;
    Lanes *registers, *scratchpad;
    Memory global, local;
    const Job *job;
    const uint32_t *local_ids;  // its row of dimension 0
    uint64_t group;             // of the launch
    uint32_t place;             // of its work-group among those that run together
};

static inline uint32_t group_id(const Job &job, uint64_t group, unsigned dimension) {
    for (unsigned below = 0; below < dimension; below++) group /= job.work_groups[below];
    return uint32_t(group % job.work_groups[dimension]);
}

// What the instructions of the runtime memory read. Numbers beyond the dimensions read 0.
static inline Lanes runtime_value(const Step &step, const Wavefront &wavefront) {
    const Job &job = *wavefront.job;
    uint32_t index = step.immediate, word = 0;
    Lanes value = {};
    bool has_local_ids = (step.opcode == op::LID || step.opcode == op::GID) && index < job.dimensions;
    if (has_local_ids) memcpy(&value, wavefront.local_ids + size_t(index) * job.wavefronts * LANES, sizeof value);
    if (step.opcode == op::LP) word = job.parameters[index];
    else if (index == 3 && (step.opcode == op::WGOFF || step.opcode == op::GID) && job.place) word = wavefront.place;
    else if (index < 3)
        switch (step.opcode) {
        case op::SIZE: word = job.global_size[index]; break;
        case op::WGSIZE: word = job.group_size[index]; break;
        case op::WGID: word = group_id(job, wavefront.group, index); break;
        case op::WGOFF: case op::GID:
            word = group_id(job, wavefront.group, index) * job.group_size[index] + job.global_offset[index];
        }
    for (Words &part : value.part) part += all(word);
    return value;
}

template <bool Masked> static inline void access_scratchpad(const Step &step, Wavefront &wavefront) {
    const Lanes &base = wavefront.registers[step.rs];
    Lanes word;
    uint32_t differs = 0, first = (base.words()[0] + step.immediate) & (wavefront.job->scratchpad_words - 1);
    EACH_PART(i) {
        word.part[i] = (base.part[i] + step.immediate) & (wavefront.job->scratchpad_words - 1);
        for (unsigned lane = 0; lane < WIDTH; lane++) differs |= word.part[i][lane] ^ first;
    }
    bool is_load = step.opcode == op::LLWI;
    if (!differs) {
        if (is_load) put<Masked>(wavefront.registers[step.to], wavefront.scratchpad[first], wavefront.mask);
        else put<Masked>(wavefront.scratchpad[first], wavefront.registers[step.rd], wavefront.mask);
        return;
    }
    for (uint64_t left = wavefront.enabled; left; left &= left - 1) {
        unsigned lane = lowest_bit(left);
        uint32_t &there = wavefront.scratchpad[word.words()[lane]].words()[lane];
        if (is_load) wavefront.registers[step.to].words()[lane] = there;
        else there = wavefront.registers[step.rd].words()[lane];
    }
}

template <bool Masked>
__attribute__((always_inline)) static inline void execute_plain(const Step &step, Wavefront &wavefront) {
    Lanes *r = wavefront.registers, &rd = r[step.to];
    const Lanes &rs = r[step.rs], &rt = r[step.rt];
    const Mask &mask = wavefront.mask;
    const uint32_t immediate = step.immediate;
    const bool subnormals = wavefront.job->subnormals;
    auto add = [](Words a, Words b, Words) { return a + b; };
    auto sll = [](Words a, Words b, Words) { return a << (b & 31); };
    auto srl = [](Words a, Words b, Words) { return a >> (b & 31); };
    auto sra = [](Words a, Words b, Words) { return Words(Signed(a) >> Signed(b & 31)); };
    auto and_ = [](Words a, Words b, Words) { return a & b; };
    auto or_ = [](Words a, Words b, Words) { return a | b; };
    auto xor_ = [](Words a, Words b, Words) { return a ^ b; };
    auto slt = [](Words a, Words b, Words) { return truth(Signed(a) < Signed(b)); };
    auto sltu = [](Words a, Words b, Words) { return truth(a < b); };
    switch (step.opcode) {
    case op::ADD: return compute<Masked>(rd, rs, rt, mask, add);
    case op::ADDI: return compute<Masked>(rd, rs, immediate, mask, add);
    case op::SUB: return compute<Masked>(rd, rs, rt, mask, [](Words a, Words b, Words) { return a - b; });
    case op::LI: return compute<Masked>(rd, rs, immediate, mask, [](Words, Words b, Words) { return b; });
    case op::LUI:
        return compute<Masked>(rd, rs, immediate, mask, [](Words, Words b, Words d) { return (d & 0xFFFF) | b << 16; });
    case op::SLL: return compute<Masked>(rd, rs, rt, mask, sll);
    case op::SLLI: return compute<Masked>(rd, rs, immediate, mask, sll);
    case op::SRL: return compute<Masked>(rd, rs, rt, mask, srl);
    case op::SRLI: return compute<Masked>(rd, rs, immediate, mask, srl);
    case op::SRA: return compute<Masked>(rd, rs, rt, mask, sra);
    case op::SRAI: return compute<Masked>(rd, rs, immediate, mask, sra);
    case op::AND: return compute<Masked>(rd, rs, rt, mask, and_);
    case op::ANDI: return compute<Masked>(rd, rs, immediate, mask, and_);
    case op::OR: return compute<Masked>(rd, rs, rt, mask, or_);
    case op::ORI: return compute<Masked>(rd, rs, immediate, mask, or_);
    case op::XOR: return compute<Masked>(rd, rs, rt, mask, xor_);
    case op::XORI: return compute<Masked>(rd, rs, immediate, mask, xor_);
    case op::NOR: return compute<Masked>(rd, rs, rt, mask, [](Words a, Words b, Words) { return ~(a | b); });
    case op::MOVN:
        return compute<Masked>(rd, rs, rt, mask, [](Words a, Words b, Words d) { return choose(Words(b != 0), a, d); });
    case op::MOVZ:
        return compute<Masked>(rd, rs, rt, mask, [](Words a, Words b, Words d) { return choose(Words(b == 0), a, d); });
    case op::MUL: return compute<Masked>(rd, rs, rt, mask, [](Words a, Words b, Words) { return a * b; });
    case op::MACC: return compute<Masked>(rd, rs, rt, mask, [](Words a, Words b, Words d) { return d + a * b; });
    case op::SLT: return compute<Masked>(rd, rs, rt, mask, slt);
    case op::SLTI: return compute<Masked>(rd, rs, immediate, mask, slt);
    case op::SLTU: return compute<Masked>(rd, rs, rt, mask, sltu);
    case op::SLTIU: return compute<Masked>(rd, rs, immediate, mask, sltu);
    case op::FADD:
        return compute<Masked>(rd, rs, rt, mask, [=](Words a, Words b, Words) {
            return arithmetic(a, b, subnormals, [](auto x, auto y) { return x + y; }); });
    case op::FSUB:
        return compute<Masked>(rd, rs, rt, mask, [=](Words a, Words b, Words) {
            return arithmetic(a, b, subnormals, [](auto x, auto y) { return x - y; }); });
    case op::FMUL:
        return compute<Masked>(rd, rs, rt, mask, [=](Words a, Words b, Words) {
            return arithmetic(a, b, subnormals, [](auto x, auto y) { return x * y; }); });
    case op::FDIV:
        return compute<Masked>(rd, rs, rt, mask, [=](Words a, Words b, Words) {
            return arithmetic(a, b, subnormals, [](auto x, auto y) { return x / y; }); });
    case op::FSQRT:
        return compute<Masked>(rd, rs, rt, mask, [=](Words a, Words b, Words) {
            return arithmetic(a, b, subnormals, Root()); });
    case op::FSLT:
        return compute<Masked>(rd, rs, rt, mask, [=](Words a, Words b, Words) {
            return subnormals ? truth(Floats(a) < Floats(b)) : truth(Floats(flushed(a)) < Floats(flushed(b))); });
    case op::UITOFP:
        return compute<Masked>(rd, rs, rt, mask, [](Words a, Words, Words) {
            return Words(__builtin_convertvector(a, Floats)); });
    case op::ITOFP:
        return compute<Masked>(rd, rs, rt, mask, [](Words a, Words, Words) {
            return Words(__builtin_convertvector(Signed(a), Floats)); });
    case op::FPTOSI: return compute<Masked>(rd, rs, rt, mask, [](Words a, Words, Words) { return to_signed(a); });
    case op::FPTOUI: return compute<Masked>(rd, rs, rt, mask, [](Words a, Words, Words) { return to_unsigned(a); });
    case op::LLWI: case op::LSWI: return access_scratchpad<Masked>(step, wavefront);
    default: return put<Masked>(rd, runtime_value(step, wavefront), mask);
    }
}

// Whether the access is allowed; all that of the wavefront is, or nothing of it happens.
template <bool Masked>
static inline bool execute_access(const Step &step, Wavefront &wavefront, const Fence &fence, uint32_t &hint) {
    Lanes *r = wavefront.registers;
    Addresses there = addresses<Masked>(step, *wavefront.job, r, wavefront.mask, wavefront.enabled);
    if (!fence.allow(step, there, wavefront.enabled, hint)) return false;
    const Memory &memory = step.local ? wavefront.local : wavefront.global;
    if (step.kind == kind::LOAD) load<Masked>(memory, there, r[step.to], wavefront.mask);
    else if (step.kind == kind::STORE) store(memory, step, there, r[step.rd], wavefront.enabled);
    else atomic(memory, step, there, r[step.rd], r[step.rt], r[step.to], wavefront.enabled);
    return true;
}

static inline bool is_allowed(const Step &step, const Wavefront &wavefront, const Fence &fence, uint32_t &hint) {
    return fence.allow(
        step, addresses<true>(step, *wavefront.job, wavefront.registers, wavefront.mask, wavefront.enabled),
        wavefront.enabled, hint);
}

// Executes straight-line code from pc up to end; the PC of the access that is not allowed, or end.
template <bool Masked>
static int execute(const Step *steps, uint32_t *hints, int pc, int end, Wavefront &wavefront, const Fence &fence) {
    for (; pc < end; pc++)
        if (steps[pc].kind == kind::PLAIN) execute_plain<Masked>(steps[pc], wavefront);
        else if (!execute_access<Masked>(steps[pc], wavefront, fence, hints[pc])) return pc;
    return end;
}

}
