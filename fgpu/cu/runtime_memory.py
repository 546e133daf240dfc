"""Runtime memory: what the OpenCL-related instructions read (section 3.4.1)."""


from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import DIMENSION_BITS, PE_COUNT, WAVEFRONT_BITS
from fgpu.gateware.block_ram import BlockRam
from fgpu.interfaces.runtime import (
    LOCAL_ID_BITS,
    RUNTIME_WORDS,
    LocalIds,
    RuntimeAddress,
    RuntimePair,
    RuntimeWrite,
)

from .control_word import Issue, RuntimeValue
from .register_file import Words

__all__ = ["RuntimeMemory"]


class RuntimeMemory(wiring.Component):
    """512 words of 72 bits, each eight local ids or one :class:`RuntimePair`.

    Read in ``RUNTIME_STAGE`` of the pipeline, ``values`` are valid two stages later. ``wavefront_number`` gives, for
    the wavefront in that stage, its number within its work-group; local ids of a dimension beyond
    ``dimensions_minus_1`` are zero.
    """

    write: In(RuntimeWrite)
    issue: In(Issue)
    value: In(RuntimeValue)
    selector: In(4)
    """Parameter number or dimension, from the instruction's immediate."""
    wavefront_number: In(WAVEFRONT_BITS)
    dimensions_minus_1: In(DIMENSION_BITS)
    values: Out(Words)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = BlockRam(unsigned(PE_COUNT * LOCAL_ID_BITS), RUNTIME_WORDS)
        read, write = memory.read_port(), memory.write_port()
        m.d.comb += [
            write.addr.eq(self.write.address), write.data.eq(self.write.word), write.en.eq(self.write.valid),
        ]
        dimension = self.selector[:2]
        with m.Switch(self.value):
            with m.Case(RuntimeValue.LOCAL_ID):
                m.d.comb += read.addr.eq(
                    RuntimeAddress.local_ids(dimension, self.wavefront_number, self.issue.phase))
            with m.Case(RuntimeValue.PARAMETER):
                m.d.comb += read.addr.eq(RuntimeAddress.parameter(self.selector))
            with m.Case(RuntimeValue.SIZE, RuntimeValue.WORK_GROUP_SIZE):
                m.d.comb += read.addr.eq(RuntimeAddress.size(dimension))
            with m.Default():
                m.d.comb += read.addr.eq(RuntimeAddress.work_group(dimension, self.issue.wavefront))

        asked = Signal(RuntimeValue)
        is_absent = Signal()
        m.d.sync += [asked.eq(self.value), is_absent.eq(dimension > self.dimensions_minus_1)]
        pair = RuntimePair(read.data[:64])
        local_ids = data.View(LocalIds, read.data)
        high = (asked == RuntimeValue.WORK_GROUP_ID) | (asked == RuntimeValue.WORK_GROUP_SIZE)
        for lane in range(PE_COUNT):
            local_id = Mux(is_absent, 0, local_ids[lane])
            uniform = Mux(high, pair.high, pair.low)
            m.d.sync += self.values[lane].eq(Mux(asked == RuntimeValue.LOCAL_ID, local_id, uniform))
        return m
