"""Lets the wavefronts of a work-group go on when all of them have come to a barrier."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import WAVEFRONTS
from fgpu.interfaces.work_groups import GROUP_BITS, ResidentGroups

__all__ = ["Barrier"]


class Barrier(wiring.Component):
    """``release`` says, a cycle later, that a slot has ``arrived`` at a barrier together with all of its work-group.

    Those that still start are awaited, those that have ended are not. Who is released may not have ``arrived`` again
    for 2 cycles, nor a new wavefront in its slot.
    """

    groups: In(ResidentGroups)
    arrived: In(WAVEFRONTS)
    release: Out(WAVEFRONTS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        groups: Any = self.groups
        awaited = Signal(1 << GROUP_BITS)       # work-groups with a wavefront that has not arrived
        complete = Signal(1 << GROUP_BITS)
        m.d.comb += awaited.eq(reduce(
            or_, (groups.members[slot] & (~self.arrived[slot]).replicate(len(awaited)) for slot in range(WAVEFRONTS)),
            groups.starting))
        m.d.sync += complete.eq(~awaited)
        m.d.comb += [self.release[slot].eq(self.arrived[slot] & (groups.members[slot] & complete).any())
                     for slot in range(WAVEFRONTS)]
        return m
