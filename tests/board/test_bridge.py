"""The bridge: UARTBone, frames, and that nothing which is damaged is taken for right."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from fgpu.board.bridge import Bridge
from tests.streams import simulate
from tests.tiers import quick

from .host import BAD, ERROR, FRAME_LEAVE, FRAME_READ, FRAME_WRITE, WordMemory, answer, damages, frame, plain

TIMEOUT = 60


class Line:
    """The bytes of a host, and what comes back."""

    def __init__(self, ctx: Any, dut: Bridge) -> None:
        self._ctx, self._dut = ctx, dut
        self.got = bytearray()

    async def send(self, text: bytes | list[int]) -> None:
        received = self._dut.received
        for byte in text:
            self._ctx.set(received.payload, {"value": byte % BAD, "bad": byte >= BAD})
            self._ctx.set(received.valid, 1)
            while not (await self._ctx.tick().sample(received.ready))[-1]:
                pass
            self._ctx.set(received.valid, 0)

    async def silence(self, cycles: int = TIMEOUT + 10) -> bytes:
        """What has come since the last time, after some cycles."""
        await self._ctx.tick().repeat(cycles)
        found = bytes(self.got)
        self.got.clear()
        return found


def talk(script: Callable[[Line], Any], memory: WordMemory | None = None) -> WordMemory:
    """Run a host's side of a conversation; what is in memory then."""
    memory = memory or WordMemory()
    dut = Bridge(timeout_cycles=TIMEOUT)
    lines: list[Line] = []

    async def host(ctx: Any) -> None:
        lines.append(Line(ctx, dut))
        await script(lines[0])

    async def listen(ctx: Any) -> None:
        ctx.set(dut.sent.ready, 1)
        while True:
            *_, valid, byte = await ctx.tick().sample(dut.sent.valid, dut.sent.payload)
            if valid:
                lines[0].got.append(byte)

    async def serve(ctx: Any) -> None:
        await memory.serve(ctx, dut.words)

    simulate(dut, host, background=[listen, serve])
    return memory


def test_uartbone() -> None:
    words = [0x01020304, 0xFFFFFFFF, 0x80000000]

    async def script(line: Line) -> None:
        await line.send(plain(1, 0x1000, words=words))
        await line.send(plain(2, 0x1000, count=3))
        assert await line.silence() == b"".join(word.to_bytes(4, "big") for word in words)
        await line.send(plain(3, 0x2000, words=words))
        await line.send(plain(4, 0x2000, count=2))
        assert await line.silence() == words[-1].to_bytes(4, "big") * 2

    assert [address for address, _ in talk(script).writes] == [0x1000, 0x1004, 0x1008, 0x2000, 0x2000, 0x2000]


@pytest.mark.parametrize("count", quick([1, 2, 256], [1, 2]))
def test_frames(count: int) -> None:
    words = [random.Random(count).getrandbits(32) for _ in range(count)]

    async def script(line: Line) -> None:
        await line.send(frame(FRAME_WRITE, 0x80, 0x100, words=words))
        assert await line.silence(count * 12 + 100) == answer(0x80)
        await line.send(frame(FRAME_READ, 0x81, 0x100, count=count))
        assert await line.silence(count * 12 + 100) == answer(0x81, words)

    assert talk(script).writes == [(0x100 + 4 * number, word) for number, word in enumerate(words)]


def test_errors_of_the_bus_are_told() -> None:
    async def script(line: Line) -> None:
        await line.send(frame(FRAME_WRITE, 0x90, 0xFFC, words=[1, 2]))
        assert await line.silence() == answer(0x90, status=ERROR)
        await line.send(frame(FRAME_READ, 0x91, 0xFFC))
        assert await line.silence() == answer(0x91, [1])

    talk(script, WordMemory(end=0x1000))


def test_a_repeated_write_is_executed_once() -> None:
    async def script(line: Line) -> None:
        for _ in range(3):
            await line.send(frame(FRAME_WRITE, 0x85, 0x8004, words=[1]))
            assert await line.silence() == answer(0x85)
        await line.send(frame(FRAME_WRITE, 0x86, 0x8004, words=[1]))
        assert await line.silence() == answer(0x86)

    assert talk(script).writes == [(0x8004, 1)] * 2


def test_a_write_with_the_number_of_a_read_is_executed() -> None:
    async def script(line: Line) -> None:
        await line.send(frame(FRAME_READ, 0x85, 0x100))
        assert await line.silence() == answer(0x85, [0])
        await line.send(frame(FRAME_WRITE, 0x85, 0x100, words=[3]))
        assert await line.silence() == answer(0x85)

    assert talk(script).writes == [(0x100, 3)]


@pytest.mark.parametrize("address", [1 << 30, (1 << 30) - 1, (1 << 32) - 1])
def test_addresses_do_not_begin_again(address: int) -> None:
    """Of words beyond 32 bits of bytes."""
    memory = WordMemory(end=1 << 32)

    async def script(line: Line) -> None:
        await line.send(frame(FRAME_WRITE, 0x80, 4 * address, words=[1, 2, 3]))
        assert await line.silence() == answer(0x80, status=ERROR)

    talk(script, memory)
    assert memory.writes == [(4 * address, 1)] * (address < 1 << 30)


def test_in_a_session_commands_without_checksum_are_nothing() -> None:
    async def script(line: Line) -> None:
        await line.send(frame(FRAME_READ, 0x80, 0))
        await line.silence()
        await line.send(plain(1, 0x100, words=[7]))
        assert await line.silence() == b""
        await line.send(frame(FRAME_LEAVE, 0x81, 0))
        assert await line.silence() == answer(0x81)
        await line.send(plain(1, 0x200, words=[8]))
        await line.silence()

    assert talk(script).writes == [(0x200, 8)]


def test_a_host_that_stops_in_the_middle_is_forgotten() -> None:
    text = frame(FRAME_WRITE, 0x80, 0x100, words=[1, 2, 3])

    async def script(line: Line) -> None:
        for end in range(1, len(text)):
            await line.send(text[:end])
            assert await line.silence() == b""
            await line.send(frame(FRAME_READ, 0x80 + end, 0x200))
            assert await line.silence() == answer(0x80 + end, [0])

    assert talk(script).writes == []


@pytest.mark.parametrize("seed", quick(range(8), [0]))
def test_damaged_frames_do_nothing(seed: int) -> None:
    """What a damaged frame would have written is not written, and after a silence the next one is understood."""
    rng = random.Random(seed)
    right: list[tuple[int, int]] = []

    async def script(line: Line) -> None:
        await line.send(frame(FRAME_READ, 0xFF, 0))
        assert await line.silence() == answer(0xFF, [0])
        for number in range(24):
            words = [rng.choice([rng.getrandbits(32), 0x01010000 + rng.getrandbits(8)])
                     for _ in range(rng.randint(1, 6))]
            address = 4 * rng.randrange(1, 64)
            text = frame(FRAME_WRITE, 0x80 + number, address, words=words)
            damaged = damages(rng)(text)
            if damaged != list(text):
                await line.send(damaged)
                assert await line.silence() == b""
                assert memory.writes == right
            await line.send(text)
            assert await line.silence() == answer(0x80 + number)
            right.extend((address + 4 * index, word) for index, word in enumerate(words))
            assert memory.writes == right

    memory = WordMemory(seed)
    talk(script, memory)
    assert len(right) > 24
