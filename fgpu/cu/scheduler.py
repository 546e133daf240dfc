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
from fgpu.interfaces.work_groups import KernelInfo, ResidentGroups
from fgpu.isa import INSTRUCTION_BITS
from fgpu.probe import Bucket, ComputeUnitProbe, WavefrontState

from .barrier import Barrier
from .control_word import ControlWord, Flow, Issue, MemoryAccess
from .decoder import Decoder
from .divergence import DivergenceUnit, MaskWrite, divergence_unit, meets, stops_behind
from .float.operations import FloatOp, lanes_of
from .float_results import FloatCommit
from .log import UnitLog
from .narrow_queue import NarrowCommit
from .pipeline import BEAT_BITS, SLOT_CYCLES
from .scoreboard import Scoreboard
from .turn import WavefrontTurn
from .vector import BranchLanes
from .wavefront import Commit, WavefrontController

__all__ = ["WavefrontScheduler"]

_HALF = WAVEFRONT_SIZE // 2


class _Chosen:
    """Registers behind slot cycle 0: the wavefront whose instruction is read, to be issued if ``valid``, to be looked
    at if ``check``, namely the one after that just issued if ``ahead``."""

    def __init__(self) -> None:
        self.valid, self.check = (Signal() for _ in range(2))
        self.ahead = Signal(name="ahead1")
        self.joins = Signal(name="joins1")
        self.bits = Signal(WAVEFRONTS)          # one is set, for the wavefront
        self.wavefront, self.pc = Signal(range(WAVEFRONTS)), Signal(FAULT_PC_BITS, name="pc1")


class _Instruction:
    """Registers behind slot cycle 1: the instruction and the state of its wavefront. It is to be looked at for the
    wavefront whose bit is set in ``checks``. If it ``joins``, two paths of the wavefront are to meet first."""

    def __init__(self) -> None:
        self.valid, self.checks = Signal(), Signal(WAVEFRONTS)
        self.ahead = Signal(name="ahead2")
        self.joins = Signal(name="joins2")
        self.wavefront, self.pc = Signal(range(WAVEFRONTS)), Signal(FAULT_PC_BITS, name="pc2")
        self.word, self.mask = (Signal(width) for width in (INSTRUCTION_BITS, WAVEFRONT_SIZE))
        self.number = Signal(WAVEFRONT_BITS, name="number2")


class _Decoded:
    """Registers behind slot cycle 2. ``commits`` has the bit of the wavefront if ``valid``; ``halves``: those with
    enabled work-items; ``early`` has its bit if it was looked at ahead and does not need the result of the
    instruction before it. What follows from the control word and decides whether it is issued is known already."""

    def __init__(self) -> None:
        self.valid, self.commits, self.early = Signal(), Signal(WAVEFRONTS), Signal(WAVEFRONTS)
        self.legal = Signal(name="legal3")
        self.wavefront = Signal(range(WAVEFRONTS), name="wavefront3")
        self.number = Signal(WAVEFRONT_BITS, name="number3")
        self.control: Any = Signal(ControlWord, name="control3")
        self.mask = Signal(WAVEFRONT_SIZE, name="mask3")
        self.halves = Signal(2, name="halves3")
        self.next, self.target = (Signal(FAULT_PC_BITS) for _ in range(2))
        self.pc = Signal(FAULT_PC_BITS, name="pc3")
        self.access, self.flows = Signal(name="access3"), Signal(name="flows3")
        self.local = Signal(name="local3")
        self.room = Signal(name="room3")


