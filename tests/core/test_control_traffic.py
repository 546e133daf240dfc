"""Pipelined AXI4-Lite traffic while kernels are fetched and run: control interface and code RAM together."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from amaranth.hdl import Value

from fgpu.address_map import CODE_BASE, CRAM_BASE, LRAM_WORDS, code_address, control_address_bits
from fgpu.config import KERNEL_SLOTS, Config

from ..seeds import seed_of_test
from ..streams import random_waits, simulate, stream_put
from .control_bench import SMALL, Both, Host
from .control_model import ABORT, CLEAN, FAULT, INITIALIZE, INTERRUPT_ENABLE, INTERRUPT_STATUS, START, STATUS

LARGE, LARGER, LARGEST = Config(compute_units=4), Config(cram_size=32, compute_units=2), Config(cram_size=64)


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
