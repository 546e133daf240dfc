"""Control interface and code RAM together: pipelined AXI4-Lite traffic while kernels are fetched and run."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from amaranth.hdl import Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.address_map import CODE_BASE, CRAM_BASE, LRAM_WORDS, code_address, control_address_bits
from fgpu.axi.signatures import AXI4LiteSignature
from fgpu.code_ram import CodeRam
from fgpu.config import KERNEL_SLOTS, Config
from fgpu.control import ControlInterface
from fgpu.interfaces.fetch import Fetched, FetchRequest

from ..seeds import seed_of_test
from ..streams import random_waits, simulate, stream_put
from .control_model import (
    ABORT,
    CLEAN,
    FAULT,
    INITIALIZE,
    INTERRUPT_ENABLE,
    INTERRUPT_STATUS,
    KERNEL_END,
    OKAY,
    REFUSED,
    SLVERR,
    START,
    STATUS,
    STOPPING_FAULT,
    ControlModel,
    Cycle,
    may_read,
)

SMALL, LARGE = Config(cram_size=1), Config(compute_units=4)
LARGER, LARGEST = Config(cram_size=32, compute_units=2), Config(cram_size=64)


class Both(wiring.Component):
    """Wired as in the core."""

    def __init__(self, config: Config) -> None:
        self.control, self.code_ram = ControlInterface(config), CodeRam(config)
        super().__init__({
            "axi": In(AXI4LiteSignature(address_width=control_address_bits(config.cram_words))),
            "fetch": In(stream.Signature(FetchRequest(config))).array(config.compute_units),
            "fetched": Out(Fetched).array(config.compute_units),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.control, m.submodules.code_ram = control, ram = self.control, self.code_ram
        connect(m, flipped(self.axi), control.axi)
        m.d.comb += [
            ram.address.eq(control.code_address), ram.write_address.eq(control.code_write_address),
            ram.write.eq(control.code_write),
            ram.write_data.eq(control.code_write_data), ram.read.eq(control.code_read),
            control.code_read_data.eq(ram.read_data),
        ]
        for fetch, source, fetched, result in zip(self.fetch, ram.fetch, self.fetched, ram.fetched, strict=True):
            connect(m, flipped(fetch), source)
            m.d.comb += fetched.eq(result)
        return m


class Host:
    """Drives the five channels, each by itself, and feeds the model with every cycle.

    ``send`` queues an access; a channel's chance to go on in a cycle is in ``pace``: 1, always. All that is offered
    stays until it is taken.
    """

    CHANNELS = ("aw", "w", "b", "ar", "r")

    def __init__(self, dut: Both, rng: random.Random) -> None:
        self.axi: Any = dut.axi
        self.rng = rng
        self.model = ControlModel(dut.control._config)
        self.pace = dict.fromkeys(self.CHANNELS, 1.0)
        self.queues: dict[str, list[dict[str, int]]] = {"aw": [], "w": [], "ar": []}
        self.answers: list[tuple[int, int, int]] = []       # address, data and response of reads
        self.responses: list[int] = []                      # of writes
        self._offered: dict[str, bool] = dict.fromkeys(self.CHANNELS, False)
        control: Any = dut.control
        axi = self.axi
        self._sampled = [Value.cast(each) for each in (
            axi.awvalid & axi.awready, axi.awaddr, axi.wvalid & axi.wready, axi.wdata, axi.wstrb,
            axi.bvalid, axi.bready, axi.bresp, axi.arvalid & axi.arready, axi.araddr,
            axi.rvalid, axi.rready, axi.rdata, axi.rresp, control.status, control.pending, control.clean_cache,
            control.initialize, control.fault, control.accepted, control.finished, control.fault_seen,
            control.running, control.irq, control.interrupt_enable, control.interrupt_status)]

    def write(self, address: int, data: int, strobe: int = 15) -> None:
        self.queues["aw"].append({"awaddr": address})
        self.queues["w"].append({"wdata": data, "wstrb": strobe})

    def read(self, *addresses: int) -> None:
        self.queues["ar"] += [{"araddr": address} for address in addresses]

    @property
    def waits(self) -> bool:
        """Whether anything is offered, or not answered."""
        return (any(self.queues.values()) or any(self._offered[name] for name in self.queues)
                or bool(self.model.reads or self.model.writes))

    async def cycle(self, ctx: Any) -> None:
        """One clock cycle."""
        for channel in self.CHANNELS:
            if self._offered[channel] or (channel in self.queues and not self.queues[channel]):
                continue
            if self.rng.random() < self.pace[channel]:
                self._offered[channel] = True
                for name, value in (self.queues[channel].pop(0) if channel in self.queues else {}).items():
                    ctx.set(getattr(self.axi, name), value)
                ctx.set(getattr(self.axi, f"{channel}{'ready' if channel in 'br' else 'valid'}"), 1)
        _, _, *values = await ctx.tick().sample(*self._sampled)
        now = Cycle(*map(int, values))
        answered = self.model.reads[0].address if self.model.reads else -1
        self.model.step(now)
        taken = {"aw": now.aw, "w": now.w, "ar": now.ar, "b": now.bvalid & now.bready, "r": now.rvalid & now.rready}
        if taken["b"]:
            self.responses.append(now.bresp)
        if taken["r"]:
            self.answers.append((answered, now.rdata, now.rresp))
        for channel, done in taken.items():
            if done:
                self._offered[channel] = False
                ctx.set(getattr(self.axi, f"{channel}{'ready' if channel in 'br' else 'valid'}"), 0)

    async def finish(self, ctx: Any, limit: int = 200) -> None:
        """Until all is answered; a moment of silence shows that nothing else is."""
        self.pace = dict.fromkeys(self.CHANNELS, 1.0)
        queued = sum(map(len, self.queues.values()))
        for _ in range(limit + 20 * queued):
            if not self.waits:
                break
            await self.cycle(ctx)
        assert not self.waits, f"not answered: {self.model.reads} {self.model.writes}"
        for _ in range(5):
            await self.cycle(ctx)


class Kernels:
    """The dispatcher as the control interface sees it: waiting kernels are accepted, run and finish, with faults."""

    def __init__(self, dut: Both, rng: random.Random) -> None:
        self.control: Any = dut.control
        self.rng = rng
        self.slot: int | None = None
        self.chances = rng.choice([(0.5, 0.1, 0.02), (1.0, 1.0, 0.0), (0.05, 0.02, 0.05)])

    def drive(self, ctx: Any) -> None:
        """Set the inputs of a cycle."""
        control, rng = self.control, self.rng
        accept, finish, fault = self.chances
        ctx.set(control.accepted, 0)
        ctx.set(control.finished, 0)
        ctx.set(control.running, 0 if self.slot is None else 1 << self.slot)
        ctx.set(Value.cast(control.fault_seen), 0)
        if rng.random() < fault:
            slot = rng.randrange(KERNEL_SLOTS) if self.slot is None else self.slot
            ctx.set(Value.cast(control.fault_seen),
                    1 << 31 | rng.randint(1, 5) << 25 | slot << 21 | rng.getrandbits(21))
        pending = ctx.get(control.pending)
        if self.slot is None and pending and rng.random() < accept:
            self.slot = (pending & -pending).bit_length() - 1
            ctx.set(control.accepted, 1 << self.slot)
        elif self.slot is not None and rng.random() < finish:
            ctx.set(control.finished, 1 << self.slot)
            self.slot = None


def addresses(rng: random.Random, config: Config) -> Callable[[], int]:
    """A source of addresses: a few words again and again, registers, anything else, and none there."""
    few = [4 * rng.randrange(LRAM_WORDS) for _ in range(4)] + [4 * rng.randrange(8) for _ in range(4)]
    few += [code_address(rng.randrange(config.cram_words)) for _ in range(4)]
    few += [CRAM_BASE + 4 * rng.randrange(8) for _ in range(4)]
    bits = control_address_bits(config.cram_words)
    if bits > 16:       # the same instructions at their other addresses, and those that differ in the upper bits only
        low = rng.randrange(8)
        few += [CODE_BASE + 4 * word for word in (low, low + 4096, config.cram_words - 8 + low)]
    bad = rng.choice([0.0, 0.05, 0.3])

    def address() -> int:
        if rng.random() < bad:
            return rng.choice([
                rng.getrandbits(bits), 4 * LRAM_WORDS, CRAM_BASE - 4, CRAM_BASE + 4 * config.cram_words,
                CODE_BASE + 4 * config.cram_words, INTERRUPT_STATUS + 4,
                STATUS - 4, rng.choice(few) + rng.randrange(1, 4), START + rng.randrange(1, 4)]) % (1 << bits)
        return rng.choice([*few, *few, STATUS, START, CLEAN, INITIALIZE, FAULT, ABORT, INTERRUPT_ENABLE,
                           INTERRUPT_STATUS])

    return address


def paces(host: Host) -> None:
    for channel in host.CHANNELS:
        host.pace[channel] = host.rng.choice([1.0, 1.0, 0.9, 0.5, 0.1])


async def traffic(ctx: Any, dut: Both, host: Host, rng: random.Random, cycles: int) -> None:
    """Random accesses, kernels and reads of the dispatcher."""
    control: Any = dut.control
    kernels = Kernels(dut, rng)
    address = addresses(rng, dut.control._config)
    reads = rng.choice([0.0, 0.1, 0.9])
    asked: int | None = None
    for number in range(cycles):
        if number % 40 == 0:
            paces(host)
        if len(host.queues["ar"]) < 3:
            host.read(address())
        if len(host.queues["aw"]) < 3:
            place = address()
            bits = rng.getrandbits(32) if place < STATUS or place >= INTERRUPT_ENABLE else (
                1 << rng.randrange(KERNEL_SLOTS))
            host.write(place, bits, rng.choice([15] * 8 + [rng.randrange(16)]))
        kernels.drive(ctx)
        if asked is not None:
            data = ctx.get(control.lram_data)
            now = host.model.now - 1
            assert host.model.may_hold(asked, data, now, now), f"the dispatcher read 0x{data:X} at 0x{asked:04X}"
        asked = 4 * rng.randrange(LRAM_WORDS if rng.random() < 0.5 else 8) if rng.random() < reads else None
        ctx.set(control.lram_read, asked is not None)
        ctx.set(control.lram_address, (asked or 0) // 4)
        await host.cycle(ctx)
    ctx.set(control.lram_read, 0)
    for name in ("accepted", "finished", "running"):
        ctx.set(getattr(control, name), 0)
    ctx.set(Value.cast(control.fault_seen), 0)
    await host.finish(ctx)


async def fetches(ctx: Any, dut: Both, host: Host, unit: int, rng: random.Random) -> None:
    """A compute unit fetches; its answer comes 2 cycles after the request was taken."""
    wait = random_waits(rng)
    words = dut.control._config.cram_words
    while True:
        pair, wavefront = rng.randrange(rng.choice([4, words // 2])), rng.randrange(8)
        await stream_put(ctx, dut.fetch[unit], {"wavefront": wavefront, "pair": pair}, wait())
        taken = host.model.now - 1
        await ctx.tick()
        fetched = ctx.get(dut.fetched[unit])
        assert fetched.valid
        assert fetched.wavefront == wavefront
        for half, word in enumerate((fetched.pair & 0xFFFF_FFFF, fetched.pair >> 32)):
            # The order of this and the host's process in a cycle is not known.
            assert host.model.may_hold(code_address(2 * pair + half), word, taken, taken + 1)


def run(config: Config, seed: object, cycles: int) -> None:
    rng = random.Random(f"{seed}")
    dut = Both(config)
    host = Host(dut, rng)
    units = [lambda ctx, unit=unit: fetches(ctx, dut, host, unit, random.Random(f"{seed} {unit}"))
             for unit in range(config.compute_units)]

    async def testbench(ctx: Any) -> None:
        await traffic(ctx, dut, host, rng, cycles)

    simulate(dut, testbench, background=units)
    assert host.model.answers > cycles / 50


@pytest.mark.parametrize("config", [SMALL, LARGE, LARGER, LARGEST], ids=["1 KiB", "16 KiB", "32 KiB", "64 KiB"])
@pytest.mark.parametrize("seed", range(4))
def test_random_traffic(config: Config, seed: int) -> None:
    """Every access is answered, once, in order and rightly, and the registers do what they should in every cycle."""
    run(config, seed, 1000)


@pytest.mark.long
@pytest.mark.parametrize("number", range(60))
def test_more_random_traffic(number: int) -> None:
    seed = f"{seed_of_test()} {number}"
    print(f"FGPU_SEED={seed_of_test()}")
    run([SMALL, LARGE, LARGER, LARGEST][number % 4], seed, 5000)


def directed(script: Callable[[Any, Both, Host], Any]) -> None:
    """Run a script with a host that is always ready."""
    dut = Both(SMALL)
    host = Host(dut, random.Random(0))

    async def testbench(ctx: Any) -> None:
        await script(ctx, dut, host)

    simulate(dut, testbench)


def access(host: Host, ctx: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """One write, one read at a time: the response of the one, data and response of the other."""
    async def write(address: int, data: int = 0, strobe: int = 15) -> int:
        host.write(address, data, strobe)
        await host.finish(ctx)
        return host.responses[-1]

    async def read(address: int) -> tuple[int, int]:
        host.read(address)
        await host.finish(ctx)
        return host.answers[-1][1:]

    return write, read


def words() -> Iterator[tuple[int, int]]:
    for word in range(8):
        yield 4 * word, 0x1000 + word
        yield CRAM_BASE + 4 * word, 0x2000 + word


@pytest.mark.parametrize("places", [
    (STATUS, 0x14, FAULT, CRAM_BASE + 12), (STATUS, 0x14), (0x14, STATUS, 0x10), (CRAM_BASE + 12, CLEAN, CRAM_BASE),
    (FAULT, CRAM_BASE + 4, STATUS, 4, 8, CRAM_BASE), (4, CRAM_BASE + 8, 12, CRAM_BASE + 16), (0x9000, 0x14, 0x18),
    (INTERRUPT_STATUS, 0x14, INTERRUPT_ENABLE, 4)])
def test_reads_back_to_back(places: tuple[int, ...]) -> None:
    """Each address is up in the cycle after the one before was accepted."""
    async def script(ctx: Any, dut: Both, host: Host) -> None:
        for address, data in words():
            host.write(address, data)
        await host.finish(ctx)
        host.read(*places)
        await host.finish(ctx)
        expected = [(dict(words()).get(place, 0), OKAY if may_read(place, SMALL) else SLVERR) for place in places]
        assert [(data if response == OKAY else 0, response) for _, data, response in host.answers] == expected

    directed(script)


def test_refused_registers() -> None:
    """Status cannot be written, start and abort cannot be read; nothing happens, but the fault register says so."""
    async def script(ctx: Any, dut: Both, host: Host) -> None:
        write, read = access(host, ctx)
        assert await write(START, 1 << 3) == OKAY
        for attempt in (lambda: write(STATUS, 0xFFFF), lambda: write(STATUS, 0), lambda: write(START, 2, 7)):
            assert await write(FAULT) == OKAY
            assert await attempt() == SLVERR
            assert await read(FAULT) == (REFUSED, OKAY)
            assert (await read(STATUS), ctx.get(dut.control.pending)) == ((0, OKAY), 1 << 3)
        for register in (START, ABORT):
            assert await write(FAULT) == OKAY
            assert (await read(register))[1] == SLVERR
            assert await read(FAULT) == (REFUSED, OKAY)

    directed(script)


@pytest.mark.parametrize("cause", [1, 2, 3, 4, 5, 7])
def test_a_refused_access_hides_no_fault(cause: int) -> None:
    """What stops a kernel replaces cause 6 in the fault register, and is itself never replaced."""
    first, second = (1 << 31 | which << 25 | 9 << 21 | 77 for which in (cause, cause % 5 + 1))

    async def script(ctx: Any, dut: Both, host: Host) -> None:
        write, read = access(host, ctx)
        assert await write(0x9000) == SLVERR
        assert await read(FAULT) == (REFUSED, OKAY)
        for fault in (first, second):
            ctx.set(Value.cast(dut.control.fault_seen), fault)
            await host.cycle(ctx)
            ctx.set(Value.cast(dut.control.fault_seen), 0)
            assert await read(FAULT) == (first, OKAY)
        assert (await read(0x9000))[1] == SLVERR
        assert await read(FAULT) == (first, OKAY)
        assert await write(FAULT) == OKAY
        assert await read(FAULT) == (0, OKAY)

    directed(script)


async def pulse(ctx: Any, host: Host, port: Any, bits: int) -> None:
    ctx.set(port, bits)
    await host.cycle(ctx)
    ctx.set(port, 0)


async def accept(ctx: Any, host: Host, control: Any, bit: int) -> None:
    """The dispatcher takes a kernel, which runs from the next cycle on."""
    await pulse(ctx, host, control.accepted, bit)
    ctx.set(control.running, bit)


async def finish(ctx: Any, host: Host, control: Any, bit: int) -> None:
    """The running kernel finishes in this cycle."""
    await pulse(ctx, host, control.finished, bit)
    ctx.set(control.running, 0)


def test_a_slot_that_runs_is_started_again() -> None:
    """It waits, and its status bit rises after the second run."""
    async def script(ctx: Any, dut: Both, host: Host) -> None:
        control = dut.control
        write, read = access(host, ctx)
        bit = 1 << 4
        await write(START, bit)
        await accept(ctx, host, control, bit)
        await write(START, bit)
        assert ctx.get(control.pending) == bit
        await finish(ctx, host, control, bit)
        assert await read(STATUS) == (0, OKAY)
        await accept(ctx, host, control, bit)
        assert await read(STATUS) == (0, OKAY)
        await finish(ctx, host, control, bit)
        assert await read(STATUS) == (bit, OKAY)

    directed(script)


def test_a_kernel_that_waits_is_aborted() -> None:
    """It is forgotten and its status bit rises; of the others nothing changes; bits of idle slots do nothing."""
    async def script(ctx: Any, dut: Both, host: Host) -> None:
        control = dut.control
        write, read = access(host, ctx)
        assert await write(START, 0b1110) == OKAY
        assert await write(ABORT, 0b10100) == OKAY
        assert ctx.get(control.pending) == 0b1010
        assert await read(STATUS) == (0b0100, OKAY)
        assert await read(FAULT) == (0, OKAY)
        assert await write(ABORT, 0b0101) == OKAY
        assert await read(STATUS) == (0b0100, OKAY)
        assert await write(ABORT, 0xFFFF, 3) == SLVERR
        assert ctx.get(control.pending) == 0b1010

    directed(script)


def test_an_abort_meets_the_start() -> None:
    """Of a kernel that the dispatcher takes before, or in the very cycle, it tells once; one that still waits never
    starts."""
    taken = []

    async def script(ctx: Any, dut: Both, host: Host, wait: int) -> None:
        control = dut.control
        write, _ = access(host, ctx)
        bit, stops, starts = 1 << 4, 0, False
        await write(START, bit)
        host.write(ABORT, bit)
        for cycle in range(12):
            if cycle >= wait and not starts and ctx.get(control.pending):
                starts = True
                await accept(ctx, host, control, bit)
            else:
                await host.cycle(ctx)
            stops += ctx.get(control.abort)
        assert ctx.get(control.pending) == 0
        assert stops == starts
        taken.append(starts)

    for wait in range(8):
        directed(partial(script, wait=wait))
    assert {True, False} == set(taken)


def test_registers() -> None:
    """One access at a time, to all bits of all registers; no register changes by reading."""
    rng = random.Random(1)

    async def script(ctx: Any, dut: Both, host: Host) -> None:
        control = dut.control
        write, read = access(host, ctx)
        status = pending = clean = initialize = 0
        for _ in range(60):
            action = rng.choice(["start", "accept", "finish", "clean", "initialize"])
            bits = rng.getrandbits(KERNEL_SLOTS) if rng.random() < 0.3 else 1 << rng.randrange(KERNEL_SLOTS)
            if action == "start":
                await write(START, bits)
                pending, status = pending | bits, status & ~bits
            elif action == "clean":
                await write(CLEAN, bits)
                clean = bits
            elif action == "initialize":
                await write(INITIALIZE, bits)
                initialize = bits
            elif action == "accept":
                await pulse(ctx, host, control.accepted, bits & pending)
                pending &= ~bits
            else:
                await pulse(ctx, host, control.finished, bits & ~pending)
                status |= bits & ~pending
            assert ctx.get(control.pending) == pending
            for register, value in ((STATUS, status), (CLEAN, clean), (INITIALIZE, initialize)):
                assert await read(register) == (value, OKAY)
            assert (ctx.get(control.clean_cache), ctx.get(control.initialize)) == (clean, initialize)

    directed(script)


def test_interrupts() -> None:
    """The end and the fault of a kernel raise the enabled ones of their bits, until these are acknowledged."""
    async def script(ctx: Any, dut: Both, host: Host) -> None:
        control = dut.control
        write, read = access(host, ctx)

        async def kernel(bit: int, fault: int = 0) -> None:
            assert await write(START, bit) == OKAY
            await accept(ctx, host, control, bit)
            await pulse(ctx, host, Value.cast(control.fault_seen), fault)
            await finish(ctx, host, control, bit)

        # A host that knows nothing of interrupts has none.
        await kernel(1 << 2, 1 << 31 | 1 << 25 | 2 << 21)
        assert (ctx.get(control.irq), await read(INTERRUPT_ENABLE)) == (0, (0, OKAY))
        assert await read(INTERRUPT_STATUS) == (KERNEL_END | STOPPING_FAULT, OKAY)
        # Each is masked by itself; to enable what has happened interrupts.
        for enable, acknowledged in ((KERNEL_END, KERNEL_END), (STOPPING_FAULT, STOPPING_FAULT)):
            assert await write(INTERRUPT_ENABLE, enable) == OKAY
            assert ctx.get(control.irq) == 1
            assert await write(INTERRUPT_STATUS, 3 - acknowledged) == OKAY
            assert ctx.get(control.irq) == 1
            assert await write(INTERRUPT_STATUS, acknowledged) == OKAY
            assert (ctx.get(control.irq), await read(INTERRUPT_STATUS)) == (0, (0, OKAY))
            await kernel(1 << 2, 1 << 31 | 1 << 25 | 2 << 21)
        # A refused access, and an abort of a kernel that waits, are the host's own doing.
        assert await write(INTERRUPT_STATUS, 3) == OKAY
        assert await write(INTERRUPT_ENABLE, 3) == OKAY
        assert (await read(0x9000))[1] == SLVERR
        assert await write(START, 1) == OKAY
        assert await write(ABORT, 1) == OKAY
        assert (await read(STATUS))[0] & 1
        assert ctx.get(control.irq) == 0

    directed(script)


@pytest.mark.parametrize("delay", range(8))
def test_no_interrupt_is_lost(delay: int) -> None:
    """A second kernel ends so many cycles after the host acknowledges the end of the first."""
    async def script(ctx: Any, dut: Both, host: Host) -> None:
        control = dut.control
        write, read = access(host, ctx)
        await write(INTERRUPT_ENABLE, KERNEL_END)
        await write(START, 0b11)
        await accept(ctx, host, control, 1)
        await finish(ctx, host, control, 1)
        assert ctx.get(control.irq) == 1
        await accept(ctx, host, control, 2)
        host.write(INTERRUPT_STATUS, KERNEL_END)
        for _ in range(delay):
            await host.cycle(ctx)
        await finish(ctx, host, control, 2)
        assert ctx.get(control.irq) == 1
        await host.finish(ctx)
        # The write takes effect in cycle 3. What ended before is acknowledged, too: status shows it already.
        assert (ctx.get(control.irq), await read(STATUS)) == (delay >= 3, (0b11, OKAY))

    directed(script)
