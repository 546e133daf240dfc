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

FAMILIES = ["xc7", pytest.param("ecp5", marks=pytest.mark.long)]


class Pair(wiring.Component):
    """Twins of four bits."""

    value: In(4)
    first: Out(4)
    second: Out(4)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        first, second = twins(m, self.value, "pair")
        m.d.comb += [self.first.eq(first), self.second.eq(second)]
        return m


class Single(wiring.Component):
    """The same as two registers that are always equal."""

    value: In(4)
    first: Out(4)
    second: Out(4)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for each in (self.first, self.second):
            register = Signal(4)
            m.d.sync += register.eq(self.value)
            m.d.comb += each.eq(register)
        return m


@pytest.mark.parametrize("family", FAMILIES)
def test_synthesis_keeps_both(family: str) -> None:
    assert component_area(Single(), family).ffs == 4
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
