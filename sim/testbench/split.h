// A model in parts: the core without its compute units, and one model of them for all, so that the code of a unit is
// in the processor's caches once, and units at rest cost nothing. `Binding`, which is generated
// (sim/testbench/header.py), knows the ports:
//
//   UNITS                        how many compute units there are
//   PERIOD                       after how many cycles the state of a unit that does nothing returns
//   take(number, core, unit)     copies what a unit drives to the core; whether something changed
//   give(number, core, unit)     copies what the core drives to a unit; whether something changed
//   is_given(number, core, unit) whether a unit has what the core drives
//   see(unit, seen)              notes in a `Seen` what the test bench sees of a unit; whether it is other than before,
//                                or something that is not there in each cycle

#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "verilated.h"

namespace fgpu {

template <typename Port> bool is_equal(const Port &one, const Port &other) { return one == other; }

template <std::size_t WORDS> bool is_equal(const VlWide<WORDS> &one, const VlWide<WORDS> &other) {
    return std::memcmp(one.data(), other.data(), sizeof(EData) * WORDS) == 0;
}

// Whether that changed the port.
template <typename Port> bool copy(Port &to, const Port &from) {
    if (is_equal(to, from))
        return false;
    to = from;
    return true;
}

// `Root` is the class that holds all of a unit's state.
template <typename Core, typename Unit, typename Root, typename Binding> class Split {
public:
    explicit Split(VerilatedContext *context) : core(context, "fgpu") {
        for (unsigned i = 0; i < UNITS; i++)
            parts[i].unit = std::make_unique<Unit>(context, ("cu" + std::to_string(i)).c_str());
    }

    // The ports of both sides were equal, so each may step by itself.
    void rise() {
        core.clk = 1;
        core.eval();
        for (Part &part : parts) {
            if (part.rests) {
                part.missed++;
                continue;
            }
            part.unit->clk = 1;
            part.unit->eval();
        }
    }

    // The falling edge, and what follows from the values at all ports. A path without a register may cross from one
    // side to the other several times, once in each round. In the core none comes back to where it began
    // (tests/lint/test_combinational.py), so the rounds end; whether they did is `settled`.
    void fall() {
        bool moved[UNITS], again = false;
        for (unsigned i = 0; i < UNITS; i++)
            moved[i] = !parts[i].rests && Binding::take(i, core, *parts[i].unit);
        core.clk = 0;
        core.eval();
        for (unsigned i = 0; i < UNITS; i++) {
            Part &part = parts[i];
            const bool news = give(i);
            if (part.rests)
                continue;
            part.unit->clk = 0;
            part.unit->eval();
            const bool answers = Binding::take(i, core, *part.unit);
            moved[i] |= news || answers;
            again |= answers;
        }
        for (unsigned round = 0; again; round++) {
            if (round == MOST_ROUNDS) {
                settled = false;
                break;
            }
            core.eval();
            again = false;
            for (unsigned i = 0; i < UNITS; i++) {
                if (!give(i))
                    continue;
                moved[i] = true;
                parts[i].unit->eval();
                again |= Binding::take(i, core, *parts[i].unit);
            }
        }
        for (unsigned i = 0; i < UNITS; i++)
            if (!parts[i].rests)
                watch(parts[i], moved[i]);
    }

    void final() {
        core.final();
        for (Part &part : parts)
            part.unit->final();
    }

    const Unit &unit(unsigned i) const { return *parts[i].unit; }

    // The cycles in which compute units rested.
    uint64_t rested() const {
        uint64_t sum = 0;
        for (const Part &part : parts)
            sum += part.rested + part.missed;
        return sum;
    }

    Core core;
    bool settled = true;

private:
    static constexpr unsigned UNITS = Binding::UNITS;
    // As many as Verilator allows a model.
    static constexpr unsigned MOST_ROUNDS = 100;
    static constexpr unsigned PERIOD = Binding::PERIOD;
    static constexpr unsigned LOOK_AFTER = 64;

    struct Part {
        std::unique_ptr<Unit> unit;
        bool rests = false;             // while its inputs stay, its state returns each PERIOD; nobody sees a change
        uint64_t missed = 0;            // cycles since it rests
        uint64_t rested = 0;            // cycles of rest before that
        uint64_t same = 0;              // cycles in which nothing changed at the ports between it and the core
        uint64_t look = LOOK_AFTER;     // after how many of them its state is looked at next
        std::vector<unsigned char> before;
        typename Binding::Seen seen{};
    };

    // Whether a unit's inputs are others now; then it does not rest.
    bool give(unsigned i) {
        Part &part = parts[i];
        if (part.rests) {
            if (Binding::is_given(i, core, *part.unit) && part.unit->rst == core.rst)
                return false;
            wake(part);
        }
        const bool differs = Binding::give(i, core, *part.unit);
        return fgpu::copy(part.unit->rst, core.rst) || differs;
    }

    // What it missed is whole periods, and these cycles.
    void wake(Part &part) {
        for (unsigned cycles = part.missed % PERIOD; cycles; cycles--) {
            part.unit->clk = 1;
            part.unit->eval();
            part.unit->clk = 0;
            part.unit->eval();
        }
        part.rested += part.missed;
        part.missed = 0;
        part.rests = false;
    }

    // It rests once a period with equal inputs has left each bit of its state as it was, and all that is seen of it
    // was equal meanwhile.
    void watch(Part &part, bool moved) {
        if (moved) {
            part.same = 0;
            part.look = LOOK_AFTER;
            return;
        }
        part.same++;
        if (part.same < part.look)
            return;
        const auto *state = reinterpret_cast<const unsigned char *>(part.unit->rootp);
        const bool changed = Binding::see(*part.unit, part.seen);
        if (part.same == part.look) {
            part.before.assign(state, state + sizeof(Root));
        } else if (changed) {
            part.look = 2 * part.same;
        } else if (part.same == part.look + PERIOD) {
            part.rests = std::memcmp(part.before.data(), state, sizeof(Root)) == 0;
            part.look = 2 * part.same;
        }
    }

    Part parts[UNITS];
};

}  // namespace fgpu
