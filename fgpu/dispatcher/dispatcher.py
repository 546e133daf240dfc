"""Work-group dispatcher: from a kernel descriptor to work-groups on compute units (section 3.3)."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.address_map import (
    DESCRIPTOR_WORDS,
    LRAM_WORDS,
    DescriptorWord,
    EntryWord,
    ShapeWord,
    SizeWord,
)
from fgpu.config import DIMENSION_BITS, DIMENSIONS, KERNEL_SLOTS, WAVEFRONT_SIZE, Config
from fgpu.gateware.choose import encode_lowest
from fgpu.gateware.round_robin import RoundRobin
from fgpu.interfaces.runtime import RuntimeAddress, RuntimePair, RuntimeWrite
from fgpu.interfaces.work_groups import KernelInfo, WorkGroup

from .local_ids import LocalIdGenerator

__all__ = ["Dispatcher"]

_FIRST_PARAMETER = DescriptorWord.PARAMETERS.value
_FIRST_SIZE, _LAST_SIZE = DescriptorWord.GLOBAL_SIZE.value, DescriptorWord.GLOBAL_SIZE + DIMENSIONS - 1
_SETTLE_CYCLES = 4
"""Cycles after the last work-group's acceptance until the compute units' ``idle`` tells of it."""


class _Descriptor:
    """Registers with what was read of the running kernel's descriptor."""

    def __init__(self) -> None:
        self.origins = Array(Signal(32, name=f"origin{number}") for number in range(DIMENSIONS))
        self.last_ids = Array(Signal(32, name=f"last_id{number}") for number in range(DIMENSIONS))
        self.shape: Any = Signal(ShapeWord)
        self.size_word: Any = Signal(SizeWord)


