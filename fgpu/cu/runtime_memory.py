"""Runtime memory: what the OpenCL-related instructions read (section 3.4.1)."""


from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fgpu.config import DIMENSION_BITS, PE_COUNT, WAVEFRONT_BITS
from fgpu.gateware.block_ram import BlockRam
from fgpu.interfaces.runtime import (
    LOCAL_ID_BITS,
    RUNTIME_WORDS,
    WORK_GROUP_PAIRS,
    LocalIds,
    RuntimeAddress,
    RuntimePair,
    RuntimeWrite,
)

from .control_word import Issue, RuntimeValue

__all__ = ["RuntimeMemory"]


class RuntimeMemory(wiring.Component):
    """512 words of 72 bits, each eight local ids or one :class:`RuntimePair`. Work-group offsets are also in a small
    memory of their own, for ``gid`` needs local ids and an offset at once.

    Read in ``RUNTIME_STAGE`` of the pipeline, the local ids (if ``wants_local_ids``) and the ``uniform`` ``value``
    (for local ids none but the offset) are valid two stages later. ``wavefront_number`` gives, for the wavefront in
    ``RUNTIME_STAGE``, its number within its work-group; local ids of a dimension beyond ``dimensions_minus_1`` are
    zero. A read a cycle, and beside it a ``write`` of a word, which reads get from the next cycle on.
    """

    write: In(RuntimeWrite)
    issue: In(Issue)
    value: In(RuntimeValue)
    wants_local_ids: In(1)
    selector: In(4)
    """Parameter number or dimension, from the instruction's immediate."""
    wavefront_number: In(WAVEFRONT_BITS)
    dimensions_minus_1: In(DIMENSION_BITS)
    uniform: Out(32)
    local_ids: Out(LocalIds)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = BlockRam(unsigned(PE_COUNT * LOCAL_ID_BITS), RUNTIME_WORDS)
        read, write = memory.read_port(), memory.write_port()
        m.d.comb += [
            write.addr.eq(self.write.address), write.data.eq(self.write.word), write.en.eq(self.write.valid),
        ]
        dimension = self.selector[:2]
        of_group = RuntimeAddress.work_group(dimension, self.issue.wavefront)
        with m.If(self.wants_local_ids):
            m.d.comb += read.addr.eq(RuntimeAddress.local_ids(dimension, self.wavefront_number, self.issue.phase))
        with m.Else():
            with m.Switch(self.value):
                with m.Case(RuntimeValue.PARAMETER):
                    m.d.comb += read.addr.eq(RuntimeAddress.parameter(self.selector))
                with m.Case(RuntimeValue.SIZE, RuntimeValue.WORK_GROUP_SIZE):
                    m.d.comb += read.addr.eq(RuntimeAddress.size(dimension))
                with m.Default():
                    m.d.comb += read.addr.eq(of_group)

        m.submodules.offsets = offsets = Memory(shape=unsigned(32), depth=WORK_GROUP_PAIRS, init=[])
        offset_write, offset_read = offsets.write_port(), offsets.read_port(domain="comb")
        m.d.comb += [
            offset_write.addr.eq(self.write.address),
            offset_write.data.eq(RuntimePair(self.write.word[:64]).low),
            offset_write.en.eq(self.write.valid & RuntimeAddress.is_work_group(self.write.address)),
            offset_read.addr.eq(of_group),
        ]

        takes = data.StructLayout({"nothing": 1, "offset": 1, "high": 1, "of_offset": 32})
        asked, took = Signal(takes), Signal(takes)
        word = Signal.like(read.data)       # in the block RAM's output register
        m.d.sync += [
            asked.nothing.eq(dimension > self.dimensions_minus_1),
            asked.offset.eq(self.value == RuntimeValue.WORK_GROUP_OFFSET),
            asked.high.eq((self.value == RuntimeValue.WORK_GROUP_ID) | (self.value == RuntimeValue.WORK_GROUP_SIZE)),
            asked.of_offset.eq(offset_read.data),
            took.eq(asked), word.eq(read.data),
        ]
        pair = RuntimePair(word[:64])
        m.d.comb += [
            self.uniform.eq(Mux(took.offset, took.of_offset, Mux(took.high, pair.high, pair.low))),
            self.local_ids.eq(Mux(took.nothing, 0, word)),
        ]
        return m
