"""Which wavefront's instruction comes next: the first half of the scheduler (section 3.4.2)."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import WAVEFRONT_BITS, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS, FaultCause, FaultReport
from fgpu.gateware.choose import choose, lowest, number_of, only
from fgpu.gateware.round_robin import RoundRobin
from fgpu.gateware.sharing import add_shared
from fgpu.interfaces.fetch import Fetched, FetchRequest
from fgpu.interfaces.memory_bus import LoadTurn
from fgpu.interfaces.work_groups import ResidentGroups
from fgpu.probe import WavefrontState

from .barrier import Barrier
from .divergence import Outcome, meets
from .float.operations import Slots
from .pipeline import BEAT_BITS, SLOT_CYCLES
from .slot import AtVector, Checked, Committed, Early, Room, Selected
from .turn import WavefrontTurn
from .wavefront import WavefrontController

__all__ = ["WavefrontSelector"]


class WavefrontSelector(wiring.Component):
    """Knows what each wavefront waits for, and picks one in the first cycle of a slot, if any is ready.

    In the other three cycles it picks instructions to be looked at, of wavefronts whose loads are under way: what is
    ``checked`` and does not need their data can be issued. In the first of these cycles that is the instruction that
    follows the one just issued, whose wavefront ``continues`` at the vector: one that is ``early`` does not need that
    one's result, and can be picked in the next slot, a slot before the result is written. It is if nobody else is
    ready, or if it accesses memory.

    ``selected`` comes a cycle after the choice; it is ``committed`` two cycles later. ``start``, ``free`` and
    ``loading`` have a bit for each wavefront. One that starts begins at ``entry``; ``outcome`` tells where one
    goes on after a control instruction. Of those that lack instructions one at a time asks for them (``fetch``).
    ``float_slots`` and ``narrow_*`` are those of the :class:`~fgpu.cu.wavefront.WavefrontController`. Where paths of
    wavefronts meet, ``tops`` has the PC of one that waits for each wavefront in ``waits``. Not all wavefronts
    ``may_load`` at any time; see :class:`~fgpu.cu.turn.WavefrontTurn`. Nothing is picked in the
    cycle after a ``hold``, which comes only while no wavefront has issued anything yet.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "beat": In(BEAT_BITS),
            "hold": In(1),
            "entry": In(FAULT_PC_BITS),
            "start": In(WAVEFRONTS),
            "groups": In(ResidentGroups),
            "free": Out(WAVEFRONTS),
            "fetch": Out(stream.Signature(FetchRequest(config))),
            "fetched": In(Fetched),
            "room": In(Room),
            "loading": In(WAVEFRONTS),
            "load_done": In(1),
            "load_done_wavefront": In(WAVEFRONT_BITS),
            "outcome": In(Outcome),
            "selected": Out(Selected),
            "checked": In(Checked),
            "early": In(Early),
            "committed": In(Committed),
            "at_vector": In(AtVector),
            "cancel": In(1),
            "fault": Out(FaultReport),
        }
        if config.cache_conscious:
            members |= {"load_turn": In(LoadTurn), "may_load": Out(WAVEFRONTS)}
        if meets(config):
            members |= {"waits": In(WAVEFRONTS), "tops": In(data.ArrayLayout(FAULT_PC_BITS, WAVEFRONTS))}
        if config.float_ops:
            members["float_slots"] = In(Slots().elem_shape)
        if config.narrow_floats:
            members |= {"narrow_room": In(1), "narrow_done": In(1), "narrow_done_wavefront": In(WAVEFRONT_BITS)}
        if config.statistics:
            members |= {"states": Out(WavefrontState).array(WAVEFRONTS), "pcs": Out(FAULT_PC_BITS).array(WAVEFRONTS)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        controllers = [
            add_shared(m, f"controller{number}", platform, "wavefront", lambda: WavefrontController(self._config))
            for number in range(WAVEFRONTS)]
        selected, check_granted = self._pick(m, controllers)
        self._connect_controllers(m, controllers, selected, check_granted)
        self._fetch(m, controllers)
        self._report_faults(m, controllers)
        if self._config.statistics:
            for number, controller in enumerate(controllers):
                m.d.comb += [self.states[number].eq(controller.state), self.pcs[number].eq(controller.pc)]
        return m

    def _pick(self, m: Module, controllers: list[Any]) -> tuple[Signal, Signal]:
        """Slot cycle 0: pick a ready wavefront. Cycle 1: look at the instruction that follows the one just issued. Or
        then and in the others: one of a wavefront that loads, which may not need what it loads.

        Returns the wavefronts ``selected`` to issue, a cycle later, and ``checked``; one bit of both is set, or none.
        """
        chosen: Any = self.selected
        early, look_ahead = Signal(WAVEFRONTS), Signal(WAVEFRONTS)
        picks = Signal(init=1)      # in slot cycle 0
        looks = Signal()            # in slot cycle 1
        m.d.sync += [picks.eq((self.beat == SLOT_CYCLES - 1) & ~self.hold), looks.eq(picks)]
        present = Cat(controller.present for controller in controllers)
        m.d.comb += look_ahead.eq(self.at_vector.continues & present & looks.replicate(WAVEFRONTS))
        m.submodules.turn = turn = WavefrontTurn()
        able = Cat(controller.able for controller in controllers)
        picks_now = picks & ~self.at_vector.second_half & ~self.cancel
        pick, check = Signal(), Signal()
        selected, checked = Signal(WAVEFRONTS), Signal(WAVEFRONTS)
        checks = Cat(controller.check for controller in controllers)
        m.d.comb += [
            turn.ready.eq(Cat(controller.ready for controller in controllers)),
            turn.free.eq(Cat(controller.free for controller in controllers)),
            early.eq(self.early.wavefronts & able),
            pick.eq(picks_now & (turn.valid | early.any())),
            check.eq(look_ahead.any() | (~picks & checks.any())),
            turn.accept.eq(pick),
            turn.arrived.eq(Cat(controller.arrived for controller in controllers)),
        ]
        if self._config.cache_conscious:
            m.d.comb += [turn.load_turn.eq(self.load_turn), self.may_load.eq(turn.may_load)]
        with m.If(picks_now):
            m.d.comb += selected.eq(Mux(turn.valid & ~(early.any() & self.early.access), turn.choice, early))
        with m.If(look_ahead.any()):
            m.d.comb += checked.eq(look_ahead)
        with m.Elif(~picks):
            m.d.comb += checked.eq(lowest(checks))
        bits, told = Signal(WAVEFRONTS), Signal(WAVEFRONTS, name="selected1")
        m.d.sync += [
            chosen.valid.eq(pick), chosen.check.eq(check), chosen.ahead.eq(look_ahead.any()),
            bits.eq(selected | checked), told.eq(selected),
        ]
        # Nothing changes the address of a wavefront that was picked before it is committed.
        m.d.comb += [
            chosen.wavefront.eq(number_of(bits)),
            chosen.pc.eq(choose([controller.pc for controller in controllers], chosen.wavefront)),
        ]
        if meets(self._config):
            m.d.comb += chosen.joins.eq(choose([controller.joins for controller in controllers], chosen.wavefront))
        return told, checked

    def _connect_controllers(self, m: Module, controllers: list[Any], selected: Signal,
                             check_granted: Signal) -> None:
        committed: Any = self.committed
        m.submodules.barrier = barrier = Barrier()
        room = Signal(Room)     # a cycle late: it comes from far
        slot_ends = Signal()    # found a cycle before
        m.d.sync += [room.eq(self.room), slot_ends.eq(self.beat == SLOT_CYCLES - 2)]
        m.d.comb += [
            barrier.groups.eq(self.groups),
            barrier.arrived.eq(Cat(controller.arrived for controller in controllers)),
        ]
        for number, controller in enumerate(controllers):
            held = self._is_held_back(m, number)
            m.d.comb += [
                controller.slot_end.eq(slot_ends),
                controller.start.eq(self.start[number]),
                controller.entry.eq(self.entry),
                controller.cancel.eq(self.cancel),
                controller.selected.eq(selected[number]),
                controller.commit.eq(committed.commit),
                controller.committed.eq(committed.wavefronts[number]),
                controller.next.eq(committed.next),
                controller.outcome.eq(self.outcome),
                controller.outcome_mine.eq(self.outcome.wavefront == number),
                controller.loading.eq(self.loading[number]),
                controller.load_done.eq(self.load_done & (self.load_done_wavefront == number)),
                controller.check_granted.eq(check_granted[number]),
                controller.checked.eq(self.checked.wavefronts[number]),
                controller.depends.eq(self.checked.depends),
                controller.memory_ready.eq(self._room_for(m, room, number) & ~held),
                controller.fetch_done.eq(self.fetched.valid & (self.fetched.wavefront == number)),
                controller.release.eq(barrier.release[number]),
                self.free[number].eq(controller.free),
            ]
            if meets(self._config):
                m.d.comb += [controller.waits.eq(self.waits[number]), controller.top.eq(self.tops[number])]
            if self._config.float_ops:
                m.d.comb += controller.float_slots.eq(self.float_slots)
            if self._config.narrow_floats:
                m.d.comb += [
                    controller.narrow.eq(committed.narrow), controller.narrow_room.eq(self.narrow_room),
                    controller.narrow_done.eq(self.narrow_done & (self.narrow_done_wavefront == number)),
                ]

    def _room_for(self, m: Module, room: Any, number: int) -> Any:
        """Whether there is room for what a wavefront was last refused."""
        if not self._config.local_memory:
            return room.memory
        waits_for_local = Signal(name=f"waits_for_local{number}")
        with m.If(self.committed.wavefronts[number]):
            m.d.sync += waits_for_local.eq(self.committed.local)
        return room.at(waits_for_local)

    def _is_held_back(self, m: Module, number: int) -> Any:
        """Whether a wavefront was last refused a load, and others load now."""
        if not self._config.cache_conscious:
            return Const(0)
        waits_to_load = Signal(name=f"waits_to_load{number}")
        with m.If(self.committed.wavefronts[number]):
            m.d.sync += waits_to_load.eq(self.committed.load)
        return waits_to_load & ~self.may_load[number]

    def _fetch(self, m: Module, controllers: list[Any]) -> None:
        """Forward one wavefront's wish for instructions at a time, in turn; its address is there a cycle later."""
        request: Any = self.fetch
        m.submodules.fetch_turn = turn = RoundRobin(WAVEFRONTS)
        free = ~request.valid | request.ready
        m.d.comb += [
            turn.requests.eq(Cat(controller.fetch for controller in controllers)),
            turn.accept.eq(free),
        ]
        granted = Signal(WAVEFRONTS)
        with m.If(free):
            m.d.sync += [request.valid.eq(turn.valid), granted.eq(turn.chosen)]
        m.d.comb += [
            request.payload.wavefront.eq(number_of(granted)),
            request.payload.pair.eq(only([controller.pair for controller in controllers], granted)),
        ]
        for number, controller in enumerate(controllers):
            m.d.comb += controller.fetch_granted.eq(free & turn.chosen[number])

    def _report_faults(self, m: Module, controllers: list[Any]) -> None:
        """The first fault counts; of several in one cycle that of the lowest wavefront. It is told 2 cycles later."""
        fault = Signal(FaultReport)
        for number, controller in reversed(list(enumerate(controllers))):
            cause = Signal(FaultCause, name=f"cause{number}")
            m.d.sync += cause.eq(controller.fault_cause)
            with m.If(cause != FaultCause.NONE):
                m.d.comb += [
                    fault.valid.eq(1), fault.cause.eq(cause),
                    fault.wavefront.eq(number), fault.pc.eq(controller.pc),
                ]
        # A wavefront whose stack is full has gone on from the call or branch.
        m.d.sync += [self.fault.eq(fault),
                     self.fault.pc.eq(fault.pc - (fault.cause == FaultCause.STACK_OVERFLOW))]
