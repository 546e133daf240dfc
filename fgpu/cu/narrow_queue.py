"""When the work-items of an instruction go through floating-point units that fewer than all lanes have."""

from collections.abc import Callable, Mapping
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, PHASE_BITS, PHASES, WAVEFRONT_BITS
from fgpu.gateware.choose import choose
from fgpu.gateware.lut_ram import LutRam
from fgpu.isa import REGISTER_BITS

from .control_word import Issue
from .float.narrow import NarrowControl, NarrowPlace
from .float.operations import LATENCY, FloatOp
from .pipeline import (
    BEAT_BITS,
    FLOAT_RESULT_STAGE,
    NARROW_ENTRIES,
    NARROW_FEED_STAGE,
    OPERAND_STAGE,
    SLOT_CYCLES,
    bank_shift,
    beat_of,
    narrow_leave_slots,
    narrow_slots,
)

__all__ = ["FloatDestination", "NarrowCommit", "NarrowQueue"]

_COMMIT_BEAT = SLOT_CYCLES - 1
_FEED_BEAT = NARROW_FEED_STAGE % SLOT_CYCLES
_RESULT_BEAT = beat_of(0, FLOAT_RESULT_STAGE)
"""In which a slot of results begins."""
_LAST_BEAT = (_RESULT_BEAT - 1) % SLOT_CYCLES
_FREE_BEAT = (_LAST_BEAT - 1) % SLOT_CYCLES
"""In which the last phase of a slot of results is read, a cycle before it leaves."""
assert (_FEED_BEAT, _COMMIT_BEAT, _RESULT_BEAT) == (0, 3, 3)


class FloatDestination(data.Struct):
    """Where the results of one phase go: a register of those of its work-items that ``lanes`` names."""

    wavefront: WAVEFRONT_BITS
    phase: PHASE_BITS
    register: REGISTER_BITS
    lanes: PE_COUNT


class NarrowCommit(wiring.Signature):
    """A narrow instruction when it is committed.

    It may be if there is ``room``, and enters the vector in the next cycle as any other, if ``accept``. Its
    wavefront, ``done_wavefront``, can be selected again from the cycle after ``done`` on.
    """

    def __init__(self) -> None:
        super().__init__({
            "operation": Out(FloatOp), "halves": Out(2), "wavefront": Out(WAVEFRONT_BITS), "accept": Out(1),
            "room": In(1), "done": In(1), "done_wavefront": In(WAVEFRONT_BITS),
        })


class _Entry(data.Struct):
    """An instruction under way."""

    operation: FloatOp
    halves: 2
    wavefront: WAVEFRONT_BITS


class _Context(data.Struct):
    """Where the results of a phase go."""

    wavefront: WAVEFRONT_BITS
    register: REGISTER_BITS
    lanes: PE_COUNT


class _Walk:
    """Goes through the work-items of an instruction, as many in a cycle as lanes have the operation."""

    def __init__(self, m: Module, name: str, lanes: Mapping[FloatOp, int]) -> None:
        self.active = Signal(name=name)
        self.entry = Signal(range(NARROW_ENTRIES), name=f"{name}_entry")
        self._operation: Any = Signal(FloatOp, name=f"{name}_operation")
        self._item = Signal(range(PHASES * PE_COUNT), name=f"{name}_item")
        self._step = Signal(range(PE_COUNT), name=f"{name}_step")
        self._second = Signal(name=f"{name}_second")
        self._lanes = lanes
        half = len(self._item) - 1
        following = Signal(half + 1, name=f"{name}_following")
        m.d.comb += following.eq(self._item[:half] + self._step)
        self.last = Signal(name=f"{name}_last")
        m.d.comb += self.last.eq(following[half] & (self._item[half] == self._second))
        with m.If(self.active):
            m.d.sync += self._item.eq(Cat(following[:half], self._item[half] | following[half]))
        with m.If(self.active & self.last):
            m.d.sync += self.active.eq(0)

    def work(self) -> dict[str, Any]:
        """The fields of :class:`~fgpu.cu.float.narrow.NarrowWork`."""
        return {"place": Cat(self.entry, self._item[3:]), "lane": self._item[:3], "operation": self._operation}

    def begin(self, number: Any, entry: Any) -> list[Any]:
        """From the next cycle on with this entry."""
        return [
            self.active.eq(1), self.entry.eq(number), self._operation.eq(entry.operation),
            self._item.eq(Cat(Const(0, len(self._item) - 1), ~entry.halves[0])), self._second.eq(entry.halves[1]),
            self._step.eq(_by_operation(entry.operation, self._lanes)),
        ]


def _by_operation(operation: Any, values: Mapping[FloatOp, int]) -> Any:
    """The value of the operation at hand."""
    different = sorted(set(values.values()))
    result: Any = Const(different[0])
    for value in different[1:]:
        result = Mux(Cat(operation == op for op, own in values.items() if own == value).any(), value, result)
    return result


