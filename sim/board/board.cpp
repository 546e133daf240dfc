// A board, simulated: the model of its design, an SDRAM chip at its pins, and a line to a pseudo-terminal.

#include <atomic>
#include <memory>
#include <poll.h>

#include "Vboard.h"
#include "sdram_chip.h"
#include "serial_line.h"

using namespace fgpu_board;

namespace {

constexpr int RESET_CYCLES = 16, POLL_CYCLES = 512, SLEEP_MS = 20;
constexpr unsigned MEMORY_READY = 1, ACTIVE = 2, RUNNING = 4;

}  // namespace

struct BoardState {
    uint64_t cycles, received, sent, damaged, reads, writes, refreshes;
    char error[200];
};

class Board {
public:
    Board(int terminal, double clock_hz, const Noise &noise, uint64_t seed)
        : terminal(terminal), line(terminal, clock_hz, noise, seed), chip(clock_hz, seed), top(&context, "board") {
        top.rx = 1;
        for (int i = 0; i < RESET_CYCLES; i++)
            cycle(true);
    }

    ~Board() { top.final(); }

    // Until `stop`; time stands still while nothing happens on the board.
    void run(const std::atomic<int> &stop) {
        while (!stop.load(std::memory_order_relaxed) && chip.error.empty()) {
            const bool has_bytes = line.poll_terminal();
            for (int i = 0; i < POLL_CYCLES; i++)
                cycle(false);
            tell();
            const bool sleeps = !has_bytes && line.is_idle() && (top.leds & (MEMORY_READY | ACTIVE | RUNNING)) == 1;
            quiet = sleeps ? quiet + 1 : 0;
            if (quiet > 2) {
                struct pollfd wanted = {terminal, POLLIN, 0};
                poll(&wanted, 1, SLEEP_MS);
            }
        }
    }

    BoardState state{};

private:
    void cycle(bool reset) {
        top.rst = reset;
        top.rx = line.rx;
        top.sdram_dq = chip.drives ? chip.dq : uint16_t(0xDEAD);
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
        // A quarter of a period later is the chip's edge; it answers before the design's next one.
        chip.step({bool(top.sdram_cke), bool(top.sdram_cs_n), bool(top.sdram_ras_n), bool(top.sdram_cas_n),
                   bool(top.sdram_we_n), top.sdram_ba, top.sdram_a, top.sdram_dm, top.sdram_dq__en != 0,
                   uint16_t(top.sdram_dq__out)});
        line.step(top.tx);
        state.cycles++;
    }

    void tell() {
        state.received = line.received;
        state.sent = line.sent;
        state.damaged = line.damaged;
        state.reads = chip.reads;
        state.writes = chip.writes;
        state.refreshes = chip.refreshes;
        snprintf(state.error, sizeof state.error, "%s", chip.error.c_str());
    }

    int terminal;
    int quiet = 0;
    SerialLine line;
    Chip chip;
    VerilatedContext context;
    Vboard top;
};

extern "C" {

Board *board_create(int terminal, double clock_hz, double flip, double drop, double add, uint64_t seed) {
    return new Board(terminal, clock_hz, Noise{flip, drop, add}, seed);
}

void board_run(Board *board, const std::atomic<int> *stop) { board->run(*stop); }

const BoardState *board_state(Board *board) { return &board->state; }

void board_destroy(Board *board) { delete board; }

}
