"""When results leave the floating-point units, and whose they are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.config import PE_COUNT, WAVEFRONT_BITS
from fgpu.isa import REGISTER_BITS

from .control_word import Issue
from .float.narrow import NarrowControl
from .float.operations import FloatOp, Slots, narrow_select
from .narrow_queue import FloatDestination, NarrowCommit, NarrowQueue
from .pipeline import BEAT_BITS, FLOAT_RESULT_CYCLES, FLOAT_RESULT_STAGE, SLOT_CYCLES, bank_shift, beat_of

__all__ = ["ROUND_CYCLES", "FloatCommit", "FloatResults"]

_FIRST_SLOT = min(FLOAT_RESULT_CYCLES.values()) // SLOT_CYCLES
"""Slots from the commitment of the fastest operation until its first results leave."""
_BASE_SLOTS = _FIRST_SLOT - 1
"""The same from its issue."""
_LAST_SLOT = max(FLOAT_RESULT_CYCLES.values()) // SLOT_CYCLES + 1
"""Slots from the commitment of the slowest operation until the results of its second half leave."""
_LAST_BEAT = (beat_of(0, FLOAT_RESULT_STAGE) - 1) % SLOT_CYCLES
"""Slots of results end before those of issue."""
_TIME_BITS = 4
"""Of the number of a slot of issue; an operation's context is kept for so many slots."""
assert _LAST_SLOT < 1 << _TIME_BITS
ROUND_CYCLES: Final = SLOT_CYCLES << _TIME_BITS
"""After so many the time of issue is the same again."""


class FloatCommit(wiring.Signature):
    """An instruction for the floating-point units when it is committed.

    ``operation`` is to occupy one slot of issue, or two if ``both_halves``. It may if ``clear``: no other results
    leave when its own would. ``accept``: it does. ``slots`` is what it takes more than the fastest operation.
    """

    def __init__(self) -> None:
        super().__init__({
            "operation": Out(FloatOp),
            "both_halves": Out(1),
            "accept": Out(1),
            "clear": In(1),
            "slots": In(Slots().elem_shape),
        })


class _Context(data.Struct):
    """Where the result of one phase goes; the beat tells which of a half's phases it is."""

    wavefront: WAVEFRONT_BITS
    half: 1
    register: REGISTER_BITS
    lanes: PE_COUNT


class FloatResults(wiring.Component):
    """Writes results of floating-point units of different latencies, one phase a cycle.

    A slot's four phases leave together. For each slot ahead is noted whose results will leave, so that ``commit`` can
    be refused to an operation that would meet another.

    ``issue`` and ``rd`` are those of stage 0; ``operation`` is what enters the units in ``OPERAND_STAGE``, and
    ``select`` what leaves them now, for ``place``, in the bank whose turn it is (see :mod:`~fgpu.cu.pipeline`), if
    ``valid``. ``valid_next`` tells so a cycle earlier.

    Operations that fewer lanes have, those in ``lanes``, are committed by ``narrow_commit`` and go their own way,
    which ``narrow`` steers, until their results are written in slots that are booked ``distance`` ahead.
    """

    def __init__(self, lanes: Mapping[FloatOp, int] = MappingProxyType({}), distance: int = 0) -> None:
        self._lanes, self._distance = lanes, distance
        members: dict[str, Any] = {
            "commit": In(FloatCommit()),
            "slots": In(Slots()),
            "beat": In(BEAT_BITS),
            "issue": In(Issue),
            "rd": In(REGISTER_BITS),
            "operation": Out(FloatOp),
            "select": Out(FloatOp),
            "place": Out(FloatDestination),
            "valid": Out(1),
            "valid_next": Out(1),
        }
        if lanes:
            members |= {"narrow_commit": In(NarrowCommit()), "narrow": Out(NarrowControl())}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        commit: Any = self.commit

        phase = (self.beat + bank_shift(FLOAT_RESULT_STAGE))[:BEAT_BITS]     # whose results leave, in its half

        booked: Any = 0
        if self._lanes:
            m.submodules.queue = queue = NarrowQueue(self._lanes, self._distance)
            connect(m, flipped(self.narrow_commit), queue.commit)
            connect(m, queue.control, flipped(self.narrow))
            m.d.comb += [queue.beat.eq(self.beat), queue.issue.eq(self.issue), queue.rd.eq(self.rd)]
            booked = Cat(Const(0, self._distance), queue.book, queue.book_both)

        # What leaves in k slots, by k. Slots of results begin one cycle before those of issue.
        taken = Signal(max(_LAST_SLOT, self._distance + 1 if self._lanes else 0) + 1)
        ahead = [Signal(FloatOp, name=f"ahead{slot}") for slot in range(_LAST_SLOT + 1)]
        first = Signal(range(_LAST_SLOT + 1))
        m.d.comb += [
            commit.slots.eq(self.slots[commit.operation.as_value()]),
            first.eq(_FIRST_SLOT + commit.slots),
            commit.clear.eq(~(taken.bit_select(first, 1) | (commit.both_halves & taken.bit_select(first + 1, 1)))),
        ]
        with m.If(self.beat == _LAST_BEAT):
            m.d.sync += taken.eq((taken >> 1) | booked if self._lanes else taken >> 1)
            m.d.sync += [ahead[slot].eq(ahead[slot + 1]) for slot in range(_LAST_SLOT)]
        with m.If(commit.accept):
            for slot in range(_FIRST_SLOT, _LAST_SLOT + 1):
                with m.If((first == slot) | (commit.both_halves & (first == slot - 1))):
                    m.d.sync += [taken[slot].eq(1), ahead[slot].eq(commit.operation)]

        # The operation in stage 0, and in stage 3.
        entering = Signal(FloatOp)
        with m.If(commit.accept):
            m.d.sync += entering.eq(commit.operation)
        with m.If(self.beat == _LAST_BEAT):
            m.d.sync += self.operation.eq(entering)

        # Contexts are kept by the time of issue, which latency and the time of the result tell.
        now = Signal(_TIME_BITS)
        issued = Signal(_TIME_BITS)
        with m.If(self.beat == SLOT_CYCLES - 1):
            m.d.sync += now.eq(now + 1)
        with m.If(self.beat == _LAST_BEAT):
            m.d.sync += issued.eq(now - (self.slots[ahead[1].as_value()] + _BASE_SLOTS))
        m.submodules.contexts = contexts = Memory(
            shape=_Context, depth=ROUND_CYCLES, init=[])
        note, look_up = contexts.write_port(), contexts.read_port(domain="comb")
        m.d.comb += [
            note.addr.eq(Cat(self.beat, now)), note.en.eq(1),
            note.data.wavefront.eq(self.issue.wavefront), note.data.half.eq(self.issue.phase[BEAT_BITS]),
            note.data.register.eq(self.rd),
            # r0 reads as zero because nothing ever writes it.
            note.data.lanes.eq(Mux(self.rd.any(), self.issue.lanes, 0)),
            look_up.addr.eq(Cat(phase, issued)),
        ]
        context = look_up.data
        m.d.comb += [
            self.select.eq(ahead[0]),
            self.valid.eq(taken[0]),
            self.valid_next.eq(Mux(self.beat == _LAST_BEAT, taken[1], taken[0])),
            self.place.wavefront.eq(context.wavefront),
            self.place.phase.eq(Cat(phase, context.half)),
            self.place.register.eq(context.register),
            self.place.lanes.eq(Mux(taken[0], context.lanes, 0)),
        ]
        if self._lanes:
            with m.If(queue.leaves):
                m.d.comb += [self.select.eq(narrow_select(self._lanes)), self.place.eq(queue.place)]
        return m
