"""Starts the wavefronts of a work-group on free slots of a compute unit."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import DIMENSIONS, WAVEFRONT_BITS, WAVEFRONTS
from fgpu.gateware.choose import encode_lowest, lowest, number_of
from fgpu.interfaces.runtime import RuntimeAddress, RuntimePair, RuntimeWrite
from fgpu.interfaces.work_groups import GROUP_BITS, KernelInfo, ResidentGroups, WorkGroup

from .divergence import MaskWrite

__all__ = ["COMPUTE_UNIT_BITS", "Launcher"]

COMPUTE_UNIT_BITS = 3
"""Bits of the number of a compute unit in a work-group's place."""
_GROUPS = 1 << GROUP_BITS


class Launcher(wiring.Component):
    """Takes a work-group when enough slots are free; starts one wavefront every 3 cycles, or every 4 with ``place``.

    A wavefront starts in the first of these, for it has to fetch its first instruction; meanwhile the runtime memory
    gets its work-group's offset and id, one dimension each, and the place: not while the dispatcher writes there,
    ``loading``. ``start`` is one-hot; ``number`` is the wavefront's number within its work-group. A work-group has
    the lowest number that is free when it is taken, from then until its last wavefront has ended; with
    ``local_groups`` one below that.
    """

    compute_unit: In(COMPUTE_UNIT_BITS)
    kernel: In(KernelInfo)
    work_groups: In(stream.Signature(WorkGroup))
    free: In(WAVEFRONTS)
    clearing: In(1)
    """Registers are being cleared: no wavefront may start."""
    loading: In(1)
    """The runtime memory is the dispatcher's; nothing is issued until 2 cycles after."""
    start: Out(WAVEFRONTS)
    number: Out(WAVEFRONT_BITS)
    group: Out(GROUP_BITS)
    """The number of the wavefront's work-group, valid with ``start``."""
    groups: Out(ResidentGroups)
    mask_write: Out(MaskWrite)
    mask_ready: In(1)
    runtime_write: Out(RuntimeWrite)
    room: Out(1)
    """``work_groups`` will be accepted at once."""
    busy: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kernel: Any = self.kernel
        group = Signal(WorkGroup)
        dimension = Signal(range(DIMENSIONS + 1))
        free_count = Signal(range(WAVEFRONTS + 1))
        m.d.comb += free_count.eq(sum(self.free[slot] for slot in range(WAVEFRONTS)))

        # The lowest free slot when the wavefront's turn begins; others may become free meanwhile.
        slot, held = Signal(range(WAVEFRONTS)), Signal(WAVEFRONTS)
        choosing = Signal()
        with m.If(choosing):
            m.d.sync += held.eq(lowest(self.free))
            encode_lowest(m, slot, self.free, domain="sync")

        taking, taken, has_number = self._numbers(m)
        last = Signal()         # the number is that of the last wavefront; known before, for the mask has far to go
        pair = Signal(RuntimePair)
        m.d.comb += [
            pair.low.eq(Array([*(group.offsets[number] for number in range(DIMENSIONS)),
                               Cat(self.group, self.compute_unit)])[dimension]),
            pair.high.eq(Array(group.ids[number] for number in range(DIMENSIONS))[dimension]),
            self.runtime_write.address.eq(RuntimeAddress.work_group(dimension, slot)),
            self.runtime_write.word.eq(Cat(pair)),
            self.mask_write.wavefront.eq(slot),
            self.mask_write.mask.eq(Mux(last, kernel.last_mask, -1)),
        ]
        waiting = Signal()      # the wavefront has still to start
        m.d.comb += [
            self.mask_write.valid.eq(waiting),
            self.start.eq(held & (waiting & self.mask_ready).replicate(WAVEFRONTS)),
        ]
        with m.If(self.mask_ready):
            m.d.sync += waiting.eq(0)
        able = Signal()         # to take a work-group, if none starts now
        m.d.sync += able.eq(~self.clearing & has_number & (free_count > kernel.wavefronts_minus_1))
        finishing = dimension == Mux(kernel.place, DIMENSIONS, DIMENSIONS - 1)
        with m.FSM():
            with m.State("Idle"):
                m.d.comb += [
                    self.room.eq(able), self.work_groups.ready.eq(able), choosing.eq(1),
                ]
                m.d.sync += [group.eq(self.work_groups.payload), self.number.eq(0), dimension.eq(0),
                             taking.eq(lowest(~taken)), last.eq(kernel.wavefronts_minus_1 == 0)]
                with m.If(self.work_groups.valid & self.work_groups.ready):
                    m.d.sync += waiting.eq(1)
                    m.next = "Start wavefront"
            with m.State("Start wavefront"):
                m.d.comb += [self.busy.eq(1), self.runtime_write.valid.eq(~self.loading),
                             self.groups.starting.eq(taking)]
                with m.If(~self.loading & ~finishing):
                    m.d.sync += dimension.eq(dimension + 1)
                with m.If(~self.loading & finishing & ~waiting):
                    m.d.comb += choosing.eq(1)
                    m.d.sync += [dimension.eq(0), self.number.eq(self.number + 1), waiting.eq(~last),
                                 last.eq(self.number + 1 == kernel.wavefronts_minus_1)]
                    with m.If(last):
                        m.next = "Idle"
        return m

    def _numbers(self, m: Module) -> tuple[Signal, Signal, Value]:
        """The number of the work-group that starts and those that are taken, a bit each, and whether one is left."""
        kernel: Any = self.kernel
        members: Any = self.groups.members
        taking = Signal(_GROUPS)
        taken = Signal(_GROUPS)
        for slot in range(WAVEFRONTS):
            with m.If(self.start[slot]):
                m.d.sync += members[slot].eq(taking)
            with m.Elif(self.free[slot]):
                m.d.sync += members[slot].eq(0)
        unlimited = kernel.local_groups == 0
        allowed = Cat(1, *(number < kernel.local_groups for number in range(1, _GROUPS)))
        m.d.comb += [
            self.group.eq(number_of(taking)),
            taken.eq(reduce(or_, (members[slot] for slot in range(WAVEFRONTS)))),
        ]
        return taking, taken, (~taken & allowed).any() | unlimited
