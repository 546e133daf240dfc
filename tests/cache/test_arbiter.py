"""In what order the arbiter serves compute units that all have requests."""

import pytest

from fgpu.cache.arbiter import Arbiter
from fgpu.cache.bus import MemoryOp
from fgpu.config import Config

from ..streams import simulate


@pytest.mark.parametrize(("op", "lines", "ports", "order"), [
    (MemoryOp.READ, [0, 1, 2, 3], 1, [0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1]),     # pairs stay together
    (MemoryOp.READ, [0, 2, 4, 6], 1, [0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1]),     # nobody goes on and on
    (MemoryOp.READ, [1, 3, 5, 7], 1, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),
    (MemoryOp.WRITE, [0, 1, 2, 3], 1, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),
    (MemoryOp.READ, [0, 1, 2, 3], 2, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),     # the other line is another slice's
])
def test_turns(op: MemoryOp, lines: list[int], ports: int, order: list[int]) -> None:
    dut = Arbiter(Config(compute_units=4, axi_ports=ports))
    served: list[int] = []

    async def testbench(ctx) -> None:
        sent = [0] * 4
        for port in (dut.granted, dut.writes):
            ctx.set(port.ready, 1)
        ctx.set(dut.admit_reads, 1)
        while len(served) < len(order):
            for number, request in enumerate(dut.requests):
                ctx.set(request.valid, 1)
                ctx.set(request.payload.op, op)
                ctx.set(request.payload.line, lines[sent[number] % len(lines)])
            for number, request in enumerate(dut.requests):
                if ctx.get(request.ready):
                    sent[number] += 1
                    served.append(number)
            await ctx.tick()

    simulate(dut, testbench, limit=100)
    assert served == order