class Dispatcher(wiring.Component):
    """Runs the pending kernels, lowest slot first, one after the other.

    Reading the descriptor takes a cycle a word. Work-groups are handed out as soon as what they are made of is
    there: entry, shape, size, offsets, and the numbers of work-groups. Sizes and parameters follow, and go to the
    runtime memories on the way; then come the local ids (see :class:`LocalIdGenerator`), but if ``initialize`` is 0
    and the work-groups have the same shape and number of wavefronts as those of the kernel before. Until all of
    these are written the compute units are ``loading``: they start wavefronts, but issue nothing.

    A work-group goes to the next compute unit with room, in turn; one every 2 cycles. At the end the cache
    is cleaned if the kernel's ``clean_cache`` bit is set: the cache does so when it has served all requests.
    Without that bit nothing waits for them, since later ones are served later.

    A ``fault`` makes it ``cancel`` the kernel: no further work-groups, all wavefronts end, the cache is cleaned in
    any case, for it may hold a line whose read failed, and ``clear_registers`` is high in its last cycle: a stopped
    kernel leaves its stack pointers anywhere. The cache is cleaned also after a fault between kernels, which is a
    late error of global memory. ``running`` is, one-hot, the kernel that runs, and ``slot`` that which a fault in
    this cycle stops: it runs, or is accepted.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        count = config.compute_units
        super().__init__({
            "pending": In(KERNEL_SLOTS),
            "clean_cache": In(KERNEL_SLOTS),
            "initialize": In(KERNEL_SLOTS),
            "accepted": Out(KERNEL_SLOTS),
            "finished": Out(KERNEL_SLOTS),
            "lram_address": Out(range(LRAM_WORDS)),
            "lram_read": Out(1),
            "lram_data": In(32),
            "kernel": Out(KernelInfo),
            "runtime_write": Out(RuntimeWrite),
            "loading": Out(1),
            "work_groups": Out(stream.Signature(WorkGroup)).array(count),
            "room": In(count),
            "idle": In(count),
            "clean_start": Out(1),
            "clean_done": In(1),
            "clear_registers": Out(1),
            "fault": In(1),
            "cancel": Out(1),
            "running": Out(KERNEL_SLOTS),
            "slot": Out(range(KERNEL_SLOTS)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kernel: Any = self.kernel
        slot = Signal(range(KERNEL_SLOTS))
        lowest = Signal(range(KERNEL_SLOTS))
        encode_lowest(m, lowest, self.pending)

        descriptor = _Descriptor()
        shape, size_word = descriptor.shape, descriptor.size_word
        m.submodules.local_ids = local_ids = LocalIdGenerator()
        extents = self._extents(m, shape)
        m.d.comb += [
            local_ids.sizes.eq(extents),
            local_ids.dimensions_minus_1.eq(shape.dimensions_minus_1),
            local_ids.wavefronts_minus_1.eq(kernel.wavefronts_minus_1),
            kernel.dimensions_minus_1.eq(shape.dimensions_minus_1),
            *(kernel[name].eq(size_word[name]) for name in ("local_rows", "local_groups", "place")),
        ]
        self._mask_last_wavefront(m, size_word)
        reading, arriving = self.lram_read, Signal()
        read_word, arriving_word = Signal(range(DESCRIPTOR_WORDS)), Signal(range(DESCRIPTOR_WORDS))
        m.d.comb += self.lram_address.eq(Cat(read_word, slot))
        m.d.sync += [arriving.eq(reading), arriving_word.eq(read_word)]
        with m.If(reading):
            m.d.sync += read_word.eq(self._following(m, read_word, shape))
        # The last word that work-groups are made of arrives when the first of the others is read.
        complete = reading & (read_word == _FIRST_SIZE)
        self._load(m, arriving, arriving_word, reading, self.initialize.bit_select(slot, 1), descriptor, local_ids)

        active = Signal()
        suspect = Signal()      # the cache may hold a line whose read failed
        m.d.comb += [
            self.running.eq(Mux(active, 1 << slot, 0)), self.slot.eq(Mux(active, slot, lowest)),
            # The error of a last write-back comes while the cache is cleaned.
            self.clear_registers.eq(self.finished.any() & self.cancel),
        ]
        self._follow_faults(m, active, suspect)
        group = Signal(WorkGroup)
        for work_groups in self.work_groups:
            m.d.comb += work_groups.payload.eq(group)

        settle = Signal(range(_SETTLE_CYCLES + 1))
        m.submodules.turn = turn = RoundRobin(self._config.compute_units)
        m.d.comb += turn.requests.eq(self.room)
        m.d.sync += self.clean_start.eq(0)
        with m.FSM():
            with m.State("Idle"):
                # Whether a kernel waits is known late.
                m.d.sync += [
                    slot.eq(lowest), read_word.eq(DescriptorWord.ENTRY), group.ids.eq(0),
                    *(each.eq(0) for each in descriptor.last_ids),
                ]
                with m.If(suspect):
                    m.d.sync += self.clean_start.eq(1)
                    m.next = "Clean cache"
                with m.Elif(self.pending.any()):
                    m.d.comb += self.accepted.eq(1 << lowest)
                    m.d.sync += [active.eq(1), reading.eq(1), self.loading.eq(1)]
                    m.next = "Read descriptor"
            self._hand_out(m, complete, turn, group, descriptor, extents, settle)
            self._end(m, active, slot, settle)
        with m.If(arriving):
            self._keep_word(m, arriving_word, descriptor)
        return m

    def _hand_out(self, m: Module, complete: Value, turn: RoundRobin, group: Any, descriptor: _Descriptor,
                  extents: Any, settle: Signal) -> None:
        """The states in which work-groups go out, each to the compute unit whose turn it is."""
        target = Signal.like(turn.choice)
        with m.State("Read descriptor"):
            m.d.comb += turn.accept.eq(complete)
            m.d.sync += [
                target.eq(turn.choice),
                *(group.offsets[number].eq(descriptor.origins[number]) for number in range(DIMENSIONS)),
            ]
            with m.If(complete):
                m.next = "Choose compute unit"
                with m.If(turn.valid & ~self.cancel):
                    m.next = "Hand out work-group"
        with m.State("Choose compute unit"):
            m.d.comb += turn.accept.eq(1)
            m.d.sync += target.eq(turn.choice)
            with m.If(self.cancel):
                m.d.sync += settle.eq(_SETTLE_CYCLES)
                m.next = "Drain"
            with m.Elif(turn.valid):
                m.next = "Hand out work-group"
        with m.State("Hand out work-group"):
            ready = Signal()
            for number, work_groups in enumerate(self.work_groups):
                with m.If(target == number):
                    m.d.comb += [work_groups.valid.eq(1), ready.eq(work_groups.ready)]
            with m.If(ready):
                m.d.sync += settle.eq(_SETTLE_CYCLES)
                m.next = "Choose compute unit"
                self._advance(m, group, descriptor, extents, "Drain")

    def _end(self, m: Module, active: Signal, slot: Signal, settle: Signal) -> None:
        """The states in which wavefronts end, the cache is cleaned if it is to be, and the kernel has finished."""
        with m.State("Drain"):
            with m.If(settle != 0):
                m.d.sync += settle.eq(settle - 1)
            with m.Elif(self.idle.all() & ~self.loading):
                with m.If(self.cancel | self.fault | self.clean_cache.bit_select(slot, 1)):
                    m.d.sync += self.clean_start.eq(1)
                    m.next = "Clean cache"
                with m.Else():
                    m.next = "Finish"
        with m.State("Clean cache"):
            with m.If(self.clean_done):
                with m.If(active):
                    m.next = "Finish"
                with m.Else():
                    m.next = "Idle"
        with m.State("Finish"):
            m.d.comb += self.finished.eq(self.running)
            m.d.sync += active.eq(0)
            m.next = "Idle"

    @staticmethod
    def _following(m: Module, word: Signal, shape: Any) -> Signal:
        """The word that is read after ``word``: of each dimension that is used a number of work-groups."""
        following = Signal.like(word)
        m.d.comb += following.eq(word + 1)
        first, last = DescriptorWord.WORK_GROUPS.value, DescriptorWord.WORK_GROUPS + DIMENSIONS - 1
        with m.Switch(word):
            for one, other in ((DescriptorWord.ENTRY, DescriptorWord.SHAPE),
                               (DescriptorWord.SHAPE, DescriptorWord.SIZE),
                               (DescriptorWord.SIZE, DescriptorWord.GLOBAL_OFFSET),
                               (DescriptorWord.GLOBAL_OFFSET + DIMENSIONS - 1, DescriptorWord.WORK_GROUPS),
                               (last, DescriptorWord.GLOBAL_SIZE),
                               (_LAST_SIZE, DescriptorWord.PARAMETERS)):
                with m.Case(int(one)):
                    m.d.comb += following.eq(int(other))
            for dimension in range(DIMENSIONS - 1):
                with m.Case(first + dimension):
                    with m.If(shape.dimensions_minus_1 == dimension):
                        m.d.comb += following.eq(_FIRST_SIZE)
        return following

    def _load(self, m: Module, arriving: Signal, word: Signal, reading: Signal, initialize: Value,
              descriptor: _Descriptor, local_ids: Any) -> None:
        """What goes to the runtime memories: sizes and parameters as they arrive, then the local ids."""
        kernel: Any = self.kernel
        shape, size_word = descriptor.shape, descriptor.size_word
        # The shape and the number of wavefronts for which the runtime memories hold local ids.
        known, shape_arrived = Signal(), Signal()
        known_shape = Signal(ShapeWord)
        known_wavefronts_minus_1 = Signal.like(kernel.wavefronts_minus_1)
        generates, generating = Signal(), Signal()      # local ids
        m.d.sync += [
            shape_arrived.eq(arriving & (word == DescriptorWord.SHAPE)), local_ids.start.eq(generates),
        ]
        with m.If(shape_arrived):
            m.d.comb += generates.eq(
                initialize | ~known | (known_shape != shape)
                | (known_wavefronts_minus_1 != kernel.wavefronts_minus_1))
            m.d.sync += [
                known.eq(1), known_shape.eq(shape), known_wavefronts_minus_1.eq(kernel.wavefronts_minus_1),
                generating.eq(generates),
            ]

        dimension = (word - _FIRST_SIZE)[:DIMENSION_BITS]
        parameter = (word - _FIRST_PARAMETER)[:4]
        # 16 parameters do not fit the descriptor's 4 bits: 0 means that all are loaded.
        last_parameter = (size_word.parameters - 1)[:4]
        size_pair = Signal(RuntimePair)
        m.d.comb += [
            size_pair.low.eq(self.lram_data),
            size_pair.high.eq(Array(shape.work_group_size[n] for n in range(DIMENSIONS))[dimension]),
            local_ids.enable.eq(self.loading & ~reading),
        ]
        with m.If(arriving & (word >= _FIRST_PARAMETER)):
            m.d.comb += [
                self.runtime_write.valid.eq(1),
                self.runtime_write.address.eq(RuntimeAddress.parameter(parameter)),
                self.runtime_write.word.eq(self.lram_data),
            ]
            with m.If(parameter == last_parameter):
                # The word after it is on its way, but not wanted.
                m.d.sync += [reading.eq(0), arriving.eq(0), self.loading.eq(generating)]
        with m.Elif(arriving & (word >= _FIRST_SIZE) & (word <= _LAST_SIZE)):
            m.d.comb += [
                self.runtime_write.valid.eq(1),
                self.runtime_write.address.eq(RuntimeAddress.size(dimension)),
                self.runtime_write.word.eq(size_pair),
            ]
        with m.Elif(~reading):
            m.d.comb += self.runtime_write.eq(local_ids.write)
            with m.If(local_ids.last):
                m.d.sync += self.loading.eq(0)

    @staticmethod
    def _extents(m: Module, shape: Any) -> Any:
        """Those of a work-group, 1 in unused dimensions."""
        extents = Signal(data.ArrayLayout(10, DIMENSIONS))
        for number in range(DIMENSIONS):
            used = number <= shape.dimensions_minus_1
            m.d.comb += extents[number].eq(Mux(used, shape.work_group_size[number], 1))
        return extents

    def _mask_last_wavefront(self, m: Module, size_word: Any) -> None:
        partial = size_word.work_items[:exact_log2(WAVEFRONT_SIZE)]
        m.d.comb += self.kernel.last_mask.eq(
            Cat(1, *((partial == 0) | (partial > Const(item, len(partial))) for item in range(1, WAVEFRONT_SIZE))))

    def _follow_faults(self, m: Module, active: Signal, suspect: Signal) -> None:
        """The running kernel is cancelled; what fails when none runs makes the cache's lines suspect."""
        with m.If(self.finished.any()):
            m.d.sync += self.cancel.eq(0)
        with m.Elif(self.fault & (active | self.accepted.any())):
            m.d.sync += self.cancel.eq(1)
        with m.If(self.fault & ((~active & ~self.accepted.any()) | self.finished.any())):
            m.d.sync += suspect.eq(1)
        with m.Elif(self.clean_start):
            m.d.sync += suspect.eq(0)

    def _keep_word(self, m: Module, number: Signal, descriptor: _Descriptor) -> None:
        """Word ``number`` of the descriptor arrives."""
        kernel: Any = self.kernel
        word = self.lram_data
        with m.Switch(number):
            with m.Case(DescriptorWord.ENTRY):
                entry = EntryWord(word)
                m.d.sync += [
                    kernel.entry.eq(entry.entry), kernel.wavefronts_minus_1.eq(entry.wavefronts_minus_1),
                ]
            with m.Case(DescriptorWord.SHAPE):
                m.d.sync += descriptor.shape.eq(word)
            with m.Case(DescriptorWord.SIZE):
                m.d.sync += descriptor.size_word.eq(word)
            for dimension in range(DIMENSIONS):
                with m.Case(DescriptorWord.GLOBAL_OFFSET + dimension):
                    m.d.sync += descriptor.origins[dimension].eq(word)
                with m.Case(DescriptorWord.WORK_GROUPS + dimension):
                    m.d.sync += descriptor.last_ids[dimension].eq(word)

    @staticmethod
    def _advance(m: Module, group: Any, descriptor: _Descriptor, extents: Any, end: str) -> None:
        """Step to the next work-group, dimension 0 fastest; after the last one go to state ``end``."""
        last: Any = Const(1, 1)
        for number in range(DIMENSIONS):
            is_last = Signal(name=f"last_in_dimension{number}")
            m.d.comb += is_last.eq(group.ids[number] == descriptor.last_ids[number])
            with m.If(last):
                m.d.sync += [
                    group.ids[number].eq(Mux(is_last, 0, group.ids[number] + 1)),
                    group.offsets[number].eq(
                        Mux(is_last, descriptor.origins[number], group.offsets[number] + extents[number])),
                ]
            last = last & is_last
        with m.If(last):
            m.next = end
