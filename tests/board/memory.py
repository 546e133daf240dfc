"""Memory behind an AXI4 port, in Python."""

import random
from typing import Any

from tests.streams import random_waits

__all__ = ["SIZE", "Memory"]

SIZE = 0x1000


class Memory:
    """An AXI4 memory that answers bursts of a kind in order, after random waits; the model to compare with."""

    def __init__(self, rng: random.Random, data_width: int) -> None:
        self.words: dict[int, int] = {}
        self._bytes = data_width // 8
        self._rng = rng
        self._wait = random_waits(rng)

    async def read(self, ctx: Any, axi: Any) -> None:
        """Answer reads."""
        while True:
            beats, number = await self._burst(ctx, axi, "ar")
            for at in beats:
                await self._pause(ctx)
                ctx.set(axi.rdata, sum(self.words.get(at + byte, 0) << 8 * byte for byte in range(self._bytes)))
                ctx.set(axi.rid, number)
                ctx.set(axi.rlast, at == beats[-1])
                await self._give(ctx, axi.rvalid, axi.rready)

    async def write(self, ctx: Any, axi: Any) -> None:
        """Take writes; data may come before, with or behind their addresses."""
        while True:
            beats, number = await self._burst(ctx, axi, "aw")
            for at in beats:
                await self._pause(ctx)
                ctx.set(axi.wready, 1)
                while True:
                    *_, valid, word, strobe, last = await ctx.tick().sample(
                        axi.wvalid, axi.wdata, axi.wstrb, axi.wlast)
                    if valid:
                        break
                ctx.set(axi.wready, 0)
                assert last == (at == beats[-1])
                for byte in range(self._bytes):
                    if strobe >> byte & 1:
                        self.words[at + byte] = word >> 8 * byte & 0xFF
            await self._pause(ctx)
            ctx.set(axi.bid, number)
            await self._give(ctx, axi.bvalid, axi.bready)

    async def _burst(self, ctx: Any, axi: Any, channel: str) -> tuple[list[int], int]:
        """Take an address: where the beats of its burst are, and its number."""
        ready = getattr(axi, f"{channel}ready")
        ctx.set(ready, 1)
        while True:
            *_, valid, address, beats, number = await ctx.tick().sample(
                *(getattr(axi, channel + name) for name in ("valid", "addr", "len", "id")))
            if valid:
                break
        ctx.set(ready, 0)
        first = address - address % self._bytes
        return [(first + beat * self._bytes) % SIZE for beat in range(beats + 1)], number

    async def _give(self, ctx: Any, valid: Any, ready: Any) -> None:
        ctx.set(valid, 1)
        while not (await ctx.tick().sample(ready))[-1]:
            pass
        ctx.set(valid, 0)

    async def _pause(self, ctx: Any) -> None:
        for _ in range(self._wait()):
            await ctx.tick()
