"""Local ids of all work-items of a work-group, for the runtime memories (section 3.3)."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import DIMENSION_BITS, DIMENSIONS, PE_COUNT, PHASES, WAVEFRONT_BITS
from fgpu.interfaces.runtime import LOCAL_ID_BITS, RuntimeAddress, RuntimeWrite

__all__ = ["LocalIdGenerator"]


class LocalIdGenerator(wiring.Component):
    """Counts through a work-group eight work-items at a time.

    A work-item's ids are the digits of its number to the base of the work-group's extents. First the
    digits of 0 to 8 are counted up, one a cycle: those of the first eight work-items, and the step from
    one phase to the next. Then each cycle adds the step in one dimension, in all lanes.

    After ``start`` it is busy for 9 cycles, then writes ``dimensions`` words for each phase of each
    wavefront, one a cycle while ``enable`` is high; ``last`` tells of the last one. ``sizes`` must be 1 in unused
    dimensions.
    """

    start: In(1)
    enable: In(1)
    sizes: In(data.ArrayLayout(10, DIMENSIONS))
    dimensions_minus_1: In(DIMENSION_BITS)
    wavefronts_minus_1: In(WAVEFRONT_BITS)
    write: Out(RuntimeWrite)
    busy: Out(1)
    last: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sizes: Any = self.sizes
        ids = [Array(Signal(LOCAL_ID_BITS, name=f"id{lane}_{dimension}") for dimension in range(DIMENSIONS))
               for lane in range(PE_COUNT)]
        # The running count, and when it is done the step.
        step = Array(Signal(range(PE_COUNT + 1), name=f"step{dimension}") for dimension in range(DIMENSIONS))
        lane_count = Signal(range(PE_COUNT + 1))
        dimension = Signal(range(DIMENSIONS))
        phase, wavefront = Signal(range(PHASES)), Signal(WAVEFRONT_BITS)
        carries = Signal(PE_COUNT)
        # What is added in this dimension, and the same if the id begins anew: both sums are made at once.
        following = Signal.like(dimension)
        added, added_over = Signal(range(PE_COUNT + 1)), Signal(signed(LOCAL_ID_BITS + 2))
        m.d.comb += following.eq(dimension)
        m.d.sync += [
            dimension.eq(following), added.eq(step[following]), added_over.eq(step[following] - sizes[following]),
        ]

        wraps0, wraps1 = Signal(), Signal()
        m.d.comb += [wraps0.eq(step[0] + 1 == sizes[0]), wraps1.eq(step[1] + 1 == sizes[1])]
        with m.FSM():
            with m.State("Idle"):
                with m.If(self.start):
                    m.d.comb += following.eq(0)
                    m.d.sync += [lane_count.eq(0), phase.eq(0), wavefront.eq(0), carries.eq(0)]
                    m.d.sync += [step[number].eq(0) for number in range(DIMENSIONS)]
                    m.next = "Count"
            with m.State("Count"):
                m.d.comb += self.busy.eq(1)
                for lane in range(PE_COUNT):
                    with m.If(lane_count == lane):
                        m.d.sync += [ids[lane][number].eq(step[number]) for number in range(DIMENSIONS)]
                with m.If(lane_count == PE_COUNT):
                    m.next = "Write"
                with m.Else():
                    m.d.sync += [lane_count.eq(lane_count + 1), step[0].eq(Mux(wraps0, 0, step[0] + 1))]
                    with m.If(wraps0):
                        m.d.sync += [step[1].eq(Mux(wraps1, 0, step[1] + 1)), step[2].eq(step[2] + wraps1)]
            with m.State("Write"):
                m.d.comb += [self.busy.eq(1), self.write.valid.eq(self.enable)]
                with m.If(self.enable):
                    for lane in range(PE_COUNT):
                        over = Signal(signed(LOCAL_ID_BITS + 2), name=f"over{lane}")
                        wraps = ~over[-1]
                        m.d.comb += over.eq(ids[lane][dimension] + added_over + carries[lane])
                        m.d.sync += [
                            ids[lane][dimension].eq(
                                Mux(wraps, over, ids[lane][dimension] + added + carries[lane])),
                            carries[lane].eq(wraps),
                        ]
                    with m.If(dimension != self.dimensions_minus_1):
                        m.d.comb += following.eq(dimension + 1)
                    with m.Else():
                        m.d.comb += following.eq(0)
                        m.d.sync += [carries.eq(0), phase.eq(phase + 1)]
                        with m.If(phase == PHASES - 1):
                            m.d.sync += wavefront.eq(wavefront + 1)
                            with m.If(wavefront == self.wavefronts_minus_1):
                                m.d.comb += self.last.eq(1)
                                m.next = "Idle"
        m.d.comb += [
            self.write.address.eq(RuntimeAddress.local_ids(dimension, wavefront, phase)),
            self.write.word.eq(Cat(ids[lane][dimension] for lane in range(PE_COUNT))),
        ]
        return m
