"""The serial line: bits, rates, breaks, and an independent model of the UART."""

import random
from typing import Any

import pytest

from fgpu.board.line import HostLine
from fgpu.board.protocol import RETRIES_TO_DEFAULT, rate_of
from fgpu.board.uart import UARTReceiver, UARTTransmitter
from tests.streams import simulate

from .host import FRAME_READ, WordMemory, answer, frame, plain

BREAK = 400


async def put_bytes(ctx: Any, rx: Any, text: bytes, cycles: float, *, stop: int = 1) -> None:
    """Bytes on a line whose bits take so many cycles, which need not be a whole number."""
    at = 0.0
    for byte in text:
        for bit in [0, *(byte >> place & 1 for place in range(8)), stop]:
            ctx.set(rx, bit)
            begin, at = round(at), at + cycles
            await ctx.tick().repeat(round(at) - begin)
    ctx.set(rx, 1)


async def get_bytes(ctx: Any, tx: Any, cycles: float, got: bytearray) -> None:
    """What comes over a line; for the background."""
    while True:
        while (await ctx.tick().sample(tx))[-1]:
            pass
        byte, at = 0, 0
        for bit in range(9):
            await ctx.tick().repeat(int((bit + 1.5) * cycles) - at - 1)
            at = int((bit + 1.5) * cycles) - 1
            value = (await ctx.tick().sample(tx))[-1]
            at += 1
            if bit < 8:
                byte |= value << bit
            else:
                assert value, "no stop bit"
        got.append(byte)


@pytest.mark.parametrize(("cycles", "drift"), [
    (4, 1), (4.34, 0.995), (4.34, 1.005), (16.667, 0.98), (16.667, 1), (16.667, 1.02), (21.3, 0.98), (21.3, 1.02)])
def test_received(cycles: float, drift: float) -> None:
    """Two ends whose clocks differ by two percent understand each other; fewer where a bit is hardly sampled."""
    text = random.Random(1).randbytes(20) + b"\x00\xff\x55"
    dut = UARTReceiver(break_cycles=BREAK)
    got = []

    async def send(ctx: Any) -> None:
        ctx.set(dut.rate, rate_of(1, cycles))
        await ctx.tick().repeat(3)
        await put_bytes(ctx, dut.rx, text, cycles * drift)
        await ctx.tick().repeat(int(3 * cycles))

    async def take(ctx: Any) -> None:
        ctx.set(dut.output.ready, 1)
        while True:
            *_, valid, payload = await ctx.tick().sample(dut.output.valid, dut.output.payload)
            if valid:
                got.append((payload.value, payload.bad))

    simulate(dut, send, background=[take])
    assert got == [(byte, 0) for byte in text]


@pytest.mark.parametrize("cycles", [4, 16.667])
def test_sent(cycles: float) -> None:
    text = random.Random(2).randbytes(20) + b"\x00\xff"
    dut = UARTTransmitter()
    got = bytearray()

    async def offer(ctx: Any) -> None:
        ctx.set(dut.rate, rate_of(1, cycles))
        for byte in text:
            ctx.set(dut.input.payload, byte)
            ctx.set(dut.input.valid, 1)
            while not (await ctx.tick().sample(dut.input.ready))[-1]:
                pass
        ctx.set(dut.input.valid, 0)
        await ctx.tick().repeat(int(12 * cycles))

    async def listen(ctx: Any) -> None:
        await get_bytes(ctx, dut.tx, cycles, got)

    simulate(dut, offer, background=[listen])
    assert bytes(got) == text


