"""What is there twice, so that it is near what it steers, stays so in synthesis."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.cu.register_file import RegisterFile
from fgpu.gateware.queue import WideQueue
from fgpu.tools.area import component_area

FAMILIES = [pytest.param("xc7", marks=pytest.mark.ci), pytest.param("ecp5", marks=pytest.mark.long)]


class Pair(wiring.Component):
    """Two counters: the register file's, which are of themselves, or others that are both ``of_beat``."""

    beat: In(2)
    first: Out(2)
    second: Out(2)

    def __init__(self, *, of_beat: bool) -> None:
        self._of_beat = of_beat
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, output in (("first", self.first), ("second", self.second)):
            if self._of_beat:
                count = Signal(2, name=name)
                m.d.sync += count.eq(self.beat + 1)
            else:
                count = RegisterFile._turns(m, name, 0)
            m.d.comb += output.eq(count)
        return m


@pytest.mark.parametrize("family", FAMILIES)
def test_synthesis_keeps_counters_of_their_own(family: str) -> None:
    assert component_area(Pair(of_beat=True), family).ffs == 2
    assert component_area(Pair(of_beat=False), family).ffs == 4


@pytest.mark.parametrize("family", FAMILIES)
def test_a_wide_queue_has_counters_for_each_half(family: str) -> None:
    """Three counters of two bits a half; the rest, level and what goes with it, once."""
    assert component_area(WideQueue(8, depth=3), family).ffs == 2 * 3 * 2 + 2 + 3
