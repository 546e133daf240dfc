"""Reads, decodes and issues the instruction of a selected wavefront: the second half of the scheduler."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, PHASES, WAVEFRONT_BITS, WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS
from fgpu.gateware.choose import choose
from fgpu.interfaces.fetch import Fetched
from fgpu.isa import INSTRUCTION_BITS

from .control_word import ControlWord, Flow, Issue, MemoryAccess
from .decoder import Decoder
from .divergence import FlowRequest, MaskWrite, meets
from .float.operations import FloatOp, lanes_of
from .float_results import FloatCommit
from .narrow_queue import NarrowCommit
from .pipeline import BEAT_BITS, SLOT_CYCLES
from .scoreboard import Scoreboard
from .slot import AtVector, Checked, Committed, Early, Room, Selected, Watched
from .wavefront import Commit

__all__ = ["InstructionIssuer"]

_HALF = WAVEFRONT_SIZE // 2


class _Instruction:
    """Registers behind slot cycle 1: the instruction and the state of its wavefront. It is to be looked at for the
    wavefront whose bit is set in ``checks``. If it ``joins``, two paths of the wavefront are to meet first."""

    def __init__(self) -> None:
        self.valid, self.checks = Signal(name="valid2"), Signal(WAVEFRONTS)
        self.ahead = Signal(name="ahead2")
        self.joins = Signal(name="joins2")
        self.wavefront = Signal(range(WAVEFRONTS), name="wavefront2")
        self.pc = Signal(FAULT_PC_BITS, name="pc2")
        self.word, self.mask = Signal(INSTRUCTION_BITS), Signal(WAVEFRONT_SIZE, name="mask2")
        self.number = Signal(WAVEFRONT_BITS, name="number2")
        self.may_load = Signal(name="may_load2")


class _Decoded:
    """Registers behind slot cycle 2. ``commits`` has the bit of the wavefront if ``valid``; ``halves``: those with
    enabled work-items; ``early`` has its bit if it was looked at ahead and does not need the result of the
    instruction before it. What follows from the control word and decides whether it is issued is known already."""

    def __init__(self) -> None:
        self.valid = Signal(name="valid3")
        self.commits, self.early = Signal(WAVEFRONTS), Signal(WAVEFRONTS, name="early3")
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
        self.loads = Signal(name="loads3")


class InstructionIssuer(wiring.Component):
    """Takes the instruction of the ``selected`` wavefront to the vector in the rest of its slot: reads it with the
    enabled work-items, decodes it, tells what becomes of it (``committed``), and gives the vector a phase a cycle in
    the slots that follow (``issue``, with ``control``).

    An instruction occupies the vector for two slots, or for one if all its enabled work-items are in one half of the
    wavefront. Control instructions are a ``request`` to the divergence unit, and branches come to the vector, too.
    One that finds no ``room`` in memory, a load of a wavefront that may not load now, or one whose result would leave
    the floating-point units together with another,
    is not issued. One that is only to be looked at is ``checked`` against the loads under way of its wavefront, which
    is then ``loading``.

    ``mask_write`` and ``start_number`` (of those that ``start``) are kept for each wavefront, and what is ``fetched``
    for it; ``may_load`` has a bit for each. ``memory_reserve``: phases for which the memory controller has to have
    room, told a cycle after the issue.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "beat": In(BEAT_BITS),
            "start": In(WAVEFRONTS),
            "start_number": In(WAVEFRONT_BITS),
            "mask_write": In(MaskWrite),
            "fetched": In(Fetched),
            "selected": In(Selected),
            "checked": Out(Checked),
            "early": Out(Early),
            "committed": Out(Committed),
            "at_vector": Out(AtVector),
            "loading": Out(WAVEFRONTS),
            "load_done": In(1),
            "load_done_wavefront": In(WAVEFRONT_BITS),
            "room": In(Room),
            "memory_reserve": Out(range(PHASES + 1)),
            "request": Out(FlowRequest),
            "request_valid": Out(1),
            "issue": Out(Issue),
            "control": Out(ControlWord),
        }
        if config.cache_conscious:
            members["may_load"] = In(WAVEFRONTS)
        if config.local_memory:
            members |= {"is_local": Out(1), "local_reserve": Out(range(PHASES + 1)), "load_done_local": In(1)}
        if config.float_ops:
            members |= {"floats": Out(FloatCommit()), "float_available": In(1 << FloatOp.as_shape().width)}
        if config.narrow_floats:
            members["narrow_floats"] = Out(NarrowCommit())
        if config.statistics:
            members["watched"] = Out(Watched)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        instruction, decoded = _Instruction(), _Decoded()
        self._read(m, instruction)
        decoder, scoreboard = self._decode(m, instruction, decoded)
        commit, issued, writes_at_once = self._commit(m, decoder, instruction, decoded)
        self._tell(m, decoded, commit, issued, scoreboard)
        self._issue_phases(m, decoded, issued, writes_at_once)
        return m

    def _read(self, m: Module, instruction: _Instruction) -> None:
        """Slot cycle 1. Masks, pairs of instructions and numbers are kept by wavefront."""
        selected: Any = self.selected
        m.submodules.masks = masks = Memory(shape=unsigned(WAVEFRONT_SIZE), depth=WAVEFRONTS, init=[])
        mask_write, mask_read = masks.write_port(), masks.read_port(domain="comb")
        m.submodules.pairs = pairs = Memory(shape=unsigned(64), depth=WAVEFRONTS, init=[])
        pair_write, pair_read = pairs.write_port(), pairs.read_port(domain="comb")
        # Nobody runs in the cycle after it got a mask.
        m.d.sync += [
            mask_write.addr.eq(self.mask_write.wavefront), mask_write.data.eq(self.mask_write.mask),
            mask_write.en.eq(self.mask_write.valid),
        ]
        m.d.comb += [
            pair_write.addr.eq(self.fetched.wavefront), pair_write.data.eq(self.fetched.pair),
            pair_write.en.eq(self.fetched.valid),
            pair_read.addr.eq(selected.wavefront), mask_read.addr.eq(selected.wavefront),
        ]
        numbers = Array(Signal(WAVEFRONT_BITS, name=f"number{number}") for number in range(WAVEFRONTS))
        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                m.d.sync += numbers[number].eq(self.start_number)
        m.d.sync += [
            instruction.valid.eq(selected.valid), instruction.checks.eq(selected.check << selected.wavefront),
            instruction.ahead.eq(selected.ahead),
            instruction.wavefront.eq(selected.wavefront), instruction.pc.eq(selected.pc),
            instruction.word.eq(Mux(selected.pc[0], pair_read.data[32:], pair_read.data[:32])),
            instruction.mask.eq(mask_read.data), instruction.number.eq(numbers[selected.wavefront]),
        ]
        if self._config.cache_conscious:
            m.d.sync += instruction.may_load.eq(choose(list(self.may_load), selected.wavefront))
        if meets(self._config):
            m.d.sync += instruction.joins.eq(selected.joins)

    def _decode(self, m: Module, instruction: _Instruction, decoded: _Decoded) -> tuple[Decoder, Scoreboard]:
        """Slot cycle 2; what the wavefront waits for is looked up in cycle 1, when no load of it can be issued."""
        m.submodules.decoder = decoder = Decoder(self._config)
        m.d.comb += decoder.word.eq(instruction.word)
        if self._config.float_ops:
            m.d.comb += decoder.float_available.eq(self.float_available)
        m.submodules.scoreboard = scoreboard = Scoreboard(local=bool(self._config.local_memory))
        # The room is that of a cycle ago: what others take is known by then.
        room = self.room.memory
        if self._config.local_memory:
            m.d.sync += decoded.local.eq(decoder.is_local)
            room = self.room.at(decoder.is_local)
        if self._config.cache_conscious:
            loads: Any = decoder.control.memory == MemoryAccess.LOAD
            if self._config.local_memory:
                loads = loads & ~decoder.is_local
            m.d.sync += decoded.loads.eq(loads)
            room = room & (instruction.may_load | ~loads)
        m.d.sync += decoded.room.eq(room)
        m.d.comb += [
            scoreboard.wavefront.eq(self.selected.wavefront),
            scoreboard.control.eq(decoder.control),
            # Which of the two is which does not matter here, and comes later.
            Cat(scoreboard.control.rs, scoreboard.control.rt).eq(Cat(decoder.fields)),
            scoreboard.reads_rs.eq(decoder.reads_rs),
            scoreboard.reads_rt.eq(decoder.reads_rt),
            scoreboard.last.write.eq(self.control.write),
            scoreboard.last.rd.eq(self.control.rd),
            self.checked.wavefronts.eq(instruction.checks),
            self.checked.depends.eq(scoreboard.depends | ~decoder.legal),
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
            with m.If(instruction.joins):
                m.d.sync += [
                    decoded.control.eq(0), decoded.control.flow.eq(Flow.JOIN), decoded.legal.eq(1),
                    decoded.flows.eq(1), decoded.access.eq(0), decoded.next.eq(pc),
                ]
        return decoder, scoreboard

    def _commit(self, m: Module, decoder: Decoder, instruction: _Instruction,
                decoded: _Decoded) -> tuple[Any, Signal, Any]:
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
                self._commit_narrow(m, is_float, instruction, decoded, commit)
            writes_at_once &= ~is_float3
        m.d.comb += issued.eq(is_issued)
        return commit, issued, writes_at_once

    def _commit_narrow(self, m: Module, is_float: Any, instruction: _Instruction, decoded: _Decoded,
                       commit: Any) -> None:
        """The same for an operation that fewer than all lanes have."""
        narrow: Any = self.narrow_floats
        is_narrow2, is_narrow3 = Signal(), Signal()
        m.d.comb += is_narrow2.eq(
            is_float & Cat(instruction.word[24:28] == op for op in lanes_of(self._config)).any())
        m.d.sync += is_narrow3.eq(is_narrow2)
        m.d.comb += [
            narrow.operation.eq(self.floats.operation), narrow.halves.eq(decoded.halves),
            narrow.wavefront.eq(decoded.wavefront), narrow.accept.eq(decoded.valid & is_narrow3 & narrow.room),
            self.committed.narrow.eq(is_narrow3),
        ]
        with m.If(is_narrow3):
            m.d.comb += [commit.eq(Mux(narrow.room, Commit.FLOAT, Commit.REFUSED)), self.floats.accept.eq(0)]

    def _tell(self, m: Module, decoded: _Decoded, commit: Any, issued: Signal, scoreboard: Scoreboard) -> None:
        """Slot cycle 3: those who follow an instruction from its issue on."""
        control = decoded.control
        is_load = issued & decoded.access & (control.memory != MemoryAccess.STORE)
        m.d.comb += [
            self.committed.wavefronts.eq(decoded.commits),
            self.committed.commit.eq(commit),
            self.committed.next.eq(decoded.next),
            self.committed.local.eq(decoded.local),
            self.committed.load.eq(decoded.loads),
            self.early.wavefronts.eq(decoded.early),
            self.early.access.eq(decoded.access),
            self.request_valid.eq(decoded.valid & decoded.legal & decoded.flows),   # is never refused
            self.request.flow.eq(control.flow),
            self.request.wavefront.eq(decoded.wavefront),
            self.request.next.eq(decoded.next),
            self.request.target.eq(decoded.target),
            self.request.mask.eq(decoded.mask),
            self.loading.eq(scoreboard.loading),
            scoreboard.done.eq(self.load_done),
            scoreboard.done_wavefront.eq(self.load_done_wavefront),
        ]
        # A cycle later, before anybody is picked who would have to know.
        m.d.sync += [
            scoreboard.load.valid.eq(is_load),
            scoreboard.load.wavefront.eq(decoded.wavefront),
            scoreboard.load.rd.eq(control.rd),
        ]
        phases = Mux(decoded.halves.all(), PHASES, SLOT_CYCLES)
        m.d.sync += self.memory_reserve.eq(Mux(issued & decoded.access & ~decoded.local, phases, 0))
        if self._config.local_memory:
            m.d.sync += [self.local_reserve.eq(Mux(issued & decoded.access & decoded.local, phases, 0)),
                         scoreboard.load_local.eq(decoded.local)]
            m.d.comb += scoreboard.done_local.eq(self.load_done_local)
        if self._config.statistics:
            watched: Any = self.watched
            m.d.comb += [
                watched.valid.eq(decoded.valid), watched.issued.eq(issued), watched.wavefront.eq(decoded.wavefront),
                watched.pc.eq(decoded.pc), watched.mask.eq(decoded.mask), watched.joins.eq(control.flow == Flow.JOIN),
                watched.load.eq(is_load),
            ]

    def _issue_phases(self, m: Module, decoded: _Decoded, issued: Signal, writes_at_once: Any) -> None:
        """The vector gets a phase a cycle, for one slot or two."""
        control = decoded.control
        second_half, continues = Signal(), Signal(WAVEFRONTS)
        on_vector = ~decoded.flows | (control.flow == Flow.BRANCH)
        shift = Signal(WAVEFRONT_SIZE)
        next_phase = [
            self.issue.phase.eq(self.issue.phase + 1), self.issue.first.eq(0), shift.eq(shift >> PE_COUNT),
        ]
        slot_ends = Signal()        # found a cycle before: it steers all that an instruction takes along
        m.d.sync += slot_ends.eq(self.beat == SLOT_CYCLES - 2)
        with m.If(slot_ends):
            m.d.sync += [second_half.eq(0), continues.eq(0)]
            with m.If(second_half):
                m.d.sync += next_phase
            with m.Else():
                m.d.sync += [
                    second_half.eq(issued & on_vector & decoded.halves.all()),
                    continues.eq(decoded.commits & (issued & writes_at_once).replicate(WAVEFRONTS)),
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
            self.issue.last.eq(slot_ends & ~second_half),
            self.at_vector.second_half.eq(second_half), self.at_vector.continues.eq(continues),
        ]
