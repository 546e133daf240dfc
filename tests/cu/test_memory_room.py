"""What waits in the memory controller finds room: phases of instructions, and rows from each slice of the cache."""

import random
from collections import deque

from fgpu.config import Config
from fgpu.cu.load_return import RowQueue

from ..streams import simulate
from .test_memory_controller import BASE, Bench, linear

CONFIG = Config(cache_banks=1, cache_line=64)
SLICES = Config(axi_ports=2, cache_banks=1, cache_line=64)
DEPTH = 15
UNDER_WAY = 4
HELD_CYCLES = 200
"""Enough for the other slice to be asked for more rows than find room."""


class HeldSlice(Bench):
    """Slice 0 answers late, slice 1 at once: its rows must be taken as they come."""

    async def _respond(self, ctx, part: int) -> None:
        if part == 0:
            await ctx.tick().repeat(512 + HELD_CYCLES)      # after a reset it clears registers
            await super()._respond(ctx, part)
        response = self.dut.responses[part]
        while True:
            rows = self.responses[part]
            offers = bool(rows)
            ctx.set(response.valid, offers)
            if offers:
                ctx.set(response.payload, [int.from_bytes(rows[0], "little")])
            _, _, room = await ctx.tick().sample(response.room)
            if offers:
                assert room, "a slice waits with a row"
                rows.popleft()


def test_a_row_queue_shows_the_next_row_or_the_one_before() -> None:
    """It takes ``DEPTH`` rows, says a cycle late that there is room for all that may be under way, keeps their order,
    and the row that was taken last stays although it is full."""
    dut, rng = RowQueue(CONFIG, DEPTH), random.Random(1)

    async def testbench(ctx) -> None:
        rows, before, fullest = deque[int](), None, 0
        held = DEPTH        # in the cycle before: nothing is taken right after a reset
        for cycle in range(400):
            fills = cycle // 50 % 2 == 0
            offers, looks = rng.random() < (0.9 if fills else 0.1), rng.random() < 0.5
            takes = bool(rows) and looks and rng.random() < (0.1 if fills else 0.9)
            word = rng.getrandbits(32)
            offers &= len(rows) < DEPTH
            ctx.set(dut.input.valid, offers)
            ctx.set(dut.input.payload, [word])
            ctx.set(dut.look, 3 * looks)
            ctx.set(dut.take, takes)
            assert ctx.get(dut.valid) == bool(rows)
            assert ctx.get(dut.input.room) == (held <= DEPTH - UNDER_WAY)
            held = len(rows)
            if looks and rows:
                assert ctx.get(dut.row[0]) == rows[0]
            if not looks and before is not None:
                assert ctx.get(dut.row[0]) == before
            if offers:
                rows.append(word)
            if takes:
                before = rows.popleft()
            fullest = max(fullest, len(rows))
            await ctx.tick()
        assert fullest == DEPTH

    simulate(dut, testbench)


def test_eight_more_phases_find_room_when_it_is_ready() -> None:
    """A phase, of eight rows, leaves in so many cycles that those of an instruction come before the next one does."""
    bench = Bench(CONFIG, random.Random(1), fast=True)
    bench.request_wait = lambda: 4
    stores = [linear(False, [BASE + 256 * wavefront + 4 * lane for lane in range(64)], wavefront)
              for wavefront in range(6)]
    for store in stores:
        store.values = [bench.rng.getrandbits(32) for _ in store.values]
    bench.run(stores, gap=0.0)


def test_no_slice_waits_with_a_row_because_another_is_slow() -> None:
    """If it did, two compute units could wait for each other for ever."""
    bench = HeldSlice(SLICES, random.Random(1), fast=True)
    words: list[list[int]] = [[], []]       # of each slice
    for address in range(BASE, BASE + 4096, 4):
        words[bench.lines.slice(address >> SLICES.line_offset_bits)].append(address)
    bench.run([linear(True, words[0][:1] * 64, 0), linear(True, words[1][:64], 1), linear(True, words[1][64:128], 2),
               *(linear(True, words[1][:1] * 64, wavefront) for wavefront in range(3, 8))], gap=0.0)
