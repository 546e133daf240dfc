"""Control interface and code RAM together: random AXI4-Lite traffic while the core fetches and reads."""

import random
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.address_map import (
    CONTROL_ADDRESS_BITS,
    CONTROL_BASE,
    CRAM_BASE,
    LRAM_WORDS,
    ControlRegister,
    register_address,
)
from fgpu.axi.signatures import AXI4LiteSignature, Response
from fgpu.code_ram import CodeRam
from fgpu.config import KERNEL_SLOTS, Config
from fgpu.control import ControlInterface
from fgpu.cu.scheduler import Fetched, FetchRequest

from ..streams import random_waits, simulate, stream_put

OKAY, SLVERR = Response.OKAY, Response.SLVERR


class Both(wiring.Component):
    """Wired as in the core."""

    def __init__(self, config: Config) -> None:
        self.control, self.code_ram = ControlInterface(config), CodeRam(config)
        super().__init__({
            "axi": In(AXI4LiteSignature(address_width=CONTROL_ADDRESS_BITS)),
            "fetch": In(stream.Signature(FetchRequest(config))).array(config.compute_units),
            "fetched": Out(Fetched).array(config.compute_units),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.control, m.submodules.code_ram = control, ram = self.control, self.code_ram
        connect(m, flipped(self.axi), control.axi)
        m.d.comb += [
            ram.address.eq(control.code_address), ram.write.eq(control.code_write),
            ram.write_data.eq(control.code_write_data), ram.read.eq(control.code_read),
            control.code_read_data.eq(ram.read_data),
        ]
        for fetch, source, fetched, result in zip(self.fetch, ram.fetch, self.fetched, ram.fetched, strict=True):
            connect(m, flipped(fetch), source)
            m.d.comb += fetched.eq(result)
        return m


class Host:
    """An AXI4-Lite master; every channel waits by itself."""

    def __init__(self, axi: Any, rng: random.Random) -> None:
        self.axi, self.wait = axi, random_waits(rng)
        self.rng = rng

    async def write(self, ctx: Any, address: int, value: int, strobe: int = 15) -> int:
        axi = self.axi
        delays = {"aw": self.wait(), "w": self.wait()}
        ctx.set(axi.awaddr, address)
        ctx.set(axi.wdata, value)
        ctx.set(axi.wstrb, strobe)
        while delays:
            for channel, delay in delays.items():
                ctx.set(getattr(axi, f"{channel}valid"), delay <= 0)
            *_, aw, w = await ctx.tick().sample(axi.awready & axi.awvalid, axi.wready & axi.wvalid)
            for channel, done in (("aw", aw), ("w", w)):
                if done:
                    ctx.set(getattr(axi, f"{channel}valid"), 0)
                    del delays[channel]
            delays = {channel: delay - 1 for channel, delay in delays.items()}
        return await self._response(ctx, axi.bvalid, axi.bready, axi.bresp)

    async def read(self, ctx: Any, address: int) -> tuple[int, int]:
        axi = self.axi
        for _ in range(self.wait()):
            await ctx.tick()
        ctx.set(axi.araddr, address)
        ctx.set(axi.arvalid, 1)
        while not (await ctx.tick().sample(axi.arready))[-1]:
            pass
        ctx.set(axi.arvalid, 0)
        data = axi.rdata, axi.rresp
        return await self._response(ctx, axi.rvalid, axi.rready, *data)

    async def _response(self, ctx: Any, valid: Any, ready: Any, *data: Any) -> Any:
        """Takes a response, which must not change while it waits."""
        wait, seen = self.wait(), None
        while True:
            ctx.set(ready, wait <= 0)
            *_, is_valid, first, last = await ctx.tick().sample(valid, data[0], data[-1])
            assert seen is None or (is_valid and (first, last) == seen)
            if is_valid:
                seen = first, last
                if wait <= 0:
                    ctx.set(ready, 0)
                    return last if len(data) == 1 else seen
            wait -= 1


def random_address(rng: random.Random, config: Config) -> int:
    return rng.choice([
        4 * rng.randrange(LRAM_WORDS), CRAM_BASE + 4 * rng.randrange(config.cram_words), rng.getrandbits(16),
        4 * LRAM_WORDS + 4 * rng.randrange(16), CRAM_BASE - 4, CRAM_BASE + 4 * config.cram_words,
        CONTROL_BASE + 4 * len(ControlRegister), CONTROL_BASE - 4,
        4 * rng.randrange(LRAM_WORDS) + rng.randrange(1, 4),
        register_address(ControlRegister.START) + rng.randrange(1, 4)])


def is_memory(address: int, config: Config) -> bool:
    return address % 4 == 0 and (address < 4 * LRAM_WORDS
                                 or CRAM_BASE <= address < CRAM_BASE + 4 * config.cram_words)


def is_register(address: int) -> bool:
    return address % 4 == 0 and CONTROL_BASE <= address < CONTROL_BASE + 4 * len(ControlRegister)


@pytest.mark.parametrize("config", [Config(cram_size=1), Config(compute_units=4)], ids=["1 KiB", "16 KiB"])
@pytest.mark.parametrize("seed", range(3))
def test_random_traffic(config: Config, seed: int) -> None:
    """The host writes even words while it, the dispatcher and the compute units read odd ones."""
    rng = random.Random(seed)
    dut = Both(config)
    host = Host(dut.axi, rng)
    memory: dict[int, int] = {}
    places = [4 * rng.randrange(LRAM_WORDS // 2) * 2 for _ in range(12)]
    places += [CRAM_BASE + 8 * rng.randrange(config.cram_words // 2) for _ in range(12)]
    steady = [place + 4 for place in places]

    async def fill(ctx) -> None:
        for place in [*places, *steady]:
            memory[place] = rng.getrandbits(32)
            assert await host.write(ctx, place, memory[place]) == OKAY

    async def writer(ctx) -> None:
        for _ in range(150):
            address = rng.choice([*places, random_address(rng, config)])
            strobe = rng.choice([15, 15, 15, 0, 1, 14, rng.randrange(16)])
            if address in steady or is_register(address) or (address in memory and address not in places):
                continue
            good = strobe == 15 and is_memory(address, config)
            value = rng.getrandbits(32)
            assert await host.write(ctx, address, value, strobe) == (OKAY if good else SLVERR), hex(address)
            if good:
                memory[address] = value

    async def reader(ctx) -> None:
        for _ in range(150):
            address = rng.choice([*steady, random_address(rng, config)])
            value, response = await host.read(ctx, address)
            good = is_memory(address, config) or is_register(address)
            assert response == (OKAY if good else SLVERR), hex(address)
            if address in steady:
                assert value == memory[address]

    async def traffic(ctx) -> None:
        await fill(ctx)
        flags.append("filled")
        await writer(ctx)
        while len(flags) < 2:
            await ctx.tick()
        for address, expected in memory.items():
            assert await host.read(ctx, address) == (expected, OKAY), hex(address)

    async def reads(ctx) -> None:
        while not flags:
            await ctx.tick()
        await reader(ctx)
        flags.append("read")

    async def dispatcher(ctx) -> None:
        chance = rng.choice([0.1, 0.9])
        control = dut.control
        words = [place // 4 for place in steady if place < CRAM_BASE]
        expected = None
        while True:
            if expected is not None:
                assert ctx.get(control.lram_data) == expected
            word = rng.choice(words)
            read = bool(flags) and rng.random() < chance
            ctx.set(control.lram_address, word)
            ctx.set(control.lram_read, read)
            expected = memory[4 * word] if read else None
            await ctx.tick()

    async def fetches(ctx, unit: int) -> None:
        wait = random_waits(rng)
        words = [(place - CRAM_BASE) // 4 for place in steady if place >= CRAM_BASE]
        while not flags:
            await ctx.tick()
        while True:
            word = rng.choice(words)
            wavefront = rng.randrange(8)
            await stream_put(ctx, dut.fetch[unit], {"wavefront": wavefront, "pair": word // 2}, wait())
            await ctx.tick()        # the answer is there 2 cycles after the request
            fetched = ctx.get(dut.fetched[unit])
            assert fetched.valid
            assert fetched.wavefront == wavefront
            assert fetched.pair >> 32 == memory[CRAM_BASE + 4 * word]

    flags: list[str] = []
    units = [lambda ctx, unit=unit: fetches(ctx, unit) for unit in range(config.compute_units)]
    simulate(dut, traffic, reads, background=[dispatcher, *units])


@pytest.mark.parametrize("seed", range(3))
def test_accesses_on_end(seed: int) -> None:
    """The host sends addresses and data without waiting for responses, which it takes when it likes."""
    rng = random.Random(seed)
    dut = ControlInterface(Config())
    axi: Any = dut.axi
    accesses = [(4 * word, rng.getrandbits(32), rng.random() < 0.8) for word in rng.sample(range(LRAM_WORDS), 60)]
    written = []

    async def send(ctx, valid: Any, ready: Any, payloads: list[dict[str, int]]) -> None:
        wait = random_waits(rng)
        for payload in payloads:
            for _ in range(wait()):
                await ctx.tick()
            for name, value in payload.items():
                ctx.set(getattr(axi, name), value)
            ctx.set(valid, 1)
            while not (await ctx.tick().sample(ready))[-1]:
                pass
            ctx.set(valid, 0)

    async def take(ctx, valid: Any, ready: Any, data: Any) -> Any:
        for _ in range(rng.choice([0, 0, 3])):
            await ctx.tick()
        ctx.set(ready, 1)
        while True:
            *_, is_valid, payload = await ctx.tick().sample(valid, data)
            if is_valid:
                ctx.set(ready, 0)
                return payload

    async def write_addresses(ctx) -> None:
        await send(ctx, axi.awvalid, axi.awready, [{"awaddr": address} for address, _, _ in accesses])

    async def write_data(ctx) -> None:
        await send(ctx, axi.wvalid, axi.wready,
                   [{"wdata": value, "wstrb": 15 if good else 7} for _, value, good in accesses])

    async def write_responses(ctx) -> None:
        for _, _, good in accesses:
            assert await take(ctx, axi.bvalid, axi.bready, axi.bresp) == (OKAY if good else SLVERR)
        written.append(True)

    async def read_addresses(ctx) -> None:
        while not written:
            await ctx.tick()
        await send(ctx, axi.arvalid, axi.arready, [{"araddr": address} for address, _, _ in accesses])

    async def read_responses(ctx) -> None:
        for _, value, good in accesses:
            assert await take(ctx, axi.rvalid, axi.rready, axi.rdata) == (value if good else 0)

    simulate(dut, write_addresses, write_data, write_responses, read_addresses, read_responses)


def test_registers() -> None:
    """Start, status, clean cache, initialize and abort against a model; no register changes by reading."""
    rng = random.Random(1)
    dut = ControlInterface(Config())
    host = Host(dut.axi, rng)
    host.wait = lambda: 0

    async def testbench(ctx) -> None:
        status = pending = clean = initialize = running = 0
        for _ in range(300):
            action = rng.choice(["start", "accept", "finish", "clean", "initialize", "abort"])
            bits = rng.getrandbits(KERNEL_SLOTS) if rng.random() < 0.3 else 1 << rng.randrange(KERNEL_SLOTS)
            if action == "start":
                await host.write(ctx, register_address(ControlRegister.START), bits)
                pending, status = pending | bits, status & ~bits
            elif action == "clean":
                await host.write(ctx, register_address(ControlRegister.CLEAN_CACHE), bits)
                clean = bits
            elif action == "initialize":
                await host.write(ctx, register_address(ControlRegister.INITIALIZE), bits)
                initialize = bits
            elif action == "abort":
                before = aborts
                await host.write(ctx, register_address(ControlRegister.ABORT), bits)
                await ctx.tick()
                assert aborts - before == bool(bits & running)
                status |= bits & pending & ~running
                pending &= ~bits
            elif action == "accept" and pending and not running:
                running = pending & -pending
                ctx.set(dut.accepted, running)
                await ctx.tick()
                ctx.set(dut.accepted, 0)
                ctx.set(dut.running, running)
                pending &= ~running
            elif action == "finish":
                ctx.set(dut.finished, running)
                await ctx.tick()
                ctx.set(dut.finished, 0)
                ctx.set(dut.running, 0)
                status, running = status | (running & ~pending), 0
            assert ctx.get(dut.pending) == pending
            assert ctx.get(dut.status) == status
            for register, value in ((ControlRegister.STATUS, status), (ControlRegister.CLEAN_CACHE, clean),
                                    (ControlRegister.INITIALIZE, initialize)):
                assert await host.read(ctx, register_address(register)) == (value, OKAY)
            assert (ctx.get(dut.clean_cache), ctx.get(dut.initialize)) == (clean, initialize)
        before = ctx.get(dut.status), ctx.get(dut.pending)
        assert await host.write(ctx, register_address(ControlRegister.START), 0xFFFF, strobe=3) == SLVERR
        assert (ctx.get(dut.status), ctx.get(dut.pending)) == before
        for register in (ControlRegister.START, ControlRegister.ABORT):
            assert (await host.read(ctx, register_address(register)))[1] == SLVERR
        assert await host.write(ctx, register_address(ControlRegister.STATUS), 0) == SLVERR

    aborts = 0      # cycles in which the running kernel was to be stopped

    async def watch(ctx) -> None:
        nonlocal aborts
        async for *_, abort in ctx.tick().sample(dut.abort):
            aborts += abort

    simulate(dut, testbench, background=[watch])