class _AtVector:
    """What the scheduler knows of the instruction at the vector: it is in its ``second_half``; its wavefront, whose
    bit is set, ``continues`` without waiting for anybody but the vector."""

    def __init__(self) -> None:
        self.continues, self.second_half = Signal(WAVEFRONTS), Signal(name="second_half")


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
            "groups": In(ResidentGroups),
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
        if config.local_memory:
            members |= {"is_local": Out(1), "local_ready": In(1), "local_reserve": Out(range(PHASES + 1)),
                        "load_done_local": In(1)}
        if config.float_ops:
            members |= {"floats": Out(FloatCommit()), "float_available": In(1 << FloatOp.as_shape().width)}
        if config.narrow_floats:
            members["narrow_floats"] = Out(NarrowCommit())
        if config.statistics:
            members |= {"probe": Out(ComputeUnitProbe), "log": Out(UnitLog)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.d.sync += self.beat.eq(self.beat + 1)
        controllers = [
            add_shared(m, f"controller{number}", platform, "wavefront", lambda: WavefrontController(config))
            for number in range(WAVEFRONTS)]
        m.submodules.divergence = divergence = divergence_unit(config)
        m.d.comb += [divergence.branch.eq(self.branch), divergence.start.eq(self.start)]
        if divergence.meets:
            for number, controller in enumerate(controllers):
                m.d.comb += [
                    controller.waits.eq(divergence.waits[number]), controller.top.eq(divergence.tops[number])]

        chosen, instruction, decoded, at_vector = _Chosen(), _Instruction(), _Decoded(), _AtVector()
        masks, pairs = self._add_memories(m, divergence)
        numbers = Array(Signal(WAVEFRONT_BITS, name=f"number{number}") for number in range(WAVEFRONTS))
        selected, checked = self._pick(m, controllers, chosen, decoded, at_vector)
        self._read(m, chosen, instruction, masks, pairs, numbers)
        decoder, scoreboard = self._decode(m, chosen, instruction, decoded)
        commit, issued, writes_at_once = self._commit(m, decoder, instruction, decoded, controllers)
        self._tell(m, decoded, issued, divergence, scoreboard)
        self._issue_phases(m, decoded, issued, writes_at_once, at_vector)

        self._connect_controllers(m, controllers, divergence, commit, decoded, selected)
        for number, controller in enumerate(controllers):
            m.d.comb += [
                controller.loading.eq(scoreboard.loading[number]),
                controller.check_granted.eq(checked[number]),
                controller.checked.eq(instruction.checks[number]),
                controller.depends.eq(scoreboard.depends | ~decoder.legal),
            ]
        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                m.d.sync += numbers[number].eq(self.start_number)
        self._fetch(m, controllers)
        self._report_faults(m, controllers)
        if config.statistics:
            self._probe(m, controllers, issued, decoded)
            self._log(m, decoded, issued, commit, divergence)
        return m

    def _add_memories(self, m: Module, divergence: DivergenceUnit) -> tuple[Any, Any]:
        """Enabled work-items and instruction pairs of the wavefronts; their read ports."""
        m.submodules.masks = masks = Memory(shape=unsigned(WAVEFRONT_SIZE), depth=WAVEFRONTS, init=[])
        mask_write, mask_read = masks.write_port(), masks.read_port(domain="comb")
        mask: Any = Mux(divergence.mask_write.valid, divergence.mask_write.as_value(), self.start_mask.as_value())
        chosen_mask = data.View(MaskWrite, mask)
        m.d.comb += [
            self.start_mask_ready.eq(~divergence.mask_write.valid),
            mask_write.addr.eq(chosen_mask.wavefront), mask_write.data.eq(chosen_mask.mask),
            mask_write.en.eq(chosen_mask.valid),
        ]
        fetched: Any = self.fetched
        m.submodules.pairs = pairs = Memory(shape=unsigned(64), depth=WAVEFRONTS, init=[])
        pair_write, pair_read = pairs.write_port(), pairs.read_port(domain="comb")
        m.d.comb += [
            pair_write.addr.eq(fetched.wavefront), pair_write.data.eq(fetched.pair), pair_write.en.eq(fetched.valid),
        ]
        return mask_read, pair_read

    def _pick(self, m: Module, controllers: list[Any], chosen: _Chosen, decoded: _Decoded,
              at_vector: _AtVector) -> tuple[Signal, Signal]:
        """Slot cycle 0: pick a ready wavefront. Cycle 1: look at the instruction that follows the one just issued. Or
        then and in the others: one of a wavefront that loads, which may not need what it loads.

        Returns the wavefronts ``selected`` to issue, a cycle later, and ``checked``; one bit of both is set, or none.
        """
        early, look_ahead = Signal(WAVEFRONTS), Signal(WAVEFRONTS)
        picks = Signal(init=1)      # in slot cycle 0
        looks = Signal()            # in slot cycle 1
        m.d.sync += [picks.eq(self.beat == SLOT_CYCLES - 1), looks.eq(picks)]
        present = Cat(controller.present for controller in controllers)
        m.d.comb += look_ahead.eq(at_vector.continues & present & looks.replicate(WAVEFRONTS))
        m.submodules.turn = turn = WavefrontTurn()
        able = Cat(controller.able for controller in controllers)
        picks_now = picks & ~at_vector.second_half & ~self.cancel
        pick, check = Signal(), Signal()
        selected, checked = Signal(WAVEFRONTS), Signal(WAVEFRONTS)
        checks = Cat(controller.check for controller in controllers)
        m.d.comb += [
            turn.ready.eq(Cat(controller.ready for controller in controllers)),
            turn.free.eq(Cat(controller.free for controller in controllers)),
            early.eq(decoded.early & able),
            pick.eq(picks_now & (turn.valid | early.any())),
            check.eq(look_ahead.any() | (~picks & checks.any())),
            turn.accept.eq(pick),
        ]
        with m.If(picks_now):
            m.d.comb += selected.eq(Mux(turn.valid & ~(early.any() & decoded.access), turn.choice, early))
        with m.If(look_ahead.any()):
            m.d.comb += checked.eq(look_ahead)
        with m.Elif(~picks):
            m.d.comb += checked.eq(lowest(checks))
        told = Signal(WAVEFRONTS, name="selected")
        m.d.sync += [
            chosen.valid.eq(pick), chosen.check.eq(check), chosen.ahead.eq(look_ahead.any()),
            chosen.bits.eq(selected | checked), told.eq(selected),
        ]
        m.d.comb += chosen.wavefront.eq(number_of(chosen.bits))
        # Nothing changes the address of a wavefront that was picked before it is committed.
        m.d.comb += chosen.pc.eq(choose([controller.pc for controller in controllers], chosen.wavefront))
        if meets(self._config):
            m.d.comb += chosen.joins.eq(choose([controller.joins for controller in controllers], chosen.wavefront))
        return told, checked

    @staticmethod
    def _read(m: Module, chosen: _Chosen, instruction: _Instruction, masks: Any, pairs: Any,
              numbers: Any) -> None:
        """Slot cycle 1."""
        m.d.comb += [pairs.addr.eq(chosen.wavefront), masks.addr.eq(chosen.wavefront)]
        m.d.sync += [
            instruction.valid.eq(chosen.valid), instruction.checks.eq(chosen.check << chosen.wavefront),
            instruction.ahead.eq(chosen.ahead),
            instruction.wavefront.eq(chosen.wavefront), instruction.pc.eq(chosen.pc),
            instruction.word.eq(Mux(chosen.pc[0], pairs.data[32:], pairs.data[:32])),
            instruction.mask.eq(masks.data), instruction.number.eq(numbers[chosen.wavefront]),
        ]

    def _decode(self, m: Module, chosen: _Chosen, instruction: _Instruction,
                decoded: _Decoded) -> tuple[Decoder, Scoreboard]:
        """Slot cycle 2; what the wavefront waits for is looked up in cycle 1, when no load of it can be issued."""
        m.submodules.decoder = decoder = Decoder(self._config)
        m.d.comb += decoder.word.eq(instruction.word)
        if self._config.float_ops:
            m.d.comb += decoder.float_available.eq(self.float_available)
        m.submodules.scoreboard = scoreboard = Scoreboard(local=bool(self._config.local_memory))
        if self._config.local_memory:
            m.d.sync += decoded.local.eq(decoder.is_local)
        # That of a cycle ago: room that others take is known by then.
        m.d.sync += decoded.room.eq(self._room(decoder.is_local if self._config.local_memory else None))
        m.d.comb += [
            scoreboard.wavefront.eq(chosen.wavefront),
            scoreboard.control.eq(decoder.control),
            scoreboard.reads_rs.eq(decoder.reads_rs),
            scoreboard.reads_rt.eq(decoder.reads_rt),
            scoreboard.last.write.eq(self.control.write),
            scoreboard.last.rd.eq(self.control.rd),
        ]
        is_branch = decoder.control.flow == Flow.BRANCH
        mask, pc = instruction.mask, instruction.pc
        m.d.sync += [
            decoded.valid.eq(instruction.valid), decoded.wavefront.eq(instruction.wavefront),
            decoded.commits.eq(instruction.valid << instruction.wavefront),
            decoded.number.eq(instruction.number),
            decoded.early.eq((instruction.ahead & ~scoreboard.follows) << instruction.wavefront),
            decoded.access.eq(decoder.control.memory != MemoryAccess.NONE),
            decoded.flows.eq(decoder.control.flow != Flow.NEXT),
            decoded.control.eq(decoder.control), decoded.mask.eq(mask),
            decoded.halves.eq(Cat(mask[:_HALF].any(), mask[_HALF:].any())),
            decoded.next.eq(pc + 1), decoded.pc.eq(pc), decoded.legal.eq(decoder.legal),
            decoded.target.eq(pc + decoder.displacement + is_branch),
        ]
        if meets(self._config):
            m.d.sync += instruction.joins.eq(chosen.joins)
            with m.If(instruction.joins):
                m.d.sync += [
                    decoded.control.eq(0), decoded.control.flow.eq(Flow.JOIN), decoded.legal.eq(1),
                    decoded.flows.eq(1), decoded.access.eq(0), decoded.next.eq(pc),
                ]
        return decoder, scoreboard

    def _commit(self, m: Module, decoder: Decoder, instruction: _Instruction, decoded: _Decoded,
                controllers: list[Any]) -> tuple[Any, Signal, Any]:
        """Slot cycle 3: what becomes of the instruction, whether it is issued, and whether the vector writes its
        result."""
        commit = Signal(Commit)
        with m.If(~decoded.legal):
            m.d.comb += commit.eq(Commit.ILLEGAL)
        with m.Elif(decoded.flows):
            m.d.comb += commit.eq(Commit.FLOW)
        with m.Elif(decoded.access & ~decoded.room):
            m.d.comb += commit.eq(Commit.REFUSED)
        issued = Signal()
        writes_at_once = ~decoded.flows
        is_issued = decoded.valid & (commit != Commit.REFUSED) & decoded.legal
        if self._config.float_ops:
            floats: Any = self.floats
            is_float3 = Signal()
            is_float = decoder.is_float & ~instruction.joins if meets(self._config) else decoder.is_float
            m.d.sync += [is_float3.eq(is_float), floats.operation.eq(instruction.word[24:28])]
            with m.If(is_float3):
                m.d.comb += commit.eq(Mux(floats.clear, Commit.FLOAT, Commit.COLLIDES))
            m.d.comb += [
                floats.both_halves.eq(decoded.halves.all()),
                floats.accept.eq(decoded.valid & is_float3 & floats.clear),
            ]
            is_issued &= commit != Commit.COLLIDES
            if self._config.narrow_floats:
                self._commit_narrow(m, decoder, instruction, decoded, commit, controllers)
            writes_at_once &= ~is_float3
        m.d.comb += issued.eq(is_issued)
        return commit, issued, writes_at_once

    def _commit_narrow(self, m: Module, decoder: Decoder, instruction: _Instruction, decoded: _Decoded,
                       commit: Any, controllers: list[Any]) -> None:
        """The same for an operation that fewer than all lanes have."""
        narrow: Any = self.narrow_floats
        is_narrow2, is_narrow3 = Signal(), Signal()
        m.d.comb += is_narrow2.eq(
            decoder.is_float & Cat(instruction.word[24:28] == op for op in lanes_of(self._config)).any())
        m.d.sync += is_narrow3.eq(is_narrow2)
        m.d.comb += [
            narrow.operation.eq(self.floats.operation), narrow.halves.eq(decoded.halves),
            narrow.wavefront.eq(decoded.wavefront), narrow.accept.eq(decoded.valid & is_narrow3 & narrow.room),
        ]
        with m.If(is_narrow3):
            m.d.comb += [commit.eq(Mux(narrow.room, Commit.FLOAT, Commit.REFUSED)), self.floats.accept.eq(0)]
        for number, controller in enumerate(controllers):
            m.d.comb += [
                controller.narrow.eq(is_narrow3), controller.narrow_room.eq(narrow.room),
                controller.narrow_done.eq(narrow.done & (narrow.done_wavefront == number)),
            ]

    def _tell(self, m: Module, decoded: _Decoded, issued: Signal, divergence: DivergenceUnit,
              scoreboard: Scoreboard) -> None:
        """Slot cycle 3: those who follow an instruction from its issue on."""
        control = decoded.control
        m.d.comb += [
            divergence.request_valid.eq(        # is never refused
                decoded.valid & decoded.legal & decoded.flows),
            divergence.request.flow.eq(control.flow),
            divergence.request.wavefront.eq(decoded.wavefront),
            divergence.request.next.eq(decoded.next),
            divergence.request.target.eq(decoded.target),
            divergence.request.mask.eq(decoded.mask),
            scoreboard.done.eq(self.load_done),
            scoreboard.done_wavefront.eq(self.load_done_wavefront),
        ]
        # A cycle later, before anybody is picked who would have to know.
        m.d.sync += [
            scoreboard.load.valid.eq(issued & decoded.access & (control.memory != MemoryAccess.STORE)),
            scoreboard.load.wavefront.eq(decoded.wavefront),
            scoreboard.load.rd.eq(control.rd),
        ]
        phases = Mux(decoded.halves.all(), PHASES, SLOT_CYCLES)
        m.d.sync += self.memory_reserve.eq(Mux(issued & decoded.access & ~decoded.local, phases, 0))
        if self._config.local_memory:
            m.d.sync += [self.local_reserve.eq(Mux(issued & decoded.access & decoded.local, phases, 0)),
                         scoreboard.load_local.eq(decoded.local)]
            m.d.comb += scoreboard.done_local.eq(self.load_done_local)

    def _room(self, local: Any) -> Any:
        """Whether an access finds room, which may be ``local``."""
        return Mux(local, self.local_ready, self.memory_ready) if self._config.local_memory else self.memory_ready

    def _room_for(self, m: Module, number: int, committed: Any, local3: Any) -> Any:
        """The same for what a wavefront was last refused."""
        waits_for_local = Signal(name=f"waits_for_local{number}")
        if self._config.local_memory:
            with m.If(committed):
                m.d.sync += waits_for_local.eq(local3)
        return self._room(waits_for_local)

    def _issue_phases(self, m: Module, decoded: _Decoded, issued: Signal, writes_at_once: Any,
                      at_vector: _AtVector) -> None:
        """The vector gets a phase a cycle, for one slot or two."""
        control = decoded.control
        on_vector = ~decoded.flows | (control.flow == Flow.BRANCH)
        shift = Signal(WAVEFRONT_SIZE)
        next_phase = [
            self.issue.phase.eq(self.issue.phase + 1), self.issue.first.eq(0), shift.eq(shift >> PE_COUNT),
        ]
        with m.If(self.beat == SLOT_CYCLES - 1):
            m.d.sync += [at_vector.second_half.eq(0), at_vector.continues.eq(0)]
            with m.If(at_vector.second_half):
                m.d.sync += next_phase
            with m.Else():
                m.d.sync += [
                    at_vector.second_half.eq(issued & on_vector & decoded.halves.all()),
                    at_vector.continues.eq(decoded.commits & (issued & writes_at_once).replicate(WAVEFRONTS)),
                    self.issue.valid.eq(issued & on_vector),
                    self.issue.wavefront.eq(decoded.wavefront),
                    self.issue.number.eq(decoded.number),
                    self.issue.pc.eq(decoded.pc),
                    self.issue.phase.eq(Mux(decoded.halves[0], 0, SLOT_CYCLES)),
                    self.issue.first.eq(1),
                    shift.eq(Mux(decoded.halves[0], decoded.mask, decoded.mask >> _HALF)),
                    self.control.eq(control),
                ]
                if self._config.local_memory:
                    m.d.sync += self.is_local.eq(decoded.local)
        with m.Else():
            m.d.sync += next_phase
        m.d.comb += [
            self.issue.lanes.eq(shift[:PE_COUNT]),
            self.issue.last.eq((self.beat == SLOT_CYCLES - 1) & ~at_vector.second_half),
        ]

    def _connect_controllers(self, m: Module, controllers: list[Any], divergence: DivergenceUnit,
                             commit: Any, decoded: _Decoded, selected: Any) -> None:
        commits = decoded.commits
        m.submodules.barrier = barrier = Barrier()
        m.d.comb += [
            barrier.groups.eq(self.groups),
            barrier.arrived.eq(Cat(controller.arrived for controller in controllers)),
        ]
        for number, controller in enumerate(controllers):
            m.d.comb += [
                controller.slot_end.eq(self.beat == SLOT_CYCLES - 1),
                controller.start.eq(self.start[number]),
                controller.entry.eq(self.kernel.entry),
                controller.cancel.eq(self.cancel),
                controller.selected.eq(selected[number]),
                controller.commit.eq(commit),
                controller.committed.eq(commits[number]),
                controller.next.eq(decoded.next),
                controller.outcome.eq(divergence.outcome),
                controller.outcome_mine.eq(divergence.outcome.wavefront == number),
                controller.load_done.eq(self.load_done & (self.load_done_wavefront == number)),
                controller.memory_ready.eq(self._room_for(m, number, commits[number], decoded.local)),
                controller.fetch_done.eq(self.fetched.valid & (self.fetched.wavefront == number)),
                controller.release.eq(barrier.release[number]),
                self.free[number].eq(controller.free),
            ]
            if self._config.float_ops:
                m.d.comb += controller.float_slots.eq(self.floats.slots)

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

    def _probe(self, m: Module, controllers: list[Any], issued: Any, decoded: _Decoded) -> None:
        probe: Any = self.probe
        states = [controller.state for controller in controllers]
        for number, controller in enumerate(controllers):
            m.d.comb += [probe.states[number].eq(states[number]), probe.pcs[number].eq(controller.pc)]

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
        with m.Elif(any_is(WavefrontState.BARRIER)):
            m.d.comb += probe.bucket.eq(Bucket.BARRIER)
        m.d.comb += [
            probe.issue.eq(issued & (decoded.control.flow != Flow.JOIN) if stops_behind(self._config) else issued),
            probe.issued_pc.eq(decoded.pc),
            probe.issued_wavefront.eq(decoded.wavefront), probe.executed_pc.eq(self.issue.pc),
            probe.lanes.eq(sum(decoded.mask[item] for item in range(WAVEFRONT_SIZE))),
        ]

    def _log(self, m: Module, decoded: _Decoded, issued: Any, commit: Any, divergence: DivergenceUnit) -> None:
        log: Any = self.log
        control, outcome, write = decoded.control, divergence.outcome, divergence.mask_write
        m.d.comb += [
            log.enabled.eq(decoded.mask),
            log.refused.eq(decoded.valid & (commit == Commit.REFUSED)),
            log.collides.eq(decoded.valid & (commit == Commit.COLLIDES)),
            log.flow.eq(divergence.request_valid),
            log.load.eq(issued & decoded.access & (control.memory != MemoryAccess.STORE)),
            log.load_local.eq(decoded.local),
            log.load_done.eq(self.load_done),
            log.load_done_wavefront.eq(self.load_done_wavefront),
            log.outcome.eq(outcome.valid),
            log.outcome_kind.eq(outcome.kind),
            log.outcome_wavefront.eq(outcome.wavefront),
            log.changes.eq(write.valid),
            log.goes_on.eq(write.mask),
            log.valid.eq(self.probe.issue | log.refused | log.collides | log.flow | log.load_done | log.outcome),
        ]
        if self._config.local_memory:
            m.d.comb += log.load_done_local.eq(self.load_done_local)
