"""Words on AXI, and several masters before one memory."""

import random
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.axi import AXI4LiteSignature, AXI4Signature
from fgpu.axi.arbiter import AXIArbiter
from fgpu.board.word_master import WordMaster
from fgpu.board.words import AddressRange, WordBusSignature, WordRouter
from tests.streams import simulate
from tests.tiers import quick

from .memory import SIZE, Memory

BASE = 0x1000_0000
DECERR = 3


async def write_burst(ctx: Any, axi: Any, rng: random.Random, address: int, words: list[int], strobe: int) -> int:
    """A write burst whose data may come first; the response."""
    number = rng.randrange(64)
    ctx.set(axi.awaddr, address)
    ctx.set(axi.awid, number)
    ctx.set(axi.awlen, len(words) - 1)
    late = rng.choice([0, 0, 5])
    sent, addressed, cycle = 0, False, 0
    while sent < len(words) or not addressed:
        ctx.set(axi.awvalid, not addressed and cycle >= late)
        ctx.set(axi.wvalid, sent < len(words))
        if sent < len(words):
            ctx.set(axi.wdata, words[sent])
            ctx.set(axi.wstrb, strobe)
            ctx.set(axi.wlast, sent == len(words) - 1)
        *_, awvalid, awready, wvalid, wready = await ctx.tick().sample(
            axi.awvalid, axi.awready, axi.wvalid, axi.wready)
        addressed |= awvalid and awready
        sent += wvalid and wready
        cycle += 1
    ctx.set(axi.awvalid, 0)
    ctx.set(axi.wvalid, 0)
    ctx.set(axi.bready, 1)
    while True:
        *_, valid, answered, response = await ctx.tick().sample(axi.bvalid, axi.bid, axi.bresp)
        if valid:
            break
    ctx.set(axi.bready, 0)
    assert answered == number
    return response.value


async def read_burst(ctx: Any, axi: Any, rng: random.Random, address: int, beats: int) -> tuple[list[int], set[int]]:
    """A read burst: data and responses."""
    number = rng.randrange(64)
    ctx.set(axi.araddr, address)
    ctx.set(axi.arid, number)
    ctx.set(axi.arlen, beats - 1)
    ctx.set(axi.arvalid, 1)
    while not (await ctx.tick().sample(axi.arready))[-1]:
        pass
    ctx.set(axi.arvalid, 0)
    words: list[int] = []
    responses = set()
    while len(words) < beats:
        ctx.set(axi.rready, rng.random() < 0.8)
        *_, valid, ready, answered, word, response, last = await ctx.tick().sample(
            axi.rvalid, axi.rready, axi.rid, axi.rdata, axi.rresp, axi.rlast)
        if valid and ready:
            assert answered == number
            words.append(word)
            responses.add(response.value)
            assert last == (len(words) == beats)
    ctx.set(axi.rready, 0)
    return words, responses


@pytest.mark.parametrize("seed", quick(range(6), [0]))
@pytest.mark.parametrize("masters", [2, 3])
def test_masters_share_memory(masters: int, seed: int) -> None:
    """Each writes and reads places of its own, so that all that it reads is known; and outside of memory."""
    rng = random.Random(seed)
    dut = AXIArbiter(masters, data_width=64, base=BASE, size=SIZE)
    memory = Memory(rng, 64)
    ended = []

    def bench(number: int, axi: Any) -> Any:
        own = random.Random(f"{seed}-{number}")

        async def run(ctx: Any) -> None:
            known: dict[int, int] = {}
            for _ in range(30):
                beats = own.choice([1, 2, 16])
                outside = own.random() < 0.2
                first = own.randrange(32 - beats + 1)
                address = BASE + number * 0x100 + 8 * first + (own.choice([SIZE, -SIZE]) if outside else 0)
                if own.random() < 0.5:
                    words = [own.getrandbits(64) for _ in range(beats)]
                    strobe = own.choice([0xFF, 0x0F, 0xF0])
                    response = await write_burst(ctx, axi, own, address, words, strobe)
                    assert response == (DECERR if outside else 0)
                    mask = sum(0xFF << 8 * byte for byte in range(8) if strobe >> byte & 1)
                    if not outside:
                        known |= {first + place: known.get(first + place, 0) & ~mask | word & mask
                                  for place, word in enumerate(words)}
                else:
                    words, responses = await read_burst(ctx, axi, own, address, beats)
                    assert responses == {DECERR if outside else 0}
                    if not outside:
                        assert words == [known.get(first + place, 0) for place in range(beats)]
            ended.append(number)

        return run

    async def read(ctx: Any) -> None:
        await memory.read(ctx, dut.memory)

    async def write(ctx: Any) -> None:
        await memory.write(ctx, dut.memory)

    simulate(dut, *(bench(number, axi) for number, axi in enumerate(dut.masters)), background=[read, write])
    assert len(ended) == masters


