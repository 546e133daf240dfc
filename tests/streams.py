"""Test benches for components with streams, in Amaranth's simulator."""

import random
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from amaranth.hdl import ClockDomain, Module
from amaranth.lib import wiring
from amaranth.sim import Simulator

__all__ = ["random_waits", "simulate", "stream_get", "stream_put"]

Testbench = Callable[[Any], Awaitable[None]]


def simulate(component: wiring.Component, *testbenches: Testbench, background: Iterable[Testbench] = (),
             limit: int = 100_000) -> None:
    """Run until all ``testbenches`` return; those in ``background`` are stopped then. A hang is an error."""
    m = Module()
    m.domains.sync = ClockDomain()      # also for combinational components
    m.submodules.dut = component
    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    running = len(testbenches)

    def counted(testbench: Testbench) -> Testbench:
        async def run(ctx: Any) -> None:
            nonlocal running
            await testbench(ctx)
            running -= 1
        return run

    def endless(testbench: Testbench) -> Testbench:
        async def run(ctx: Any) -> None:
            await testbench(ctx)
        return run

    async def watchdog(ctx: Any) -> None:
        for _ in range(limit):
            await ctx.tick()
            if not running:
                return
        raise AssertionError(f"no end after {limit} cycles")

    for testbench in testbenches:
        simulator.add_testbench(counted(testbench))
    for testbench in background:
        simulator.add_testbench(endless(testbench), background=True)
    simulator.add_testbench(watchdog)
    simulator.run()


def random_waits(rng: random.Random) -> Callable[[], int]:
    """A source of waits: none, seldom some, or often many, for one test."""
    chance, most = rng.choice([(0.0, 0), (0.2, 3), (0.7, 8)])
    return lambda: rng.randint(1, most) if rng.random() < chance else 0


async def stream_put(ctx: Any, stream: Any, payload: Any, wait: int = 0) -> None:
    """Offer ``payload`` after ``wait`` cycles until it is taken."""
    for _ in range(wait):
        await ctx.tick()
    ctx.set(stream.payload, payload)
    ctx.set(stream.valid, 1)
    while not (await ctx.tick().sample(stream.ready))[-1]:
        pass
    ctx.set(stream.valid, 0)


async def stream_get(ctx: Any, stream: Any, wait: int = 0) -> Any:
    """Take one payload, ready after ``wait`` cycles."""
    for _ in range(wait):
        await ctx.tick()
    ctx.set(stream.ready, 1)
    while True:
        *_, valid, payload = await ctx.tick().sample(stream.valid, stream.payload)
        if valid:
            ctx.set(stream.ready, 0)
            return payload