class NarrowQueue(wiring.Component):
    """Feeds instructions for operations on fewer ``lanes`` to their units, one after the other, and books the slots
    in which their results leave.

    ``issue`` and ``rd`` are those of stage 0. When a slot of results ends, ``book`` takes the one that follows it by
    ``distance``, and with ``book_both`` the next one too: no other results may be booked so far ahead. ``place`` is
    of the results that leave now, if ``leaves``; its ``lanes`` are 0 otherwise, and for r0.

    ``NARROW_ENTRIES`` instructions have room. The first operands of one leave their memory in ``NARROW_FEED_STAGE``,
    or later by slots of ``SLOT_CYCLES`` cycles, so that its results come after those of the one before it. They leave
    :func:`~fgpu.cu.pipeline.narrow_leave_slots` slots behind that, a phase a cycle.
    """

    def __init__(self, lanes: Mapping[FloatOp, int], distance: int) -> None:
        self._lanes, self._distance = dict(lanes), distance
        self._latency = {op: LATENCY[op] // SLOT_CYCLES for op in lanes}
        super().__init__({
            "commit": In(NarrowCommit()),
            "beat": In(BEAT_BITS),
            "issue": In(Issue),
            "rd": In(REGISTER_BITS),
            "control": Out(NarrowControl()),
            "book": Out(1),
            "book_both": Out(1),
            "place": Out(FloatDestination),
            "leaves": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        commit: Any = self.commit
        entries = [Signal(_Entry, name=f"entry{number}") for number in range(NARROW_ENTRIES)]
        # The entry that is taken, enters the units, leaves them, is booked, is done, is written next.
        tail, feeding, collecting, booking, ending, leaving = (Signal(range(NARROW_ENTRIES), name=name) for name in (
            "tail", "feeding", "collecting", "booking", "ending", "leaving"))

        def entry_at(pointer: Signal) -> Any:
            return data.View(_Entry, choose(entries, pointer))

        begins, frees = Signal(), Signal()
        used, waiting = Signal(range(NARROW_ENTRIES + 1)), Signal(range(NARROW_ENTRIES + 1))
        m.d.comb += commit.room.eq(used != NARROW_ENTRIES)
        m.d.sync += [used.eq(used + commit.accept - frees), waiting.eq(waiting + commit.accept - begins)]
        with m.If(commit.accept):
            m.d.sync += tail.eq(tail + 1)
            for number, entry in enumerate(entries):
                with m.If(tail == number):
                    m.d.sync += [getattr(entry, field).eq(getattr(commit, field)) for field, _ in _Entry.as_shape()]

        feed, collect = _Walk(m, "feed", self._lanes), _Walk(m, "collect", self._lanes)
        first = entry_at(feeding)
        self._begin(m, first, (waiting != 0) & (~feed.active | feed.last), begins)
        with m.If(begins):
            m.d.sync += [*feed.begin(feeding, first), feeding.eq(feeding + 1)]

        # What begins to leave the units in k slots, and what is to be booked in k.
        ahead = Signal(max(self._latency.values()) + 1)
        with m.If(self.beat == _FEED_BEAT):
            m.d.sync += ahead.eq(ahead >> 1)
            with m.If(ahead[0]):
                m.d.sync += [*collect.begin(collecting, entry_at(collecting)), collecting.eq(collecting + 1)]
        books = Signal(self._longest(self._book_slots) + 1)
        with m.If(self.beat == _LAST_BEAT):
            m.d.sync += books.eq(books >> 1)
            m.d.comb += [self.book.eq(books[0]), self.book_both.eq(books[0] & entry_at(booking).halves.all())]
            m.d.sync += booking.eq(booking + self.book)
        with m.If(begins):
            m.d.sync += [
                ahead.eq(ahead | _by_operation(first.operation, {op: 1 << k for op, k in self._latency.items()})),
                books.eq(books | self._by_entry(first, lambda op, halves: 1 << self._book_slots(op, halves))),
            ]
        control: Any = self.control
        for walk, work in ((feed, control.feed), (collect, control.collect)):
            m.d.comb += [work[name].eq(value) for name, value in walk.work().items()]
        m.d.comb += control.collect_valid.eq(collect.active)
        self._leave(m, self._capture(m, tail), entry_at(leaving), leaving, frees)
        m.d.comb += commit.done_wavefront.eq(entry_at(ending).wavefront)
        with m.If(commit.done):
            m.d.sync += ending.eq(ending + 1)
        return m

    def _begin(self, m: Module, first: Any, able: Any, begins: Signal) -> None:
        """An instruction enters the units after the one before it, so late that its results come after that's."""

        def slots(op: FloatOp, halves: int) -> int:
            return self._latency[op] + narrow_slots(self._lanes[op], halves)

        busy = Signal(range(self._longest(slots) + 1))      # slots in which results of others leave the units
        m.d.comb += begins.eq((self.beat == _COMMIT_BEAT) & able & (busy <= _by_operation(
            first.operation, self._latency)))
        with m.If(begins):
            m.d.sync += busy.eq(self._by_entry(first, lambda op, halves: slots(op, halves) - 1))
        with m.Elif((self.beat == _COMMIT_BEAT) & (busy != 0)):
            m.d.sync += busy.eq(busy - 1)

    def _capture(self, m: Module, tail: Signal) -> Any:
        """Operands and destinations are noted when a phase comes by; the port where destinations are read."""
        control: Any = self.control
        left = Signal(2)        # slots in which the instruction enters the vector
        entry = Signal.like(tail)
        with m.If(self.beat == _COMMIT_BEAT):
            m.d.sync += left.eq(Mux(left == 0, 0, left - 1))
        with m.If(self.commit.accept):
            m.d.sync += [left.eq(Mux(self.commit.halves.all(), 2, 1)), entry.eq(tail)]
        now: Any = Signal(NarrowPlace)
        m.d.comb += [now.entry.eq(entry), now.phase.eq(self.issue.phase)]
        m.submodules.contexts = contexts = LutRam(_Context, NARROW_ENTRIES * PHASES)
        note = contexts.write_port()
        m.d.comb += [
            note.addr.eq(now), note.en.eq(left != 0), note.data.wavefront.eq(self.issue.wavefront),
            note.data.register.eq(self.rd), note.data.lanes.eq(self.issue.lanes),
        ]
        valid, place = left != 0, now
        for stage in range(1, OPERAND_STAGE + 1):
            valid_later, place_later = Signal(name=f"valid{stage}"), Signal(NarrowPlace, name=f"place{stage}")
            m.d.sync += [valid_later.eq(valid), place_later.eq(place)]
            valid, place = valid_later, place_later
        m.d.comb += [control.capture.eq(place), control.capture_valid.eq(valid)]
        return contexts.read_port()

    def _leave(self, m: Module, contexts: Any, entry: Any, leaving: Signal, frees: Signal) -> None:
        """The slots of results ahead, and the results of the next cycle, which are read now."""
        leaves, firsts, lasts = (Signal(self._distance + 2, name=name) for name in ("booked", "firsts", "lasts"))
        far = self._distance
        with m.If(self.beat == _LAST_BEAT):
            m.d.sync += [
                leaves.eq((leaves >> 1) | Cat(Const(0, far), self.book, self.book_both)),
                firsts.eq((firsts >> 1) | Cat(Const(0, far), self.book)),
                lasts.eq((lasts >> 1) | Cat(Const(0, far), self.book & ~self.book_both, self.book_both)),
            ]
        # A wavefront is selected a slot before its instruction is issued, and that after its results begin to leave.
        m.d.comb += self.commit.done.eq((self.beat == _RESULT_BEAT) & firsts[1])

        turns = self.beat == _LAST_BEAT
        valid, is_last = Mux(turns, leaves[1], leaves[0]), Mux(turns, lasts[1], lasts[0])
        phase: Any = Signal(range(PHASES))
        m.d.comb += [
            phase.eq(Cat((self.beat + bank_shift(FLOAT_RESULT_STAGE - 1))[:BEAT_BITS], is_last & entry.halves[1])),
            frees.eq((self.beat == _FREE_BEAT) & lasts[0]),
            contexts.addr.eq(Cat(leaving, phase)), self.control.leave.eq(Cat(leaving, phase)),
        ]
        with m.If(frees):
            m.d.sync += leaving.eq(leaving + 1)
        context, place = contexts.data, self.place
        m.d.sync += [
            self.leaves.eq(valid), place.phase.eq(phase), place.wavefront.eq(context.wavefront),
            place.register.eq(context.register),
            # r0 reads as zero because nothing ever writes it.
            place.lanes.eq(Mux(valid & context.register.any(), context.lanes, 0)),
        ]

    def _book_slots(self, op: FloatOp, halves: int) -> int:
        """Slots from that in which an instruction begins to enter its units to that which books its results."""
        return narrow_leave_slots(LATENCY[op], self._lanes[op], halves, self._distance) - self._distance

    def _longest(self, of: Callable[[FloatOp, int], int]) -> int:
        return max(of(op, halves) for op in self._lanes for halves in (1, 2))

    def _by_entry(self, entry: Any, of: Callable[[FloatOp, int], int]) -> Any:
        """A number that depends on an instruction's operation and number of halves."""
        one, two = (_by_operation(entry.operation, {op: of(op, halves) for op in self._lanes}) for halves in (1, 2))
        return Mux(entry.halves.all(), two, one)
