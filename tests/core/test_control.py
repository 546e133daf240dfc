"""The control interface with the code RAM behind it: registers, interrupts, refusals, and what meets in one cycle."""

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from amaranth.hdl import Value

from fgpu.address_map import CRAM_BASE
from fgpu.config import KERNEL_SLOTS

from .control_bench import SMALL, Both, Host, access, directed
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
    may_read,
)


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


def test_an_abort_meets_the_end() -> None:
    """What has finished is not stopped any more: that would be the next kernel."""
    before = []

    async def script(ctx: Any, dut: Both, host: Host, wait: int) -> None:
        control = dut.control
        write, _ = access(host, ctx)
        bit, stops = 1 << 4, []
        await write(START, bit)
        await accept(ctx, host, control, bit)
        host.write(ABORT, bit)
        for cycle in range(12):
            if cycle == wait:
                await finish(ctx, host, control, bit)
            else:
                await host.cycle(ctx)
            stops.append(ctx.get(control.abort))
        assert not any(stops[wait:])
        before.append(any(stops))

    for wait in range(8):
        directed(partial(script, wait=wait))
    assert {True, False} == set(before)


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
