// An SDR SDRAM chip, as its pins show it: bursts of one beat, and every time that its data sheet demands is checked.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace fgpu_board {

struct ChipPins {
    bool cke, cs_n, ras_n, cas_n, we_n;
    uint32_t ba, a, dm;
    bool driven;            // the controller drives the data pins
    uint16_t dq;
};

// In nanoseconds: of Micron's MT48LC16M16, speed grade 7E and slower.
struct ChipTimes {
    double rcd = 20, rp = 20, ras = 44, ras_max = 120000, rc = 66, rfc = 66, wr = 15, rrd = 15;
    double power_up = 100000, refresh_interval = 64e6 / 8192, refresh_slack = 9;
    int mode_cycles = 2;
};

class Chip {
public:
    static constexpr int BANKS = 4, ROW_BITS = 13, COLUMN_BITS = 9;

    Chip(double clock_hz, uint64_t seed) : period(1e9 / clock_hz), cells(size_t(BANKS) << (ROW_BITS + COLUMN_BITS)) {
        for (auto &cell : cells) {      // comes up with anything
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            cell = uint16_t(seed >> 48);
        }
    }

    std::string error;
    uint64_t reads = 0, writes = 0, refreshes = 0, activations = 0;
    bool drives = false;        // the data pins, until the next step
    uint16_t dq = 0;

    // A rising edge of the chip's clock.
    void step(const ChipPins &pins) {
        cycle++;
        drives = pipeline[0].valid;
        dq = pipeline[0].data;
        pipeline[0] = pipeline[1];
        pipeline[1] = {};
        if (drives && pins.driven)
            fail("both drive the data pins");
        if (!pins.cke)
            return;
        if (is_ready && cycle - refreshed > cycles(times.refresh_interval) * times.refresh_slack)
            fail("rows were not refreshed in time");
        if (pins.cs_n)
            return;
        const int command = !pins.ras_n << 2 | !pins.cas_n << 1 | int(!pins.we_n);
        if (command && cycle < cycles(times.power_up))
            fail("a command comes before the chip has woken up");
        if (command && cycle < mode_set + times.mode_cycles)
            fail("a command comes too soon behind the mode register (tMRD)");
        if (command && refreshes && cycle < refreshed + cycles(times.rfc))
            fail("a command comes too soon behind a refresh (tRFC)");
        Bank &bank = banks[pins.ba];
        switch (command) {
        case 0b100: activate(bank, pins); break;
        case 0b010: read(bank, pins); break;
        case 0b011: write(bank, pins); break;
        case 0b101:
            if (pins.a >> 10 & 1)
                for (auto &each : banks)
                    precharge(each);
            else
                precharge(bank);
            if (pins.a >> 10 & 1)
                is_precharged = true;
            break;
        case 0b110: refresh(); break;
        case 0b111: set_mode(pins); break;
        case 0b001: fail("a burst is stopped, but bursts are of one beat"); break;
        }
    }

private:
    struct Bank {
        bool open = false;
        uint32_t row = 0;
        uint64_t activated = 0, precharged = 0, written = 0;
    };
    struct Beat {
        bool valid = false;
        uint16_t data = 0;
    };

    uint64_t cycles(double nanoseconds) const { return uint64_t(std::ceil(nanoseconds / period - 1e-9)); }

    void fail(const std::string &what) {
        if (error.empty())
            error = "SDRAM, cycle " + std::to_string(cycle) + ": " + what;
    }

    void activate(Bank &bank, const ChipPins &pins) {
        activations++;
        if (!is_ready)
            fail("a row is opened before the mode register was written");
        if (bank.open)
            fail("a row is opened in a bank that has one open");
        if (bank.activated && cycle < bank.precharged + cycles(times.rp))
            fail("a row is opened too soon behind a precharge (tRP)");
        if (bank.activated && cycle < bank.activated + cycles(times.rc))
            fail("a row is opened too soon behind another one of the bank (tRC)");
        if (activations > 1 && cycle < last_activated + cycles(times.rrd))
            fail("a row is opened too soon behind that of another bank (tRRD)");
        bank.open = true;
        bank.row = pins.a;
        bank.activated = last_activated = cycle;
    }

    size_t place(const Bank &bank, const ChipPins &pins) {
        if (!bank.open)
            fail("no row is open");
        else if (cycle < bank.activated + cycles(times.rcd))
            fail("a column is asked for too soon (tRCD)");
        if (bank.open && cycle > bank.activated + cycles(times.ras_max))
            fail("a row is open for too long (tRAS)");
        if (pins.a >> 10 & 1)
            will_precharge = true;
        return (size_t(pins.ba) << ROW_BITS | bank.row) << COLUMN_BITS | (pins.a & ((1 << COLUMN_BITS) - 1));
    }

    void read(Bank &bank, const ChipPins &pins) {
        reads++;
        const size_t at = place(bank, pins);
        pipeline[latency - 2] = {true, cells[at]};
        automatic(bank);
    }

    void write(Bank &bank, const ChipPins &pins) {
        writes++;
        const size_t at = place(bank, pins);
        if (!pins.driven)
            fail("nobody drives the data that are written");
        const uint16_t mask = uint16_t((pins.dm & 1 ? 0 : 0x00FF) | (pins.dm & 2 ? 0 : 0xFF00));
        cells[at] = uint16_t((cells[at] & ~mask) | (pins.dq & mask));
        bank.written = cycle;
        automatic(bank);
    }

    void automatic(Bank &bank) {
        if (will_precharge) {
            bank.open = false;
            bank.precharged = cycle + cycles(times.wr);
        }
        will_precharge = false;
    }

    void precharge(Bank &bank) {
        if (bank.open && cycle < bank.activated + cycles(times.ras))
            fail("a row is closed too soon (tRAS)");
        if (bank.open && bank.written && cycle < bank.written + cycles(times.wr))
            fail("a row is closed too soon behind a write (tWR)");
        if (bank.open)
            bank.precharged = cycle;
        bank.open = false;
        bank.written = 0;
    }

    void refresh() {
        for (const auto &bank : banks)
            if (bank.open)
                fail("a refresh comes while a row is open");
            else if (bank.activated && cycle < bank.precharged + cycles(times.rp))
                fail("a refresh comes too soon behind a precharge (tRP)");
        if (!is_precharged)
            fail("a refresh comes before the first precharge");
        refreshes++;
        refreshed = cycle;
    }

    void set_mode(const ChipPins &pins) {
        if (refreshes < 2)
            fail("the mode register is written before two refreshes");
        latency = int(pins.a >> 4 & 7);
        if (pins.a & 7)
            fail("bursts are longer than a beat");
        if (latency != 2 && latency != 3)
            fail("there is no such CAS latency");
        mode_set = cycle;
        is_ready = true;
    }

    ChipTimes times;
    double period;
    std::vector<uint16_t> cells;
    Bank banks[BANKS];
    Beat pipeline[3];
    uint64_t cycle = 0, refreshed = 0, mode_set = 0, last_activated = 0;
    int latency = 2;
    bool is_ready = false, is_precharged = false, will_precharge = false;
};

}  // namespace fgpu_board
