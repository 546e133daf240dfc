"""The controller of one of a compute unit's wavefronts (section 3.4.2)."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.fault import FAULT_PC_BITS, FaultCause
from fgpu.probe import WavefrontState

from .divergence import Outcome, OutcomeKind, meets, stops_behind
from .float.operations import Slots
from .pipeline import FLOAT_RESULT_CYCLES, RESULT_CYCLES, SLOT_CYCLES

__all__ = ["Commit", "WavefrontController"]

_REST_SLOTS = RESULT_CYCLES // SLOT_CYCLES
"""Issue slots from one instruction of a wavefront to one that may need its result."""
_FLOAT_REST_SLOTS = max(FLOAT_RESULT_CYCLES.values()) // SLOT_CYCLES
"""The same for the slowest floating-point unit."""
_FLOAT_SLOTS_LEFT = min(FLOAT_RESULT_CYCLES.values()) // SLOT_CYCLES - 1
"""The same for the fastest ones, from the commitment, which is a slot after the selection."""


_FETCHING = ("Run", "Wait for room", "Wait for unit", "Wait at barrier")
"""States in which instructions are fetched."""


class Commit(enum.Enum, shape=3):
    """What became of a selected instruction."""

    NEXT = 0        # issued; the wavefront goes on
    FLOW = 1        # issued; the wavefront waits for the divergence unit
    REFUSED = 2     # not issued: the memory controller has no room
    ILLEGAL = 3     # no instruction of this core: the wavefront stops
    FLOAT = 4       # issued; the wavefront goes on when it has the result
    COLLIDES = 5    # not issued: its result would meet another


class WavefrontController(wiring.Component):
    """Keeps a wavefront's instruction address and what it waits for.

    ``ready``: an instruction can be issued, but for ``cancel``; ``able``: one could be, were the result of the one
    before written. ``selected`` comes in the cycle after that.
    ``present``: the instruction buffer holds the pair of instructions that contains ``pc``; the next pair is fetched
    (``fetch`` with ``ahead``) as soon as the second instruction of a pair is selected, and so read. ``outcome`` is
    for this wavefront if ``outcome_mine``; ``next`` is the address behind what is committed, and ``pair`` that of the
    pair to fetch, from the cycle after ``fetch_granted`` on. ``fault_cause`` names a fault in the cycle in which the
    wavefront meets it, at ``pc``, or before that if the stack is full; it then waits for ``cancel``, which frees
    every wavefront once nothing of it is under way. While the wavefront is ``loading``, its next instruction is ready
    only if the scoreboard, asked with ``check``, answers after ``check_granted`` with ``checked`` and not
    ``depends``.
    Where paths of a wavefront meet, ``top`` is the PC of one that ``waits``; the wavefront ``joins`` there or behind:
    what is selected is no instruction.
    ``float_slots``: for how many slots more than others a committed instruction for the floating-point units keeps
    it. A ``narrow`` one, for units that fewer lanes have, keeps it until ``narrow_done``; one refused waits for
    ``narrow_room``. A wavefront has ``arrived`` while it waits at a barrier, until ``release``; no loads of it are
    under way then, for a barrier as any control instruction is issued after them.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "slot_end": In(1),
            "start": In(1),
            "entry": In(FAULT_PC_BITS),
            "cancel": In(1),
            "selected": In(1),
            "commit": In(Commit),
            "committed": In(1),
            "next": In(FAULT_PC_BITS),
            "outcome": In(Outcome),
            "outcome_mine": In(1),
            "loading": In(1),
            "load_done": In(1),
            "check_granted": In(1),
            "checked": In(1),
            "depends": In(1),
            "memory_ready": In(1),
            "fetch_granted": In(1),
            "fetch_done": In(1),
            "release": In(1),
            "ready": Out(1),
            "able": Out(1),
            "free": Out(1),
            "arrived": Out(1),
            "fetch": Out(1),
            "ahead": Out(1),
            "pair": Out(config.pc_bits - 1),
            "present": Out(1),
            "check": Out(1),
            "pc": Out(FAULT_PC_BITS),
            "state": Out(WavefrontState),
            "fault_cause": Out(FaultCause),
        }
        if meets(config):
            members |= {"waits": In(1), "top": In(FAULT_PC_BITS), "joins": Out(1)}
        if config.float_ops:
            members["float_slots"] = In(Slots().elem_shape)
        if config.narrow_floats:
            members |= {"narrow": In(1), "narrow_room": In(1), "narrow_done": In(1)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        selecting = Signal()                    # until it is committed
        with m.If(self.selected):
            m.d.sync += selecting.eq(1)
        with m.If(self.committed):
            m.d.sync += selecting.eq(0)
        issued = (self.commit != Commit.REFUSED) & (self.commit != Commit.ILLEGAL)
        if self._config.float_ops:
            issued &= self.commit != Commit.COLLIDES
        at_rest = self._rest(m)
        waits_for_data = self._ask(m, selecting)
        # What follows from the state, decoded: whose turn it is comes late enough.
        running, fetches = Signal(), Signal()
        m.d.comb += [
            self.able.eq(running & self.present & ~waits_for_data),
            self.ready.eq(self.able & at_rest),
        ]
        outside = self.pc[self._config.pc_bits:].any()
        self._fetch(m, fetches, selecting, issued, outside)
        if meets(self._config):
            self._join(m, issued)
        self._states(m, running, fetches, issued, at_rest, waits_for_data, outside)
        return m

    def _rest(self, m: Module) -> Value:
        """Whether the result of the instruction before can be read, or there is none."""
        floats = bool(self._config.float_ops)
        rest = Signal(range((_FLOAT_REST_SLOTS if floats else _REST_SLOTS) + 1))
        at_rest = Signal(init=1)                # rest is 0
        with m.If(self.selected):
            m.d.sync += [rest.eq(_REST_SLOTS), at_rest.eq(0)]
        with m.Elif(self.slot_end & ~at_rest):
            m.d.sync += [rest.eq(rest - 1), at_rest.eq(rest == 1)]
        if floats:
            with m.If(self.committed & (self.commit == Commit.FLOAT)):
                m.d.sync += [rest.eq(_FLOAT_SLOTS_LEFT + self.float_slots), at_rest.eq(0)]
            with m.If(self.committed & (self.commit == Commit.COLLIDES)):
                m.d.sync += [rest.eq(0), at_rest.eq(1)]
        if not self._config.narrow_floats:
            return at_rest
        in_turn = Signal()      # its work-items go through a unit one after the other
        with m.If(self.committed & self.narrow & (self.commit == Commit.FLOAT)):
            m.d.sync += in_turn.eq(1)
        with m.If(self.narrow_done):
            m.d.sync += in_turn.eq(0)
        return at_rest & ~in_turn

    def _fetch(self, m: Module, fetches: Signal, selecting: Signal, issued: Value, outside: Value) -> None:
        """Have the pair with ``pc`` in the buffer, or the next one as soon as the second instruction is selected."""
        outcome: Any = self.outcome
        fetching, stale = Signal(), Signal()    # stale: what is fetched is not needed any more
        # The answer to a fetch comes after the commitment of what was selected when it was asked for.
        forget = Signal()
        m.d.comb += [
            self.ahead.eq(selecting | self.selected),
            forget.eq(self.start | (outcome.valid & self.outcome_mine & (outcome.kind != OutcomeKind.RESUME))
                      | (self.committed & ~issued & self.pc[0])),
        ]
        with m.If(self.fetch_granted):
            m.d.sync += fetching.eq(1)
        with m.If(self.fetch_done):
            m.d.sync += [fetching.eq(0), stale.eq(0), self.present.eq(~stale)]
        with m.Elif(forget):
            m.d.sync += stale.eq(fetching | self.fetch_granted)
        with m.If(forget | (self.selected & self.pc[0])):
            m.d.sync += self.present.eq(0)

        # Known a cycle later, but no pair is selected in the cycle after its address has changed. Nor does it matter
        # whether a wavefront that is about to stop fetches once more.
        was_outside = Signal()
        next_pair = Signal.like(self.pair)
        pair = self.pc[1:self._config.pc_bits]
        m.d.sync += [next_pair.eq(pair + 1), was_outside.eq(outside)]
        with m.If(self.fetch):      # and no more once it is granted
            m.d.sync += self.pair.eq(Mux(self.ahead, next_pair, pair))
        m.d.comb += self.fetch.eq(
            fetches & (~self.present | (self.selected & self.pc[0])) & ~fetching & ~was_outside)

    def _join(self, m: Module, issued: Value) -> None:
        """Whether another path of the wavefront waits at ``pc``, or before it.

        Known in the cycle after the commitment, as the instruction may be selected then. What changes the address
        otherwise has the wavefront wait for instructions.
        """
        joins_next = Signal()
        there = self.pc >= self.top if stops_behind(self._config) else self.pc == self.top
        m.d.sync += [
            joins_next.eq(self.waits & (self.pc + 1 == self.top)), self.joins.eq(self.waits & there),
        ]
        with m.If(self.committed & issued):
            m.d.sync += self.joins.eq(joins_next)

    def _ask(self, m: Module, selecting: Signal) -> Value:
        """Whether the next instruction waits for loads, or for the scoreboard to tell that it need not."""
        checking = Signal()         # the question is asked
        independent = Signal()
        m.d.comb += self.check.eq(self.loading & self.present & ~checking & ~selecting & ~self.selected)
        with m.If(self.check_granted):
            m.d.sync += checking.eq(1)
        with m.If(self.checked):
            m.d.sync += independent.eq(~self.depends)
        with m.If(self.committed | self.load_done):
            m.d.sync += checking.eq(0)
        with m.If(self.committed):
            m.d.sync += independent.eq(0)
        return self.loading & ~independent

    def _states(self, m: Module, running: Signal, fetches: Signal, issued: Value, at_rest: Value,
                waits_for_data: Value, outside: Value) -> None:
        """What the wavefront waits for, and where it goes on."""
        outcome: Any = self.outcome

        def go(state: str) -> None:
            m.next = state
            m.d.sync += [running.eq(state == "Run"), fetches.eq(state in _FETCHING)]

        def stop(cause: FaultCause) -> None:
            m.d.comb += self.fault_cause.eq(cause)
            go("Stopped")

        with m.FSM():
            with m.State("Free"):
                m.d.comb += [self.free.eq(1), self.state.eq(WavefrontState.FREE)]
                with m.If(self.start):
                    m.d.sync += self.pc.eq(self.entry)
                    go("Run")
            with m.State("Run"):
                self._report_running(m, at_rest, waits_for_data)
                with m.If(self.committed):
                    with m.If(issued):
                        m.d.sync += self.pc.eq(self.next)
                    with m.Switch(self.commit):
                        with m.Case(Commit.FLOW):
                            go("Wait for divergence unit")
                        with m.Case(Commit.REFUSED):
                            go("Wait for room")
                            if self._config.narrow_floats:
                                with m.If(self.narrow):
                                    go("Wait for unit")
                        with m.Case(Commit.ILLEGAL):
                            stop(FaultCause.ILLEGAL_INSTRUCTION)
                with m.Elif(self.cancel & at_rest & ~self.loading & ~self.selected):
                    go("Free")
                with m.Elif(outside):
                    stop(FaultCause.INSTRUCTION_ADDRESS)
            with m.State("Wait for room"):
                m.d.comb += self.state.eq(WavefrontState.WRITE_PRESSURE)
                with m.If(self.memory_ready | self.cancel):
                    go("Run")
            if self._config.narrow_floats:
                with m.State("Wait for unit"):
                    m.d.comb += self.state.eq(WavefrontState.EXECUTE)
                    with m.If(self.narrow_room | self.cancel):
                        go("Run")
            with m.State("Wait for divergence unit"):
                # Nothing is fetched here: it would be for the wrong path as often as not.
                m.d.comb += self.state.eq(WavefrontState.BRANCH)
                with m.If(outcome.valid & self.outcome_mine):
                    go("Run")
                    with m.Switch(outcome.kind):
                        with m.Case(OutcomeKind.JUMP):
                            m.d.sync += self.pc.eq(outcome.pc)
                        with m.Case(OutcomeKind.ARRIVE):
                            m.d.sync += self.pc.eq(outcome.pc)
                            go("Wait at barrier")
                        with m.Case(OutcomeKind.RETIRE):
                            go("Free")
                        with m.Case(OutcomeKind.OVERFLOW):
                            stop(FaultCause.STACK_OVERFLOW)
            with m.State("Wait at barrier"):
                m.d.comb += [self.arrived.eq(1), self.state.eq(WavefrontState.BARRIER)]
                with m.If(self.release | self.cancel):
                    go("Run")
            with m.State("Stopped"):
                m.d.comb += self.state.eq(WavefrontState.STOPPED)
                # Behind the code RAM's end a wavefront stops while data or results are on their way.
                with m.If(self.cancel & (at_rest if self._config.float_ops else 1) & ~self.loading):
                    go("Free")

    def _report_running(self, m: Module, at_rest: Value, waits_for_data: Value) -> None:
        with m.If(waits_for_data):
            m.d.comb += self.state.eq(WavefrontState.MEMORY_READ)
        with m.Elif(~at_rest):
            m.d.comb += self.state.eq(WavefrontState.EXECUTE)
        with m.Elif(self.present):
            m.d.comb += self.state.eq(WavefrontState.READY)
        with m.Else():
            m.d.comb += self.state.eq(WavefrontState.FETCH)
