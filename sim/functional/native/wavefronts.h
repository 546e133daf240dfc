// Control flow of the wavefronts that run together: enabled work-items, stacks and barriers.
#pragma once
#include "array.h"
#include "job.h"

namespace fgpu {

constexpr unsigned TOGETHER = 256;  // wavefronts

// Some of the wavefronts; iteration is in ascending order.
struct Set {
    uint64_t bits[TOGETHER / 64] = {};

    void add(unsigned wavefront) { bits[wavefront / 64] |= uint64_t(1) << wavefront % 64; }
    void add(const Set &others) {
        for (unsigned i = 0; i < TOGETHER / 64; i++) bits[i] |= others.bits[i];
    }
    void remove(const Set &others) {
        for (unsigned i = 0; i < TOGETHER / 64; i++) bits[i] &= ~others.bits[i];
    }
    bool empty() const { return !(bits[0] | bits[1] | bits[2] | bits[3]); }
    template <typename F> void each(F f) const {
        for (unsigned i = 0; i < TOGETHER / 64; i++)
            for (uint64_t left = bits[i]; left; left &= left - 1) f(64 * i + lowest_bit(left));
    }
};

// Wavefronts by the PCs at which they go on, in the order in which these have come.
class Pending {
public:
    struct Place {
        int pc;
        Set who;
    };

    void add(int pc, const Set &who) {
        if (who.empty()) return;
        for (unsigned i = 0; i < count_; i++)
            if (places_[i].pc == pc) return places_[i].who.add(who);
        places_[count_++] = {pc, who};
    }
    Place take(bool lowest) {
        unsigned at = 0;
        for (unsigned i = 1; lowest && i < count_; i++)
            if (places_[i].pc < places_[at].pc) at = i;
        Place taken = places_[at];
        memmove(&places_[at], &places_[at + 1], (--count_ - at) * sizeof(Place));
        return taken;
    }
    // The first PC behind one at which others are, or else the end.
    int stop(int pc, int end) const {
        int stop = -1;
        each([&](int other, const Set &) {
            if (other > pc && (stop < 0 || other < stop)) stop = other;
        });
        return stop < 0 ? end : stop;
    }
    bool empty() const { return !count_; }
    void clear() { count_ = 0; }
    template <typename F> void each(F f) const {
        for (unsigned i = 0; i < count_; i++) f(places_[i].pc, places_[i].who);
    }

private:
    Place places_[TOGETHER + 1];    // each wavefront is at one
    unsigned count_ = 0;
};

enum State : uint8_t { RUNNING, WAITING, ENDED };

class Wavefronts {
public:
    Array<uint64_t> masks, parked;
    Array<int32_t> resume;       // where those go on that are at a barrier
    Array<uint8_t> states;
    uint64_t divergences = 0, deepest = 0;

    // Each work-group has so many; its last one has so many work-items.
    void start(unsigned groups, unsigned per_group, unsigned last_items, unsigned stack_depth) {
        unsigned count = groups * per_group;
        per_group_ = per_group, capacity_ = stack_depth, has_barriers_ = false, divergences = deepest = 0;
        masks.assign(count, ~uint64_t(0)), parked.assign(count, 0), resume.assign(count, 0);
        states.assign(count, RUNNING), depth_.assign(count, 0);
        stack_.resize(size_t(count) * stack_depth);
        for (unsigned last = per_group - 1; last < count; last += per_group)
            masks[last] = ~uint64_t(0) >> (LANES - last_items);
    }

    // The first whose stacks are full; none: -1.
    int full(const Set &who) const {
        int found = -1;
        who.each([&](unsigned wavefront) {
            if (found < 0 && depth_[wavefront] >= capacity_) found = int(wavefront);
        });
        return found;
    }

