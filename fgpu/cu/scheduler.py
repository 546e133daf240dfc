"""Wavefront scheduler: picks, decodes and issues an instruction every four or eight cycles (section 3.4.2)."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, PHASES, WAVEFRONT_BITS, WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS, FaultCause, FaultReport
from fgpu.gateware.choose import choose, lowest, number_of, only
from fgpu.gateware.round_robin import RoundRobin
from fgpu.gateware.sharing import add_shared
from fgpu.interfaces.fetch import Fetched, FetchRequest
from fgpu.interfaces.work_groups import KernelInfo
from fgpu.probe import Bucket, ComputeUnitProbe, WavefrontState

from .control_word import ControlWord, Flow, Issue, MemoryAccess
from .decoder import Decoder
from .divergence import DivergenceUnit, MaskWrite
from .float.operations import FloatOp
from .float_results import FloatCommit
from .pipeline import BEAT_BITS, SLOT_CYCLES
from .scoreboard import Scoreboard
from .turn import WavefrontTurn
from .vector import BranchLanes
from .wavefront import Commit, WavefrontController

__all__ = ["WavefrontScheduler"]

_HALF = WAVEFRONT_SIZE // 2


class WavefrontScheduler(wiring.Component):
    """Schedules up to eight wavefronts.

    Selection takes the four cycles of a slot, during which the instruction before it occupies the vector:
    pick a ready wavefront, read its instruction and enabled work-items, decode, commit. An instruction
    takes two slots, or one if all its enabled work-items are in one half of the wavefront; calls and
    returns take one slot and leave the vector idle. So does an instruction whose result would leave the
    floating-point units together with another; it is tried again in the next slot.

    A wavefront goes on while its loads are under way, until an instruction needs their data. Instructions of such
    wavefronts are looked at in the three cycles of a slot in which none is picked. In the first of them the
    instruction is looked at that follows the one just issued: if it does not need that one's result, it can be picked
    in the next slot, a slot before the result is written. It is if nobody else is ready, or if it loads or stores:
    loads of a wavefront stay together, so that it has all its data, and stores, while others load.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "beat": Out(BEAT_BITS),
            "kernel": In(KernelInfo),
            "start": In(WAVEFRONTS),
            "start_number": In(WAVEFRONT_BITS),
            "start_mask": In(MaskWrite),
            "start_mask_ready": Out(1),
            "free": Out(WAVEFRONTS),
            "fetch": Out(stream.Signature(FetchRequest(config))),
            "fetched": In(Fetched),
            "issue": Out(Issue),
            "control": Out(ControlWord),
            "branch": In(BranchLanes),
            "memory_ready": In(1),
            "memory_reserve": Out(range(PHASES + 1)),
            "load_done": In(1),
            "load_done_wavefront": In(WAVEFRONT_BITS),
            "cancel": In(1),
            "fault": Out(FaultReport),
        }
        if config.float_ops:
            members |= {"floats": Out(FloatCommit()), "float_available": In(1 << FloatOp.as_shape().width)}
        if config.statistics:
            members["probe"] = Out(ComputeUnitProbe)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        fetched: Any = self.fetched

        m.d.sync += self.beat.eq(self.beat + 1)
        controllers = [add_shared(m, f"controller{slot}", platform, "wavefront", lambda: WavefrontController(config))
                       for slot in range(WAVEFRONTS)]
        m.submodules.divergence = divergence = DivergenceUnit(config)
        m.d.comb += [divergence.branch.eq(self.branch), divergence.start.eq(self.start)]

        # Enabled work-items, instruction pairs and numbers of the wavefronts.
        m.submodules.masks = masks = Memory(shape=unsigned(WAVEFRONT_SIZE), depth=WAVEFRONTS, init=[])
        mask_write, mask_read = masks.write_port(), masks.read_port(domain="comb")
        mask: Any = Mux(divergence.mask_write.valid, divergence.mask_write.as_value(), self.start_mask.as_value())
        chosen_mask = data.View(MaskWrite, mask)
        m.d.comb += [
            self.start_mask_ready.eq(~divergence.mask_write.valid),
            mask_write.addr.eq(chosen_mask.wavefront), mask_write.data.eq(chosen_mask.mask),
            mask_write.en.eq(chosen_mask.valid),
        ]
        m.submodules.pairs = pairs = Memory(shape=unsigned(64), depth=WAVEFRONTS, init=[])
        pair_write, pair_read = pairs.write_port(), pairs.read_port(domain="comb")
        m.d.comb += [
            pair_write.addr.eq(fetched.wavefront), pair_write.data.eq(fetched.pair), pair_write.en.eq(fetched.valid),
        ]
        numbers = Array(Signal(WAVEFRONT_BITS, name=f"number{slot}") for slot in range(WAVEFRONTS))

        # Slot cycle 0: pick a ready wavefront. Cycle 1: look at the instruction that follows the one just issued. Or
        # then and in the others: one of a wavefront that loads, which may not need what it loads.
        continues, look_ahead = Signal(), Signal()
        picks = Signal(init=1)      # in slot cycle 0
        m.d.sync += picks.eq(self.beat == SLOT_CYCLES - 1)
        present = Cat(controller.present for controller in controllers)
        m.d.comb += look_ahead.eq(continues & (self.beat == 1) & present.bit_select(self.issue.wavefront, 1))
        second_half = Signal()
        m.submodules.turn = turn = WavefrontTurn()
        early, early3, wavefront3 = Signal(), Signal(), Signal(range(WAVEFRONTS))
        control3 = Signal(ControlWord)
        access = control3.memory != MemoryAccess.NONE
        able = Cat(controller.able for controller in controllers)
        pick, check = Signal(), Signal()
        selected, checked = Signal(WAVEFRONTS), Signal(WAVEFRONTS)      # one of them is set, or none
        checks = Cat(controller.check for controller in controllers)
        m.d.comb += [
            turn.ready.eq(Cat(controller.ready for controller in controllers)),
            turn.free.eq(Cat(controller.free for controller in controllers)),
            early.eq(early3 & able.bit_select(wavefront3, 1)),
            pick.eq(picks & ~second_half & (turn.valid | early)),
            check.eq(look_ahead | (~picks & checks.any())),
            turn.accept.eq(pick),
        ]
        with m.If(picks & ~second_half):
            m.d.comb += selected.eq(Mux(turn.valid & ~(early & access), turn.choice, early << wavefront3))
        with m.If(look_ahead):
            m.d.comb += checked.eq(1 << self.issue.wavefront)
        with m.Elif(~picks):
            m.d.comb += checked.eq(lowest(checks))
        valid1, check1, ahead1 = Signal(), Signal(), Signal()
        wavefront1, pc1 = Signal(range(WAVEFRONTS)), Signal(FAULT_PC_BITS)
        m.d.sync += [
            valid1.eq(pick), check1.eq(check), ahead1.eq(look_ahead), wavefront1.eq(number_of(selected | checked)),
        ]
        # Nothing changes the address of a wavefront that was picked before it is committed.
        m.d.comb += pc1.eq(choose([controller.pc for controller in controllers], wavefront1))

        # Slot cycle 1: read.
        valid2, check2, ahead2 = Signal(), Signal(), Signal()
        wavefront2, pc2 = Signal(range(WAVEFRONTS)), Signal(FAULT_PC_BITS)
        word2, mask2, number2 = Signal(32), Signal(WAVEFRONT_SIZE), Signal(WAVEFRONT_BITS)
        m.d.comb += [pair_read.addr.eq(wavefront1), mask_read.addr.eq(wavefront1)]
        m.d.sync += [
            valid2.eq(valid1), check2.eq(check1), ahead2.eq(ahead1), wavefront2.eq(wavefront1), pc2.eq(pc1),
            word2.eq(Mux(pc1[0], pair_read.data[32:], pair_read.data[:32])),
            mask2.eq(mask_read.data), number2.eq(numbers[wavefront1]),
        ]

        # Slot cycle 2: decode.
        m.submodules.decoder = decoder = Decoder(config)
        m.d.comb += decoder.word.eq(word2)
        if config.float_ops:
            m.d.comb += decoder.float_available.eq(self.float_available)
        m.submodules.scoreboard = scoreboard = Scoreboard()
        m.d.comb += [
            scoreboard.wavefront.eq(wavefront2),
            scoreboard.control.eq(decoder.control),
            scoreboard.reads_rs.eq(decoder.reads_rs),
            scoreboard.reads_rt.eq(decoder.reads_rt),
            scoreboard.last.write.eq(self.control.write),
            scoreboard.last.rd.eq(self.control.rd),
        ]
        valid3, number3 = Signal(), Signal(WAVEFRONT_BITS)
        mask3 = Signal(WAVEFRONT_SIZE)
        halves3 = Signal(2)
        next3, target3, pc3 = Signal(FAULT_PC_BITS), Signal(FAULT_PC_BITS), Signal(FAULT_PC_BITS)
        legal3 = Signal()
        is_branch = decoder.control.flow == Flow.BRANCH
        m.d.sync += [
            valid3.eq(valid2), wavefront3.eq(wavefront2), number3.eq(number2),
            early3.eq(ahead2 & ~scoreboard.follows),
            control3.eq(decoder.control), mask3.eq(mask2),
            halves3.eq(Cat(mask2[:_HALF].any(), mask2[_HALF:].any())),
            next3.eq(pc2 + 1), pc3.eq(pc2), legal3.eq(decoder.legal),
            target3.eq(pc2 + decoder.displacement + is_branch),
        ]

        # Slot cycle 3: commit.
        commit = Signal(Commit)
        on_vector = (control3.flow == Flow.NEXT) | (control3.flow == Flow.BRANCH)
        with m.If(~legal3):
            m.d.comb += commit.eq(Commit.ILLEGAL)
        with m.Elif(control3.flow != Flow.NEXT):
            m.d.comb += commit.eq(Commit.FLOW)
        with m.Elif(access & ~self.memory_ready):
            m.d.comb += commit.eq(Commit.REFUSED)
        issued = Signal()
        writes_at_once = control3.flow == Flow.NEXT
        is_issued = valid3 & (commit != Commit.REFUSED) & legal3
        if config.float_ops:
            floats: Any = self.floats
            is_float3 = Signal()
            m.d.sync += [is_float3.eq(decoder.is_float), floats.operation.eq(word2[24:28])]
            with m.If(is_float3):
                m.d.comb += commit.eq(Mux(floats.clear, Commit.FLOAT, Commit.COLLIDES))
            m.d.comb += [
                floats.both_halves.eq(halves3.all()),
                floats.accept.eq(valid3 & is_float3 & floats.clear),
            ]
            is_issued &= commit != Commit.COLLIDES
            writes_at_once &= ~is_float3
        m.d.comb += [
            issued.eq(is_issued),
            divergence.request_valid.eq(valid3 & legal3 & (control3.flow != Flow.NEXT)),     # is never refused
            divergence.request.flow.eq(control3.flow),
            divergence.request.wavefront.eq(wavefront3),
            divergence.request.next.eq(next3),
            divergence.request.target.eq(target3),
            divergence.request.mask.eq(mask3),
            scoreboard.load.valid.eq(issued & access & (control3.memory != MemoryAccess.STORE)),
            scoreboard.load.wavefront.eq(wavefront3),
            scoreboard.load.rd.eq(control3.rd),
            scoreboard.done.eq(self.load_done),
            scoreboard.done_wavefront.eq(self.load_done_wavefront),
        ]
        with m.If(issued & access):
            m.d.comb += self.memory_reserve.eq(Mux(halves3.all(), PHASES, SLOT_CYCLES))

        # The phases.
        shift = Signal(WAVEFRONT_SIZE)
        with m.If(self.beat == SLOT_CYCLES - 1):
            m.d.sync += [second_half.eq(0), continues.eq(0)]
            with m.If(second_half):
                m.d.sync += [self.issue.phase.eq(self.issue.phase + 1), self.issue.first.eq(0), shift.eq(shift >> 8)]
            with m.Else():
                m.d.sync += [
                    second_half.eq(issued & on_vector & halves3.all()),
                    continues.eq(issued & writes_at_once),
                    self.issue.valid.eq(issued & on_vector),
                    self.issue.wavefront.eq(wavefront3),
                    self.issue.number.eq(number3),
                    self.issue.pc.eq(pc3),
                    self.issue.phase.eq(Mux(halves3[0], 0, SLOT_CYCLES)),
                    self.issue.first.eq(1),
                    shift.eq(Mux(halves3[0], mask3, mask3 >> _HALF)),
                    self.control.eq(control3),
                ]
        with m.Else():
            m.d.sync += [self.issue.phase.eq(self.issue.phase + 1), self.issue.first.eq(0), shift.eq(shift >> 8)]
        m.d.comb += [
            self.issue.lanes.eq(shift[:PE_COUNT]),
            self.issue.last.eq((self.beat == SLOT_CYCLES - 1) & ~second_half),
        ]

        self._connect_controllers(m, controllers, divergence, commit, valid3, wavefront3, selected)
        for slot, controller in enumerate(controllers):
            m.d.comb += [
                controller.loading.eq(scoreboard.loading[slot]),
                controller.check_granted.eq(checked[slot]),
                controller.checked.eq(check2 & (wavefront2 == slot)),
                controller.depends.eq(scoreboard.depends | ~decoder.legal),
            ]
        for slot in range(WAVEFRONTS):
            with m.If(self.start[slot]):
                m.d.sync += numbers[slot].eq(self.start_number)
        self._fetch(m, controllers)
        self._report_faults(m, controllers)
        if config.statistics:
            self._probe(m, controllers, issued, mask3)
        return m

    def _connect_controllers(self, m: Module, controllers: list[Any], divergence: DivergenceUnit,
                             commit: Any, valid3: Any, wavefront3: Any, selected: Any) -> None:
        for slot, controller in enumerate(controllers):
            m.d.comb += [
                controller.slot_end.eq(self.beat == SLOT_CYCLES - 1),
                controller.start.eq(self.start[slot]),
                controller.entry.eq(self.kernel.entry),
                controller.cancel.eq(self.cancel),
                controller.selected.eq(selected[slot]),
                controller.commit.eq(commit),
                controller.committed.eq(valid3 & (wavefront3 == slot)),
                controller.outcome.eq(divergence.outcome),
                controller.outcome_mine.eq(divergence.outcome.wavefront == slot),
                controller.load_done.eq(self.load_done & (self.load_done_wavefront == slot)),
                controller.memory_ready.eq(self.memory_ready),
                controller.fetch_done.eq(self.fetched.valid & (self.fetched.wavefront == slot)),
                self.free[slot].eq(controller.free),
            ]
            if self._config.float_ops:
                m.d.comb += controller.float_slots.eq(self.floats.slots)

    def _fetch(self, m: Module, controllers: list[Any]) -> None:
        """Forward one wavefront's wish for instructions at a time, in turn."""
        request: Any = self.fetch
        m.submodules.fetch_turn = turn = RoundRobin(WAVEFRONTS)
        free = ~request.valid | request.ready
        m.d.comb += [
            turn.requests.eq(Cat(controller.fetch for controller in controllers)),
            turn.accept.eq(free),
        ]
        with m.If(free):
            m.d.sync += [
                request.valid.eq(turn.valid),
                request.payload.wavefront.eq(turn.choice),
                request.payload.pair.eq(
                    only([controller.pc[1:self._config.pc_bits] for controller in controllers], turn.chosen)
                    + (Cat(controller.ahead for controller in controllers) & turn.chosen).any()),
            ]
        for slot, controller in enumerate(controllers):
            m.d.comb += controller.fetch_granted.eq(free & turn.chosen[slot])

    def _report_faults(self, m: Module, controllers: list[Any]) -> None:
        """The first fault counts; of several in one cycle that of the lowest slot."""
        m.d.sync += self.fault.eq(0)
        for slot, controller in reversed(list(enumerate(controllers))):
            with m.If(controller.fault_cause != FaultCause.NONE):
                m.d.sync += [
                    self.fault.valid.eq(1), self.fault.cause.eq(controller.fault_cause),
                    self.fault.wavefront.eq(slot), self.fault.pc.eq(controller.fault_pc),
                ]

    def _probe(self, m: Module, controllers: list[Any], issued: Any, mask: Any) -> None:
        probe: Any = self.probe
        states = [controller.state for controller in controllers]
        for slot, controller in enumerate(controllers):
            m.d.comb += [probe.states[slot].eq(states[slot]), probe.pcs[slot].eq(controller.pc)]

        def any_is(state: WavefrontState) -> Any:
            return Cat(each == state for each in states).any()

        with m.If(self.issue.valid):
            m.d.comb += probe.bucket.eq(Bucket.ISSUE)
        with m.Elif(any_is(WavefrontState.MEMORY_READ)):
            m.d.comb += probe.bucket.eq(Bucket.MEMORY_READ)
        with m.Elif(any_is(WavefrontState.WRITE_PRESSURE)):
            m.d.comb += probe.bucket.eq(Bucket.WRITE_PRESSURE)
        with m.Elif(any_is(WavefrontState.BRANCH)):
            m.d.comb += probe.bucket.eq(Bucket.BRANCH)
        with m.Elif(any_is(WavefrontState.FETCH)):
            m.d.comb += probe.bucket.eq(Bucket.FETCH)
        with m.Elif(any_is(WavefrontState.EXECUTE) | any_is(WavefrontState.READY)):
            m.d.comb += probe.bucket.eq(Bucket.EXECUTE)
        m.d.comb += [probe.issue.eq(issued), probe.lanes.eq(sum(mask[item] for item in range(WAVEFRONT_SIZE)))]
