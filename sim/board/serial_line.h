// A serial line between a pseudo-terminal and two pins, at the rate that the terminal's user has set.
#pragma once

#include <asm/termbits.h>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fgpu_board {

// What the line does to bytes, in each direction: chances.
struct Noise {
    double flip;        // a bit is the other one
    double drop;        // a byte is lost
    double add;         // a byte comes that nobody sent
};

class SerialLine {
public:
    SerialLine(int terminal, double clock_hz, const Noise &noise, uint64_t seed)
        : terminal(terminal), clock_hz(clock_hz), noise(noise), random(seed * 2 + 1) {
        poll_terminal();
    }

    uint64_t received = 0, sent = 0, damaged = 0;      // bytes, as the host's side counts them
    bool rx = true;                                    // to the board

    bool is_idle() const { return !sending && to_board.empty() && !receiving && to_host.empty(); }

    // Whether there is something for the board.
    bool poll_terminal() {
        struct termios2 settings;
        if (ioctl(terminal, TCGETS2, &settings) == 0 && settings.c_ospeed)
            bit = clock_hz / settings.c_ospeed;
        flush();
        if (to_board.size() > 64)
            return true;
        unsigned char bytes[64];
        const ssize_t count = read(terminal, bytes, sizeof bytes);
        for (ssize_t i = 0; i < count; i++) {
            sent++;
            pass(to_board, bytes[i]);
        }
        return !to_board.empty();
    }

    // A cycle of the board's clock.
    void step(bool tx) {
        now += 1;
        if (!sending && !to_board.empty()) {
            sending = 10;
            shift = uint16_t(to_board.front() << 1 | 0x200);
            to_board.pop_front();
            begun = now;
        }
        if (sending) {
            const int place = int((now - begun) / bit);
            if (place >= 10) {
                sending = 0;
                rx = true;
            } else {
                if (place != 10 - sending)
                    sending = 10 - place;
                rx = shift >> place & 1;
            }
        }
        if (!receiving && !tx && last_tx) {
            receiving = true;
            got = 0;
            taken = 0;
            heard = now;
        } else if (receiving && now - heard >= (taken + 0.5) * bit) {
            if (taken < 9)
                got = uint16_t(got >> 1 | (tx ? 0x100 : 0));
            else {
                receiving = false;
                if (tx) {
                    received++;
                    pass(to_host, uint8_t(got >> 1));
                    flush();
                } else
                    damaged++;
            }
            taken++;
        }
        last_tx = tx;
    }

    void flush() {
        while (!to_host.empty()) {
            if (write(terminal, &to_host.front(), 1) != 1)
                return;
            to_host.pop_front();
        }
    }

private:
    double chance() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        return double(random >> 11) / double(1ull << 53);
    }

    void pass(std::deque<uint8_t> &side, uint8_t byte) {
        if (noise.add > 0 && chance() < noise.add) {
            side.push_back(uint8_t(chance() * 256));
            damaged++;
        }
        if (noise.drop > 0 && chance() < noise.drop) {
            damaged++;
            return;
        }
        if (noise.flip > 0)
            for (int place = 0; place < 8; place++)
                if (chance() < noise.flip) {
                    byte ^= uint8_t(1 << place);
                    damaged++;
                }
        side.push_back(byte);
    }

    int terminal;
    double clock_hz, bit = 1, now = 0, begun = 0, heard = 0;
    Noise noise;
    uint64_t random;
    std::deque<uint8_t> to_board, to_host;
    int sending = 0, taken = 0;
    uint16_t shift = 0, got = 0;
    bool receiving = false, last_tx = true;
};

}  // namespace fgpu_board
