"""What is there twice stays so in synthesis, and is equal from the second cycle on."""

from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from fgpu.gateware.queue import WideQueue
from fgpu.gateware.twins import twins
from fgpu.tools.area import component_area

FAMILIES = [pytest.param("xc7", marks=pytest.mark.ci), pytest.param("ecp5", marks=pytest.mark.long)]


class Pair(wiring.Component):
    """Two registers of four bits: twins, or with ``alike`` two that come up with the same value."""

    value: In(4)
    first: Out(4)
    second: Out(4)

    def __init__(self, *, alike: bool = False) -> None:
        self._alike = alike
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self._alike:
            registers = Signal(4, name="first_alike"), Signal(4, name="second_alike")
            m.d.sync += [register.eq(self.value) for register in registers]
        else:
            registers = twins(m, self.value, "pair")
        m.d.comb += [self.first.eq(registers[0]), self.second.eq(registers[1])]
        return m


@pytest.mark.parametrize("family", FAMILIES)
def test_synthesis_keeps_both(family: str) -> None:
    assert component_area(Pair(alike=True), family).ffs == 4
    assert component_area(Pair(), family).ffs == 8


@pytest.mark.parametrize("family", FAMILIES)
def test_a_wide_queue_has_counters_for_each_half(family: str) -> None:
    """Three counters of two bits a half; the rest, level and what goes with it, once."""
    assert component_area(WideQueue(8, depth=3), family).ffs == 2 * 3 * 2 + 2 + 3


def test_twins_are_equal() -> None:
    dut = Pair()
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)

    async def bench(ctx: Any) -> None:
        assert (ctx.get(dut.first), ctx.get(dut.second)) == (0, 15)
        for value in (5, 10, 0, 15):
            ctx.set(dut.value, value)
            await ctx.tick()
            assert ctx.get(dut.first) == ctx.get(dut.second) == value

    simulator.add_testbench(bench)
    simulator.run()
