// Compute units and a core that are small enough to be told twice: as parts of a `Split`, and in one piece. Prints the
// first difference, and how the run ended.

#include <cstdio>
#include <cstdlib>

#include "split.h"

using Word = uint32_t;
constexpr unsigned COUNT = 3;

// A unit's next state, the path through it that has no register, and what only an observer sees of it. Something comes
// of its work long after its ports are quiet.
struct State {
    Word beat = 0, sum = 0, left = 0;
    void step(Word x, Word go, Word rst) {
        sum = rst ? 0 : go ? sum * 5 + x + beat : sum + (left == 1);
        left = rst ? 0 : go ? 100 : left - (left > 0);
        beat = rst ? 0 : (beat + 1) % 8;
    }
    Word answer(Word x, Word go) const { return sum + (go ? x : 0); }
    Word probe() const { return sum % 4 == 3 ? beat : 0; }
};

struct Unit {
    Unit(VerilatedContext *, const char *) {}
    void eval() {
        if (clk && !before)
            root.step(x, go, rst);
        before = clk;
        y = root.answer(x, go);
        probe = root.probe();
    }
    void final() {}
    Word clk = 0, rst = 0, x = 0, go = 0, y = 0, probe = 0;
    State root, *rootp = &root;

private:
    Word before = 0;
};

// Which units go is a bit each of `in`. A sum goes through all that do in one cycle, and, with `loop`, through all of
// them without an end.
struct Core {
    Core(VerilatedContext *, const char *) {}
    void eval() {
        if (clk && !before)
            held = rst ? 0 : held + y[COUNT - 1];
        before = clk;
        x[0] = in + held + (loop && in == 7 ? y[COUNT - 1] + 1 : 0);
        for (unsigned i = 0; i < COUNT; i++) {
            go[i] = in >> i & 1;
            if (i)
                x[i] = y[i - 1] + i;
        }
    }
    void final() {}
    Word clk = 0, rst = 0, in = 0, loop = 0, held = 0, x[COUNT] = {}, go[COUNT] = {}, y[COUNT] = {};

private:
    Word before = 0;
};

struct Binding {
    static constexpr unsigned UNITS = COUNT, PERIOD = 8;
    static bool take(unsigned i, Core &core, const Unit &unit) { return fgpu::copy(core.y[i], unit.y); }
    static bool give(unsigned i, const Core &core, Unit &unit) {
        return fgpu::copy(unit.x, core.x[i]) | fgpu::copy(unit.go, core.go[i]);
    }
    static bool is_given(unsigned i, const Core &core, const Unit &unit) {
        return fgpu::is_equal(unit.x, core.x[i]) && fgpu::is_equal(unit.go, core.go[i]);
    }
    struct Seen {
        Word probe;
    };
    static bool see(const Unit &unit, Seen &seen) { return fgpu::copy(seen.probe, unit.probe); }
};

int main(int, char **arguments) {
    const unsigned loop_at = unsigned(std::atoi(arguments[1]));
    fgpu::Split<Core, Unit, State, Binding> split(nullptr);
    State units[COUNT];
    Word held = 0, x[COUNT] = {}, y[COUNT] = {}, random = 1, in = 0;
    for (unsigned cycle = 0; cycle < 100000; cycle++) {
        random = random * 1664525 + 1013904223;
        // Long rests, from which some units wake, for a cycle or more; and resets, of units at rest too.
        const bool changes = random >> 24 < (cycle / 1000 % 2 ? 2 : 64);
        if (changes)
            in = cycle / 500 % 3 ? random >> 16 & 7 : 0;
        const Word rst = cycle == 0 || random >> 22 == 77;
        split.core.in = in;
        split.core.rst = rst;
        split.core.loop = loop_at && cycle >= loop_at;
        split.fall();
        if (!split.settled)
            return std::printf("does not settle in cycle %u\n", cycle), 0;
        for (unsigned i = 0; i < COUNT; i++) {
            x[i] = i ? y[i - 1] + i : in + held;
            y[i] = units[i].answer(x[i], in >> i & 1);
            if (split.core.y[i] != y[i] || split.unit(i).probe != units[i].probe())
                return std::printf("unit %u differs in cycle %u\n", i, cycle), 0;
        }
        split.rise();
        held = rst ? 0 : held + y[COUNT - 1];
        for (unsigned i = 0; i < COUNT; i++)
            units[i].step(x[i], in >> i & 1, rst);
    }
    std::printf("equal, with %llu cycles of rest\n", (unsigned long long)split.rested());
}
