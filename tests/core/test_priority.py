"""The priority encoder: the number of the lowest of any requests."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from fgpu.gateware.choose import encode_lowest


@pytest.mark.parametrize("domain", ["comb", "sync"])
def test_every_combination_of_requests(domain: str) -> None:
    m = Module()
    requests, number = Signal(5), Signal(4, init=9)
    encode_lowest(m, number, requests, first=3, domain=domain)

    async def testbench(ctx) -> None:
        kept = 9
        for bits in range(1 << len(requests)):
            ctx.set(requests, bits)
            if domain == "sync":
                await ctx.tick()
            wanted = next((3 + bit for bit in range(5) if bits >> bit & 1), kept)
            assert ctx.get(number) == wanted, f"{bits:05b}"
            kept = wanted if domain == "sync" else 9

    simulator = Simulator(m)
    if domain == "sync":
        simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()