    // The minority goes first, the rest is pushed; with equally many those that do not take the branch go first.
    // The wavefront whose stacks are full, or -1.
    int branch(const Set &who, const uint64_t *taken, int target, int following, Pending &pending) {
        Set there, here, mixed;
        who.each([&](unsigned w) {
            uint64_t others = masks[w] & ~taken[w];
            if (!others) there.add(w);
            else if (!taken[w]) here.add(w);
            else mixed.add(w);
        });
        int overflow = full(mixed);
        if (overflow >= 0) return overflow;
        mixed.each([&](unsigned w) {
            uint64_t others = masks[w] & ~taken[w];
            bool takers_first = ones(taken[w]) < ones(others);
            push(w, takers_first ? following : target, takers_first ? others : taken[w], true);
            masks[w] = takers_first ? taken[w] : others;
            (takers_first ? there : here).add(w);
            divergences++;
        });
        pending.add(target, there);
        pending.add(following, here);
        return -1;
    }

    int call(const Set &who, int target, int following, Pending &pending) {
        int overflow = full(who);
        if (overflow >= 0) return overflow;
        who.each([&](unsigned w) { push(w, following, masks[w], false); });
        pending.add(target, who);
        return -1;
    }

    // On with the top of the stacks; a wavefront whose stacks are empty retires, or comes to its barrier.
    void ret(const Set &who, Pending &pending) {
        Set last, others;
        who.each([&](unsigned w) { (depth_[w] ? others : last).add(w); });
        last.each([&](unsigned w) { states[w] = parked[w] ? WAITING : ENDED; });
        pop(others, pending);
        if (has_barriers_) release(last, pending);
    }

    // Come to a barrier: other parts of the wavefront go on, or it waits as a whole.
    void sync(const Set &who, int following, Pending &pending) {
        has_barriers_ = true;
        Set parts, whole;
        who.each([&](unsigned w) {
            parked[w] |= masks[w];
            resume[w] = following;
            bool is_part = depth_[w] && entry(w, depth_[w] - 1).is_branch;
            (is_part ? parts : whole).add(w);
            if (!is_part) states[w] = WAITING;
        });
        pop(parts, pending);
        release(whole, pending);
    }

private:
    struct Entry {      // the other path of a diverged branch, or where a call returns to
        uint64_t mask;
        int32_t pc;
        bool is_branch;
    };

    Entry &entry(unsigned wavefront, unsigned depth) { return stack_[size_t(wavefront) * capacity_ + depth]; }

    void push(unsigned wavefront, int pc, uint64_t mask, bool is_branch) {
        entry(wavefront, depth_[wavefront]++) = {mask, pc, is_branch};
        deepest = greatest(deepest, uint64_t(depth_[wavefront]));
    }

    void pop(const Set &who, Pending &pending) {
        arrive(who, pending, [&](unsigned w) {
            const Entry &top = entry(w, --depth_[w]);
            masks[w] = top.mask;
            return top.pc;
        });
    }

    // Those of whose work-groups all have come to the barrier, or have ended, go on, each as one.
    void release(const Set &came, Pending &pending) {
        Set released;
        int64_t before = -1;
        came.each([&](unsigned w) {
            unsigned group = w / per_group_, first = group * per_group_;
            if (group == before) return;
            before = group;
            for (unsigned other = first; other < first + per_group_; other++)
                if (states[other] == RUNNING) return;
            for (unsigned other = first; other < first + per_group_; other++)
                if (states[other] == WAITING) released.add(other);
        });
        arrive(released, pending, [&](unsigned w) {
            states[w] = RUNNING, masks[w] = parked[w], parked[w] = 0;
            return resume[w];
        });
    }

    // Adds them to the PCs that f tells, the lowest first.
    template <typename F> void arrive(const Set &who, Pending &pending, F f) {
        int pcs[TOGETHER];
        who.each([&](unsigned w) { pcs[w] = f(w); });
        for (Set left = who; !left.empty();) {
            Set there;
            int lowest = INT32_MAX;
            left.each([&](unsigned w) { lowest = least(lowest, pcs[w]); });
            left.each([&](unsigned w) {
                if (pcs[w] == lowest) there.add(w);
            });
            left.remove(there);
            pending.add(lowest, there);
        }
    }

    unsigned per_group_ = 1, capacity_ = 0;
    bool has_barriers_ = false;
    Array<uint32_t> depth_;
    Array<Entry> stack_;
};

}