class Words(wiring.Component):
    """A router before two masters of words, one of each kind."""

    def __init__(self, data_width: int) -> None:
        super().__init__({
            "host": In(WordBusSignature()), "lite": Out(AXI4LiteSignature(address_width=16)),
            "memory": Out(AXI4Signature(data_width=data_width)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.router = router = WordRouter([AddressRange(0, 0x1_0000), AddressRange(BASE, SIZE)])
        connect(m, flipped(self.host), router.host)
        for target, port in zip(router.targets, (self.lite, self.memory), strict=True):
            m.submodules += (master := WordMaster(port.signature))
            connect(m, target, master.words)
            connect(m, master.axi, flipped(port))
        return m


async def access(ctx: Any, host: Any, address: int, word: int | None = None) -> tuple[int, int]:
    """An access to a byte address: data and error."""
    ctx.set(host.requests.payload, {"address": address // 4, "write": word is not None, "data": word or 0})
    ctx.set(host.requests.valid, 1)
    while not (await ctx.tick().sample(host.requests.ready))[-1]:
        pass
    ctx.set(host.requests.valid, 0)
    ctx.set(host.answers.ready, 1)
    while True:
        *_, valid, answer = await ctx.tick().sample(host.answers.valid, host.answers.payload)
        if valid:
            ctx.set(host.answers.ready, 0)
            return answer.data, answer.error


@pytest.mark.parametrize("data_width", [32, 64])
def test_words_reach_what_has_their_address(data_width: int) -> None:
    rng = random.Random(data_width)
    dut = Words(data_width)
    memory = Memory(rng, data_width)

    async def host(ctx: Any) -> None:
        words = {BASE + 4 * place: rng.getrandbits(32) for place in range(16)}
        for address, word in words.items():
            assert (await access(ctx, dut.host, address, word))[1] == 0
        for address, word in words.items():
            assert await access(ctx, dut.host, address) == (word, 0)
        for address in (BASE + SIZE, BASE - 4, 0x1_0000, 0x8000_0000):
            assert (await access(ctx, dut.host, address, 1))[1] == 1
            assert (await access(ctx, dut.host, address))[1] == 1

    async def read(ctx: Any) -> None:
        await memory.read(ctx, dut.memory)

    async def write(ctx: Any) -> None:
        await memory.write(ctx, dut.memory)

    simulate(dut, host, background=[read, write])


def test_refused_accesses_of_the_control_interface_are_errors() -> None:
    dut = Words(64)

    async def host(ctx: Any) -> None:
        assert await access(ctx, dut.host, 0x8000) == (77, 1)
        assert (await access(ctx, dut.host, 0x8004, 5))[1] == 1

    async def lite(ctx: Any) -> None:
        axi = dut.lite
        while not (await ctx.tick().sample(axi.arvalid))[-1]:
            pass
        assert ctx.get(axi.araddr) == 0x8000
        for signal, value in ((axi.arready, 1), (axi.rvalid, 1), (axi.rdata, 77), (axi.rresp, 2)):
            ctx.set(signal, value)
        while not (await ctx.tick().sample(axi.rready))[-1]:
            pass
        ctx.set(axi.rvalid, 0)
        ctx.set(axi.wready, 1)
        while not (await ctx.tick().sample(axi.wvalid))[-1]:
            pass
        assert (ctx.get(axi.awaddr), ctx.get(axi.wdata), ctx.get(axi.wstrb)) == (0x8004, 5, 0xF)
        ctx.set(axi.awready, 1)
        ctx.set(axi.bvalid, 1)
        ctx.set(axi.bresp, 2)

    simulate(dut, host, background=[lite])
