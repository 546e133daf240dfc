"""In what order the arbiter serves compute units that all have requests."""

from itertools import count

import pytest

from fgpu.cache.arbiter import Arbiter
from fgpu.config import Config
from fgpu.interfaces.memory_bus import MemoryOp

from ..streams import simulate

READ, WRITE = MemoryOp.READ, MemoryOp.WRITE


@pytest.mark.parametrize(("op", "ports", "often", "order"), [
    (READ, 1, 2, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0, 0, 0, 0, 1, 1]),
    (READ, 1, 1, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),        # no read had to wait
    (WRITE, 1, 2, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),
    (READ, 2, 2, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),        # the next line is another slice's
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


def serve(asked: list[list[tuple[int, MemoryOp, int]]], *, often: int = 1, foreseen: bool = True,
          ) -> list[tuple[int, int, int]]:
    """(cycle, compute unit, line) of each request that is served; ``asked`` has those of each compute unit: (cycle
    from which it asks, operation, line). ``foreseen``: the arbiter is told of what comes next."""
    dut = Arbiter(Config(compute_units=4))
    served: list[tuple[int, int, int]] = []

    async def testbench(ctx) -> None:
        for ready in (dut.granted.ready, dut.writes_room):
            ctx.set(ready, 1)
        await ctx.tick()
        for cycle in count():
            if not any(asked):
                return
            ctx.set(dut.admit_reads, cycle % often == 0)
            likely = 0
            for number, (request, left) in enumerate(zip(dut.requests, asked, strict=True)):
                asks = bool(left) and left[0][0] <= cycle
                ctx.set(request.valid, asks)
                if asks:
                    ctx.set(request.payload.op, left[0][1])
                    ctx.set(request.payload.line, left[0][2])
                    if ctx.get(request.ready):
                        served.append((cycle, number, left.pop(0)[2]))
                        asks = False
                likely |= (not asks and bool(left) and left[0][0] <= cycle + 1) << number
            ctx.set(dut.likely, likely if foreseen else 0)
            await ctx.tick()

    simulate(dut, testbench, limit=100)
    return served


def test_the_rest_of_a_turn_goes_first_when_it_comes() -> None:
    """Neither the turns of others nor writes in between make a compute unit wait with half of its data."""
    served = serve([[(0, READ, 0), (3, READ, 1), (3, READ, 2), (3, READ, 3), (3, READ, 4)],
                    [(0, WRITE, 20), (0, WRITE, 21)],
                    [(0, READ, 5), (4, READ, 6)], [(0, READ, 30), (0, READ, 31)]], often=2)
    assert [(cu, line) for _, cu, line in served] == [
        (0, 0), (1, 20), (2, 5), (1, 21), (2, 6), (0, 1), (0, 2), (0, 3), (3, 30), (3, 31), (0, 4)]


@pytest.mark.parametrize(("foreseen", "cycles"), [(True, [0, 1, 5, 6, 9]), (False, [0, 1, 6, 7, 10])])
def test_who_comes_unforeseen_is_served_a_cycle_later(foreseen: bool, cycles: list[int]) -> None:
    """One after another of the same compute unit is never late: whose turn it is stays."""
    served = serve([[(0, READ, 0), (1, READ, 1)], [], [(5, WRITE, 2), (6, WRITE, 3)], [(9, READ, 4)]],
                   foreseen=foreseen)
    assert [line for _, _, line in served] == [0, 1, 2, 3, 4]
    assert [cycle for cycle, _, _ in served] == cycles


def test_all_are_served_without_a_gap() -> None:
    """Who was seen waiting needs no foresight."""
    ops = READ, WRITE, READ, WRITE
    served = serve([[(0, op, 10 * cu + line) for line in range(4)] for cu, op in enumerate(ops)], foreseen=False)
    assert [cycle for cycle, _, _ in served] == list(range(16))
    assert [cu for _, cu, _ in served] == [0, 1, 2, 3] * 4
