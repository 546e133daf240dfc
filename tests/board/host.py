"""A host at the other end of a line, written from the protocol's description, and what its commands reach."""

import random
import zlib
from collections.abc import Callable
from typing import Any

OKAY, ERROR = 0x4F, 0x45
FRAME_WRITE, FRAME_READ, FRAME_LEAVE = 0xD8, 0xE7, 0xBD
BAD = 0x100
"""Added to a byte: one that had no stop bit."""


def plain(command: int, address: int, *, words: list[int] | None = None, count: int = 0) -> bytes:
    """A UARTBone command; ``address`` in bytes."""
    words = words or []
    data = b"".join(word.to_bytes(4, "big") for word in words)
    return bytes([command, (len(words) or count) % 256]) + (address // 4).to_bytes(4, "big") + data


def frame(command: int, sequence: int, address: int, *, words: list[int] | None = None, count: int = 1) -> bytes:
    """A frame; ``address`` in bytes."""
    words = words or []
    text = bytes([command, sequence, (len(words) or count) - 1]) + (address // 4).to_bytes(4, "big")
    text += b"".join(word.to_bytes(4, "big") for word in words)
    return text + zlib.crc32(text).to_bytes(4, "little")


def answer(sequence: int, words: list[int] | None = None, status: int = OKAY) -> bytes:
    """What a frame is answered with."""
    text = bytes([sequence]) + b"".join(word.to_bytes(4, "big") for word in words or []) + bytes([status])
    return text + zlib.crc32(text).to_bytes(4, "little")


def damages(rng: random.Random) -> Callable[[bytes], list[int]]:
    """What a line may do to bytes."""
    def flip(text: bytes) -> list[int]:
        found = list(text)
        for _ in range(rng.choice([1, 1, 2, 5])):
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
        return found

    def drop(text: bytes) -> list[int]:
        at = rng.randrange(len(text))
        return list(text[:at] + text[at + rng.choice([1, 1, 3, len(text)]):])

    def add(text: bytes) -> list[int]:
        at = rng.randrange(len(text))
        return [*text[:at], rng.randrange(256), *text[at:]]

    def unstop(text: bytes) -> list[int]:
        at = rng.randrange(len(text))
        return [*text[:at], text[at] + BAD, *text[at + 1:]]

    return rng.choice([flip, drop, add, unstop])


class WordMemory:
    """Answers accesses of a word bus in random time; with an error where ``end`` or more is asked for, in bytes."""

    def __init__(self, seed: int = 0, *, end: int = 1 << 32) -> None:
        self.words: dict[int, int] = {}
        self.writes: list[tuple[int, int]] = []
        self._random = random.Random(seed)
        self._end = end

    async def serve(self, ctx: Any, bus: Any) -> None:
        """A test bench in the background."""
        while True:
            ctx.set(bus.requests.ready, 1)
            *_, valid, request = await ctx.tick().sample(bus.requests.valid, bus.requests.payload)
            if not valid:
                continue
            ctx.set(bus.requests.ready, 0)
            for _ in range(self._random.randrange(4)):
                await ctx.tick()
            address = 4 * request.address
            is_wrong = address >= self._end
            if request.write and not is_wrong:
                self.words[address] = request.data
                self.writes.append((address, request.data))
            ctx.set(bus.answers.payload, {"data": self.words.get(address, 0), "error": is_wrong})
            ctx.set(bus.answers.valid, 1)
            while not (await ctx.tick().sample(bus.answers.ready))[-1]:
                pass
            ctx.set(bus.answers.valid, 0)
