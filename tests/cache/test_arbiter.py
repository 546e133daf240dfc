"""In what order the arbiter serves compute units that all have requests."""

import pytest

from fgpu.cache.arbiter import Arbiter
from fgpu.cache.bus import MemoryOp
from fgpu.config import Config

from ..streams import simulate


@pytest.mark.parametrize(("op", "ports", "order"), [
    (MemoryOp.READ, 1, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0, 0, 0, 0, 1, 1]),
    (MemoryOp.WRITE, 1, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),
    (MemoryOp.READ, 2, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),       # the next line is another slice's
])
def test_turns(op: MemoryOp, ports: int, order: list[int]) -> None:
    dut = Arbiter(Config(compute_units=4, axi_ports=ports))
    served: list[int] = []

    async def testbench(ctx) -> None:
        for port in (dut.granted, dut.writes):
            ctx.set(port.ready, 1)
        ctx.set(dut.admit_reads, 1)
        while len(served) < len(order):
            for request in dut.requests:
                ctx.set(request.valid, 1)
                ctx.set(request.payload.op, op)
            served.extend(number for number, request in enumerate(dut.requests) if ctx.get(request.ready))
            await ctx.tick()

    simulate(dut, testbench, limit=100)
    assert served == order


def test_the_rest_of_a_turn_goes_first_when_it_comes() -> None:
    """Neither the turns of others nor writes in between make a compute unit wait with half of its data."""
    read, write = MemoryOp.READ, MemoryOp.WRITE
    # Of each compute unit: (cycle from which it asks, operation, line).
    asked = [[(0, read, 0), (3, read, 1), (3, read, 2), (3, read, 3), (3, read, 4)], [(0, write, 20), (0, write, 21)],
             [(0, read, 5), (4, read, 6)], [(0, write, 30), (0, write, 31)]]
    order = [(0, 0), (1, 20), (2, 5), (0, 1), (0, 2), (0, 3), (2, 6), (3, 30), (0, 4), (1, 21), (3, 31)]
    dut = Arbiter(Config(compute_units=4))
    served: list[tuple[int, int]] = []

    async def testbench(ctx) -> None:
        cycle = 0
        for port in (dut.granted, dut.writes):
            ctx.set(port.ready, 1)
        ctx.set(dut.admit_reads, 1)
        while len(served) < len(order):
            for request, left in zip(dut.requests, asked, strict=True):
                ctx.set(request.valid, int(bool(left) and left[0][0] <= cycle))
                if left:
                    ctx.set(request.payload.op, left[0][1])
                    ctx.set(request.payload.line, left[0][2])
            for number, (request, left) in enumerate(zip(dut.requests, asked, strict=True)):
                if ctx.get(request.ready):
                    served.append((number, left.pop(0)[2]))
            await ctx.tick()
            cycle += 1

    simulate(dut, testbench, limit=100)
    assert served == order