def test_bad_bytes_are_told() -> None:
    """One without stop bit is bad, and so is the next one after some that nobody took; noise is no byte."""
    dut = UARTReceiver(break_cycles=BREAK)
    got = []

    async def send(ctx: Any) -> None:
        ctx.set(dut.rate, rate_of(1, 8))
        await ctx.tick().repeat(3)
        ctx.set(dut.rx, 0)      # noise
        await ctx.tick().repeat(2)
        ctx.set(dut.rx, 1)
        await ctx.tick().repeat(20)
        await put_bytes(ctx, dut.rx, b"\x12", 8, stop=0)
        await put_bytes(ctx, dut.rx, b"", 8)
        await ctx.tick().repeat(20)
        got.append(await take(ctx))
        await put_bytes(ctx, dut.rx, b"abc", 8)
        await ctx.tick().repeat(20)
        got.append(await take(ctx))
        await put_bytes(ctx, dut.rx, b"de", 8)
        got.append(await take(ctx))
        await put_bytes(ctx, dut.rx, b"f", 8)
        await ctx.tick().repeat(20)
        got.append(await take(ctx))

    async def take(ctx: Any) -> tuple[int, int]:
        ctx.set(dut.output.ready, 1)
        *_, valid, payload = await ctx.tick().sample(dut.output.valid, dut.output.payload)
        ctx.set(dut.output.ready, 0)
        assert valid
        return payload.value, payload.bad

    simulate(dut, send)
    assert got == [(0x12, 1), (ord("a"), 0), (ord("d"), 1), (ord("f"), 1)]


def converse(script: Any) -> WordMemory:
    """A host's conversation with the whole line at 8 cycles a bit at first."""
    memory = WordMemory()
    dut = HostLine(default_rate=rate_of(1, 8), timeout_cycles=300, break_cycles=BREAK)

    async def host(ctx: Any) -> None:
        await ctx.tick().repeat(3)
        await script(ctx, dut)

    async def serve(ctx: Any) -> None:
        await memory.serve(ctx, dut.words)

    simulate(dut, host, background=[serve])
    return memory


async def exchange(ctx: Any, dut: HostLine, text: bytes, cycles: float, wait: int = 1200) -> bytes:
    """What is answered to some bytes."""
    await put_bytes(ctx, dut.rx, text, cycles)
    line = []
    for _ in range(wait):
        line.append((await ctx.tick().sample(dut.tx))[-1])
    got, at = bytearray(), 0
    while 0 in line[at:]:
        at = line.index(0, at)
        bits = [line[at + int((bit + 0.5) * cycles)] for bit in range(10)]
        assert bits[9], "no stop bit"
        got.append(sum(bit << place for place, bit in enumerate(bits[1:9])))
        at += int(9.5 * cycles)
    return bytes(got)


def test_a_new_rate_holds_after_the_answer() -> None:
    async def script(ctx: Any, dut: HostLine) -> None:
        await put_bytes(ctx, dut.rx, frame(FRAME_READ, 0x80, 0x100), 8)
        ctx.set(dut.new_rate, rate_of(1, 4))
        ctx.set(dut.set_rate, 1)
        await ctx.tick()
        ctx.set(dut.set_rate, 0)
        assert await exchange(ctx, dut, b"", 8) == answer(0x80, [0])
        assert await exchange(ctx, dut, frame(FRAME_READ, 0x81, 0x100), 4) == answer(0x81, [0])

    converse(script)


def test_a_host_that_knows_nothing_of_the_rate_is_understood_in_the_end() -> None:
    async def script(ctx: Any, dut: HostLine) -> None:
        ctx.set(dut.new_rate, rate_of(1, 4))
        ctx.set(dut.set_rate, 1)
        await ctx.tick()
        ctx.set(dut.set_rate, 0)
        tries = 0
        while await exchange(ctx, dut, frame(FRAME_READ, 0x80, 0x100), 8) != answer(0x80, [0]):
            tries += 1
            assert tries <= RETRIES_TO_DEFAULT
        assert tries

    converse(script)


def test_a_break_ends_a_session() -> None:
    async def script(ctx: Any, dut: HostLine) -> None:
        assert await exchange(ctx, dut, frame(FRAME_READ, 0x80, 0x100), 8) == answer(0x80, [0])
        assert await exchange(ctx, dut, plain(1, 0x100, words=[9]), 8) == b""
        ctx.set(dut.rx, 0)
        await ctx.tick().repeat(BREAK + 10)
        ctx.set(dut.rx, 1)
        await ctx.tick().repeat(400)
        assert await exchange(ctx, dut, plain(1, 0x100, words=[10]), 8) == b""

    assert converse(script).writes == [(0x100, 10)]
