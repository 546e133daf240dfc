"""The round-robin choice: one of the requesters, and none waits longer than a full turn."""

import random

import pytest

from fgpu.gateware.round_robin import RoundRobin

from ..streams import simulate


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_random_requests(count: int) -> None:
    rng = random.Random(count)
    dut = RoundRobin(count)

    async def testbench(ctx) -> None:
        last, waited = -1, [0] * count
        for _ in range(500):
            requests, accept = rng.choice([rng.getrandbits(count), (1 << count) - 1]), rng.random() < 0.8
            ctx.set(dut.requests, requests)
            ctx.set(dut.accept, accept)
            wanted = [number for number in range(count) if requests >> number & 1]
            assert ctx.get(dut.valid) == bool(wanted)
            for number in range(count):
                asking = sorted({*wanted, number})
                first = min([other for other in asking if other > last] or asking)
                assert ctx.get(dut.offered) >> number & 1 == (first == number)
            if wanted:
                choice = ctx.get(dut.choice)
                assert choice == min([number for number in wanted if number > last] or wanted)
                if accept:
                    last = choice
                    waited = [waited[number] + 1 if number in wanted and number != choice else 0
                              for number in range(count)]
                    assert max(waited) < count
            await ctx.tick()

    simulate(dut, testbench)
