"""Runtime memory: what the OpenCL-related instructions read (section 3.4.1)."""

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT
from fgpu.gateware.block_ram import BlockRam

from .control_word import Issue, RuntimeValue
from .register_file import Words

__all__ = ["LOCAL_ID_BITS", "LocalIds", "RuntimeAddress", "RuntimeMemory", "RuntimePair", "RuntimeWrite"]

LOCAL_ID_BITS = 9

LocalIds = data.ArrayLayout(LOCAL_ID_BITS, PE_COUNT)
"""Local ids, in one dimension, of the eight work-items of a phase."""


class RuntimePair(data.Struct):
    """Two words that are kept together: work-group offset and id, size and work-group size, or a parameter."""

    low: 32
    high: 32


class RuntimeAddress:
    """Where things are in the 512 words; each function returns a 9-bit address."""

    @staticmethod
    def local_ids(dimension: Any, wavefront: Any, phase: Any) -> Value:
        """Local ids; ``wavefront`` (3 bits) is the number within the work-group."""
        return Cat(phase, wavefront, dimension, C(0, 1))

    @staticmethod
    def parameter(number: Any) -> Value:
        """Kernel parameter ``number`` (4 bits), in the low half of a pair."""
        return Cat(number, C(0b1_0000, 5))

    @staticmethod
    def size(dimension: Any) -> Value:
        """Pair of global size and work-group size."""
        return Cat(dimension, C(0b1_0001_00, 7))

    @staticmethod
    def work_group(dimension: Any, slot: Any) -> Value:
        """Pair of work-group offset and id, of the work-group that runs in wavefront slot ``slot`` (3 bits)."""
        return Cat(dimension, slot, C(0b1_100, 4))


class RuntimeWrite(data.Struct):
    """One word written by the dispatcher or at the start of a wavefront."""

    valid: 1
    address: 9
    word: PE_COUNT * LOCAL_ID_BITS


class RuntimeMemory(wiring.Component):
    """512 words of 72 bits, each eight local ids or one :class:`RuntimePair`.

    Read in stage 4 of the pipeline, ``values`` are valid in stage 6. ``wavefront_number`` gives, for the
    wavefront in stage 4, its number within its work-group; local ids of a dimension beyond
    ``dimensions_minus_1`` are zero.
    """

    write: In(RuntimeWrite)
    issue: In(Issue)
    value: In(RuntimeValue)
    selector: In(4)
    """Parameter number or dimension, from the instruction's immediate."""
    wavefront_number: In(3)
    dimensions_minus_1: In(2)
    values: Out(Words)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = BlockRam(unsigned(PE_COUNT * LOCAL_ID_BITS), 512)
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
