// The schedule: which wavefronts execute which instructions next. It is that of sim/functional/engine.py.
#include <fenv.h>
#include <time.h>

#include "execute.h"
#include "wavefronts.h"

namespace fgpu {

constexpr unsigned FAIRNESS = 16;
constexpr uint64_t CLOCK_READ = 20000;  // instructions

static uint64_t now() {     // nanoseconds
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

class Engine {
public:
    const Outcome *run(const Job *job, uint32_t milliseconds) {
        if (job) start(*job);
        deadline_ = now() + 1000000 * uint64_t(milliseconds);
        clock_ = out_.instructions;
        out_.status = go_on();
        if (out_.status != status::DONE) tell();
        return &out_;
    }

private:
    void start(const Job &job) {
        job_ = job;
        fence_ = Fence(job);
        steps_ = reinterpret_cast<const Step *>(job.steps);
        out_ = {};
        pending_.clear();
        waves_.divergences = waves_.deepest = 0;
        next_group_ = 0;
        hints_.assign(job.length, 0);
    }

    uint32_t go_on() {
        for (;;) {
            if (pending_.empty()) {
                finish_groups();
                if (next_group_ >= job_.groups) return status::DONE;
                start_groups();
            }
            turn_++;
            // The lowest PC first: wavefronts that skipped code wait for those that run it, and go on together.
            // Now and then those that wait longest, as the others may wait for them in a loop.
            Pending::Place place = pending_.take(turn_ % FAIRNESS != 0);
            uint32_t stopped = run_straight(place.pc, place.who);
            if (stopped) return stopped;
            if (out_.instructions >= clock_) {
                if (now() >= deadline_) return status::PAUSED;
                clock_ = out_.instructions + CLOCK_READ;
            }
        }
    }

    void start_groups() {
        out_.first_group = next_group_;
        out_.groups = least<uint64_t>(job_.together, job_.groups - next_group_);
        next_group_ += out_.groups;
        unsigned count = unsigned(out_.groups) * job_.wavefronts;
        waves_.start(unsigned(out_.groups), job_.wavefronts, job_.last_items, job_.stack_depth);
        registers_.resize(size_t(count) * (REGISTERS + 1));
        for (unsigned wavefront = 0; wavefront < count; wavefront++)
            for (uint32_t left = job_.registers; left; left &= left - 1)
                registers_[wavefront * (REGISTERS + 1) + lowest_bit(left)] = Lanes{};
        local_.resize(out_.groups * job_.local_bytes);
        size_t reached = job_.check == check::NOTHING ? job_.local_bytes : least(job_.local_used + 3, job_.local_bytes);
        for (unsigned group = 0; reached && group < out_.groups; group++)
            memset(&local_[size_t(group) * job_.local_bytes], 0, reached);
        scratchpad_.assign(size_t(count) * job_.scratchpad_words, Lanes{});
        views_.resize(count);
        Set every;
        for (unsigned wavefront = 0; wavefront < count; wavefront++) every.add(wavefront), set_view(wavefront);
        pending_.add(int(job_.entry), every);
        turn_ = 0;
    }

    void set_view(unsigned wavefront) {
        unsigned group = wavefront / job_.wavefronts, row = wavefront % job_.wavefronts;
        Wavefront &view = views_[wavefront];
        view.enabled = waves_.masks[wavefront], view.mask = Mask(view.enabled);
        view.registers = &registers_[size_t(wavefront) * (REGISTERS + 1)];
        view.scratchpad = scratchpad_.data() + size_t(wavefront) * job_.scratchpad_words;
        view.global = {job_.memory, uint32_t(job_.memory_base), ~0u};
        view.local = {local_.data() + size_t(group) * job_.local_bytes, 0, job_.local_bytes - 1};
        view.job = &job_;
        view.local_ids = reinterpret_cast<const uint32_t *>(job_.local_ids) + row * LANES;
        view.group = out_.first_group + group, view.place = group;
    }

    void finish_groups() {
        out_.divergent_branches += waves_.divergences;
        out_.stack_entries = greatest(out_.stack_entries, waves_.deepest);
        waves_.divergences = waves_.deepest = 0;
    }

    // From pc to the next branch, call, return or barrier, or to the PC at which others are.
    uint32_t run_straight(int pc, const Set &who) {
        const int stop = pending_.stop(pc, int(job_.length));
        unsigned running[TOGETHER], count = 0;
        uint64_t items = 0;
        who.each([&](unsigned wavefront) {
            running[count++] = wavefront;
            items += ones(waves_.masks[wavefront]);
        });
        for (;;) {
            if (pc < 0 || pc >= int(job_.length) || steps_[pc].kind == kind::NONE)
                return stopped(status::NO_INSTRUCTION, pc, running[0]);
            const Step &step = steps_[pc];
            int end = step.kind >= kind::BRANCH ? pc + 1 : chunk(pc, stop, count);
            uint64_t room = job_.limit > out_.instructions ? (job_.limit - out_.instructions) / count : 0;
            bool is_over = room < uint64_t(end - pc);
            if (is_over) end = pc + int(room);
            out_.instructions += uint64_t(end - pc) * count;
            out_.work_item_instructions += uint64_t(end - pc) * items;
            if (end > pc && step.kind >= kind::BRANCH) return control(pc, who, running, count);
            if (end > pc && !execute_chunk(pc, end, running, count)) return status::REFUSED;
            pc = end;
            if (is_over) {
                pending_.add(pc, who);
                return stopped(status::TIMEOUT, pc, running[0]);
            }
            if (pc == stop) {
                pending_.add(pc, who);
                return status::DONE;
            }
        }
    }

    // The end of code that gives the same whether it is run instruction after instruction or wavefront after
    // wavefront: loads do not see what others of it store.
    int chunk(int pc, int stop, unsigned count) const {
        int end = pc;
        bool is_alone = count == 1;
        for (; end < stop && steps_[end].kind < kind::BRANCH; end++)
            if (!is_alone && steps_[end].kind >= kind::STORE) return end == pc ? pc + 1 : end;
        return end;
    }

    bool execute_chunk(int pc, int end, const unsigned *running, unsigned count) {
        out_.refused = 0;
        bool writes = steps_[pc].kind == kind::STORE || steps_[pc].kind == kind::ATOMIC;
        if (writes && count > 1) {      // all, or nothing
            for (unsigned i = 0; i < count; i++) {
                Wavefront &wavefront = view(running[i]);
                if (!is_allowed(steps_[pc], wavefront, fence_, hints_[pc])) refuse(pc, running[i], wavefront);
            }
            if (out_.refused) return false;
        }
        for (unsigned i = 0; i < count; i++) {
            Wavefront &wavefront = view(running[i]);
            int last = wavefront.enabled == ~uint64_t(0)
                ? execute<false>(steps_, hints_.data(), pc, end, wavefront, fence_)
                : execute<true>(steps_, hints_.data(), pc, end, wavefront, fence_);
            if (last == end && !(out_.refused && out_.pc == end)) continue;
            // The others come as far, but not further.
            if (last == end && is_allowed(steps_[end], wavefront, fence_, hints_[end])) continue;
            if (last < end) out_.refused = 0, end = last;
            refuse(last, running[i], wavefront);
        }
        return !out_.refused;
    }

    Wavefront &view(unsigned wavefront) {
        Wavefront &view = views_[wavefront];
        if (view.enabled != waves_.masks[wavefront]) {
            view.enabled = waves_.masks[wavefront];
            view.mask = Mask(view.enabled);
        }
        return view;
    }

    uint32_t control(int pc, const Set &who, const unsigned *running, unsigned count) {
        const Step &step = steps_[pc];
        int overflow = -1;
        switch (step.kind) {
        case kind::BRANCH: {
            uint64_t taken[TOGETHER];
            for (unsigned i = 0; i < count; i++) taken[running[i]] = taking(step, running[i]);
            overflow = waves_.branch(who, taken, step.target, pc + 1, pending_);
            break;
        }
        case kind::CALL: overflow = waves_.call(who, step.target, pc + 1, pending_); break;
        case kind::RETURN: waves_.ret(who, pending_); break;
        default: waves_.sync(who, pc + 1, pending_);
        }
        return overflow < 0 ? uint32_t(status::DONE) : stopped(status::STACK_OVERFLOW, pc, unsigned(overflow));
    }

    uint64_t taking(const Step &step, unsigned wavefront) const {
        const Lanes *registers = &registers_[size_t(wavefront) * (REGISTERS + 1)];
        const Lanes &a = registers[step.rd], &b = registers[step.rs];
        Lanes equal;
        EACH_PART(i) equal.part[i] = Words(a.part[i] == b.part[i]);
        uint64_t mask = packed(equal);
        return (step.opcode == op::BEQ ? mask : ~mask) & waves_.masks[wavefront];
    }

    uint32_t stopped(uint32_t why, int pc, unsigned wavefront) {
        out_.pc = pc, out_.wavefront = wavefront;
        return why;
    }

    // Lists the refused accesses of a wavefront.
    void refuse(int pc, unsigned number, const Wavefront &wavefront) {
        const Lanes lanes = addresses<true>(
            steps_[pc], *wavefront.job, wavefront.registers, wavefront.mask, wavefront.enabled).lane;
        out_.pc = pc, out_.wavefront = number;
        refused_items_.resize(TOGETHER * LANES), refused_addresses_.resize(TOGETHER * LANES);
        for (uint64_t left = wavefront.enabled; left; left &= left - 1) {
            unsigned lane = lowest_bit(left);
            if (fence_.allows(steps_[pc], lanes.words()[lane])) continue;
            refused_items_[out_.refused] = number * LANES + lane;
            refused_addresses_[out_.refused++] = lanes.words()[lane];
        }
    }

    void tell() {
        pcs_.assign(waves_.masks.size(), -1);
        pending_.each([&](int pc, const Set &who) { who.each([&](unsigned wavefront) { pcs_[wavefront] = pc; }); });
        auto address = [](auto &list) { return reinterpret_cast<uint8_t *>(list.data()); };
        out_.pcs = address(pcs_), out_.masks = address(waves_.masks), out_.parked = address(waves_.parked);
        out_.resume = address(waves_.resume), out_.states = address(waves_.states);
        out_.refused_items = address(refused_items_), out_.refused_addresses = address(refused_addresses_);
    }

    Job job_{};
    Fence fence_{job_};
    const Step *steps_ = nullptr;
    Outcome out_{};
    uint64_t next_group_ = 0, turn_ = 0, clock_ = 0, deadline_ = 0;
    Pending pending_;
    Wavefronts waves_;
    Array<uint32_t> hints_, refused_items_, refused_addresses_;
    Array<int32_t> pcs_;
    Array<Lanes> registers_, scratchpad_;
    Array<uint8_t> local_;
    Array<Wavefront> views_;
};

}

inline void *operator new(size_t, void *place) noexcept { return place; }

extern "C" {
void *fgpu_functional_create() {
    void *place = malloc(sizeof(fgpu::Engine));
    return place ? new (place) fgpu::Engine : nullptr;
}
void fgpu_functional_destroy(void *engine) {
    static_cast<fgpu::Engine *>(engine)->~Engine();
    free(engine);
}
const fgpu::Outcome *fgpu_functional_run(void *engine, const fgpu::Job *job, uint32_t milliseconds) {
    fenv_t floats;      // the host's may round in another way, or lose what is denormal
    fegetenv(&floats);
    fesetenv(FE_DFL_ENV);
    const fgpu::Outcome *outcome = static_cast<fgpu::Engine *>(engine)->run(job, milliseconds);
    fesetenv(&floats);
    return outcome;
}
}
