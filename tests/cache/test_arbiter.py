"""In what order the arbiter serves compute units that all have requests."""

from itertools import count

import pytest

from fgpu.cache.arbiter import Arbiter
from fgpu.config import Config
from fgpu.interfaces.memory_bus import MemoryOp

from ..streams import simulate


@pytest.mark.parametrize(("op", "ports", "often", "order"), [
    (MemoryOp.READ, 1, 2, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0, 0, 0, 0, 1, 1]),
    (MemoryOp.READ, 1, 1, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),        # no read had to wait
    (MemoryOp.WRITE, 1, 2, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),
    (MemoryOp.READ, 2, 2, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),        # the next line is another slice's
])
def test_turns(op: MemoryOp, ports: int, often: int, order: list[int]) -> None:
    """Reads are admitted every cycle, or every other."""
    dut = Arbiter(Config(compute_units=4, axi_ports=ports))
    served: list[int] = []

    async def testbench(ctx) -> None:
        for ready in (dut.granted.ready, dut.writes_room):
            ctx.set(ready, 1)
        await ctx.tick()
        for cycle in count():
            if len(served) >= len(order):
                return
            ctx.set(dut.admit_reads, cycle % often == 0)
            for request in dut.requests:
                ctx.set(request.valid, 1)
                ctx.set(request.payload.op, op)
            served.extend(number for number, request in enumerate(dut.requests) if ctx.get(request.ready))
            await ctx.tick()

    simulate(dut, testbench, limit=100)
    assert served[:len(order)] == order


def test_the_rest_of_a_turn_goes_first_when_it_comes() -> None:
    """Neither the turns of others nor writes in between make a compute unit wait with half of its data."""
    read, write = MemoryOp.READ, MemoryOp.WRITE
    # Of each compute unit: (cycle from which it asks, operation, line).
    asked = [[(0, read, 0), (3, read, 1), (3, read, 2), (3, read, 3), (3, read, 4)], [(0, write, 20), (0, write, 21)],
             [(0, read, 5), (4, read, 6)], [(0, read, 30), (0, read, 31)]]
    order = [(0, 0), (1, 20), (2, 5), (1, 21), (2, 6), (0, 1), (0, 2), (0, 3), (3, 30), (3, 31), (0, 4)]
    dut = Arbiter(Config(compute_units=4))
    served: list[tuple[int, int]] = []

    async def testbench(ctx) -> None:
        for ready in (dut.granted.ready, dut.writes_room):
            ctx.set(ready, 1)
        await ctx.tick()
        for cycle in count():
            if len(served) == len(order):
                return
            ctx.set(dut.admit_reads, cycle % 2 == 0)
            for request, left in zip(dut.requests, asked, strict=True):
                ctx.set(request.valid, int(bool(left) and left[0][0] <= cycle))
                if left:
                    ctx.set(request.payload.op, left[0][1])
                    ctx.set(request.payload.line, left[0][2])
            for number, (request, left) in enumerate(zip(dut.requests, asked, strict=True)):
                if ctx.get(request.ready):
                    served.append((number, left.pop(0)[2]))
            await ctx.tick()

    simulate(dut, testbench, limit=100)
    assert served == order
